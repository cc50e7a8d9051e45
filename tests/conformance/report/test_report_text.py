"""The report for people."""

from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import given, settings
from report_samples import (
    CLEAN_REPORT,
    FULL_REPORT,
    INTERVAL,
    RULES,
    UNREADABLE_REPORT,
    file_report,
    one_report,
    reports,
)
from rich.cells import cell_len

from ascend_conformance.finding import Finding, Report
from ascend_conformance.report import FORMATS, render_to_stdout
from ascend_conformance.report.text import render


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_terminal(report: Report, **environment: str) -> str:
    stream = Terminal()
    render_to_stdout("text", report, RULES, stream, environment)
    return stream.getvalue()


def rule_lines(*findings: Finding) -> list[str]:
    """What a report without cards says below the name of the only rule."""
    lines = FORMATS["text"](one_report(file_report(*findings)), {}).splitlines()
    start = lines.index("  DB401 interval-ends-before-start")
    return lines[start + 1 : lines.index("", start)]


def test_everything_known_about_a_file_is_told() -> None:
    assert FORMATS["text"](FULL_REPORT, RULES) == (
        """\
run/ascend_pytorch_profiler_1.db
  carrier   pytorch
  schema    version 1.0.0, revision 1.0.0-2025-01
  product   Ascend910B
  level     1 (from the rows)
  ranks     1
  devices   0, 1
  time      2025-01-09 08:00:00.123 UTC, 1.333 s
  rows      12,345 in 2 tables
  coverage  83 % (212 of 255 columns); missing MEMCPY_INFO, NIC
  readings  as real files have it: E8
  checked   93 rules at 1,204 places

  1 violation:
  DB401 interval-ends-before-start
    TASK.endNs: An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)
      - row=88 startNs=2000 endNs=1000
      - row=90 startNs=NULL
    expected: endNs >= startNs
    fix: Write endNs >= startNs.

  1 advice:
  DB420 swapped-types-and-shapes
    COMPUTE_TASK_INFO.inputShapes: Types and shapes are swapped: 7 of 7 rows \
(first: rowid 1) (erratum E23)
    expected: types in inputDataTypes

  1 note:
  DB006 written-by-a-viewer
    the file: A viewer has changed this file

  2 checks skipped:
  DB301, DB302: table NIC is absent

does not conform: 1 violation, 1 advice, 1 note; 2 checks skipped
"""
    )


def test_a_clean_file_conforms() -> None:
    last = FORMATS["text"](CLEAN_REPORT, RULES).splitlines()[-1]
    assert last == "conforms: no violation, no advice, no note"


def test_an_unreadable_file_says_why_and_leaves_the_case_open() -> None:
    assert FORMATS["text"](UNREADABLE_REPORT, RULES) == (
        """\
a.db
  cannot be judged: file is not a database

not judged: no violation, no advice, no note; 1 of 1 file could not be judged
"""
    )


def test_no_file_at_all_is_not_a_pass() -> None:
    assert FORMATS["text"](one_report(), RULES) == "not judged: no file\n"


def test_folded_places_are_wrapped_under_their_first() -> None:
    elsewhere = {f"TABLE_{number}.startNs": number for number in range(1, 7)}
    report = one_report(file_report(replace(INTERVAL, examples=(), elsewhere=elsewhere)))
    lines = "".join(render(report, {}, width=100)).splitlines()
    start = next(number for number, line in enumerate(lines) if "also at" in line)
    assert "\n".join(lines[start : start + 2]) == (
        """\
      also at: TABLE_1.startNs (1), TABLE_2.startNs (2), TABLE_3.startNs (3), TABLE_4.startNs (4),
               TABLE_5.startNs (5), TABLE_6.startNs (6)"""
    )


def test_what_is_expected_is_said_once_where_it_is_the_same() -> None:
    same = replace(INTERVAL, examples=(), table="CANN_API")
    other = replace(same, expected="endNs < 0")
    assert rule_lines(INTERVAL, same)[-1] == "    expected: endNs >= startNs"
    assert rule_lines(other, replace(same, table="TASK")) == [
        "    CANN_API.endNs: An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)",
        "      expected: endNs < 0",
        "    TASK.endNs: An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)",
        "      expected: endNs >= startNs",
    ]


def test_the_query_is_shown_on_one_line() -> None:
    report = one_report(file_report(replace(INTERVAL, sql="SELECT rowid\n  FROM TASK")))
    assert "      sql: SELECT rowid FROM TASK\n" in FORMATS["text"](report, {})


def test_a_terminal_gets_colour() -> None:
    assert "\x1b[1;31m1 violation:\x1b[0m" in on_terminal(FULL_REPORT, TERM="xterm")


def test_no_color_and_dumb_terminals_get_none() -> None:
    plain = FORMATS["text"](FULL_REPORT, RULES)
    assert on_terminal(FULL_REPORT, NO_COLOR="1", COLUMNS="1000") == plain
    assert on_terminal(FULL_REPORT, TERM="dumb", COLUMNS="1000") == plain


def test_an_empty_no_color_does_not_count() -> None:
    assert "\x1b[" in on_terminal(FULL_REPORT, NO_COLOR="")


def test_the_terminal_gives_the_width() -> None:
    lines = on_terminal(FULL_REPORT, NO_COLOR="1", COLUMNS="60").splitlines()
    assert max(map(len, lines)) <= 60


def test_a_narrow_terminal_does_not_break_the_layout() -> None:
    lines = on_terminal(FULL_REPORT, NO_COLOR="1", COLUMNS="1").splitlines()
    assert max(map(len, lines)) <= 40


def test_a_pipe_gets_whole_lines_and_no_colour() -> None:
    stream = io.StringIO()
    render_to_stdout("text", FULL_REPORT, RULES, stream, {"COLUMNS": "60", "TERM": "xterm"})
    assert stream.getvalue() == FORMATS["text"](FULL_REPORT, RULES)
    assert any(len(line) > 100 for line in stream.getvalue().splitlines())


def test_a_path_is_never_broken_in_a_pipe() -> None:
    path = f"run/{'deep/' * 40}ascend_pytorch_profiler_0.db"
    stream = io.StringIO()
    render_to_stdout("text", one_report(replace(file_report(), file=path)), RULES, stream, {})
    assert path in stream.getvalue().splitlines()


def test_colour_can_be_forced_and_no_color_wins() -> None:
    for environment, coloured in (
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": ""}, False),
    ):
        stream = io.StringIO()
        render_to_stdout("text", FULL_REPORT, RULES, stream, environment)
        assert ("\x1b[" in stream.getvalue()) == coloured


def test_a_stream_without_unicode_gets_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    report = one_report(file_report(replace(INTERVAL, table="\u6f22"), file="\xe9.db"))
    render_to_stdout("text", report, RULES, stream, {})
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert text.startswith("\\xe9.db\n")
    assert "\\u6f22.endNs: " in text


def test_markup_and_escapes_in_names_are_shown_as_they_are() -> None:
    table = "[red]\x1b[31m\u202e:smile:\n"
    report = one_report(file_report(replace(INTERVAL, table=table)))
    assert "    [red]\\x1b[31m\\u202e:smile:\\n.endNs: An interval" in on_terminal(
        report, NO_COLOR="1"
    )


def test_long_values_are_cut_at_eighty_characters() -> None:
    report = one_report(file_report(replace(INTERVAL, examples=({"name": "x" * 10_000},))))
    assert f'- name="{"x" * 77}..."\n' in FORMATS["text"](report, {})


@settings(max_examples=20, deadline=None)
@given(reports())
def test_no_report_can_drive_a_terminal(report: Report) -> None:
    text = FORMATS["text"](report, RULES)
    assert all(char.isprintable() for char in text.replace("\n", ""))


@settings(max_examples=30, deadline=None)
@given(reports())
def test_every_line_keeps_to_the_width(report: Report) -> None:
    text = "".join(render(report, RULES, width=60))
    assert max(cell_len(line) for line in text.splitlines()) <= 60


def test_string_ids_are_shown_with_their_texts() -> None:
    finding = replace(
        INTERVAL,
        examples=({"row": 88, "opType": 7}, {"row": 90, "opType": 8}),
        texts={"opType=7": 'Mat"Mul'},
    )
    lines = rule_lines(finding)
    assert '      - row=88 opType=7 ("Mat\\"Mul")' in lines
    assert "      - row=90 opType=8" in lines
