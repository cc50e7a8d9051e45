"""The report in short: what is wrong, how bad it is, and what to do."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from report_samples import (
    FULL_REPORT,
    INTERVAL,
    RULES,
    SEEN,
    SWAPPED,
    UNREADABLE_REPORT,
    VIEWER,
    file_report,
    one_report,
)

from ascend_conformance.finding import VERDICTS, Finding, Report
from ascend_conformance.media import load_rules
from ascend_conformance.report import FORMATS
from ascend_conformance.report.namesets import in_few_words
from ascend_conformance.report.owner import remedies, what_to_do
from ascend_conformance.report.summary import MOST_LINES

RANKS = 8


def of_ranks(*findings: Finding) -> Report:
    """Eight ranks with the same findings."""
    names = (f"run/rank_{rank}/ascend_pytorch_profiler_{rank}.db" for rank in range(RANKS))
    return one_report(
        *(
            file_report(*findings, file=name, seen=replace(SEEN, ranks=(rank,)))
            for rank, name in enumerate(names)
        )
    )


def test_what_is_wrong_comes_first_and_what_to_do_with_it() -> None:
    assert FORMATS["summary"](FULL_REPORT, RULES) == (
        """\
does not conform: 1 violation, 1 advice, 1 note; 2 checks skipped
  run/ascend_pytorch_profiler_1.db: pytorch, 1.0.0-2025-01, Ascend910B, level 1, rank 1, 12,345 rows

1 violation:
  DB401 interval-ends-before-start, in run/ascend_pytorch_profiler_1.db
    TASK.endNs: An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)
      - row=88 startNs=2000 endNs=1000
    expected: endNs >= startNs
    exporter: Write endNs >= startNs.
    you: report it to the author of the exporter; its figures are wrong here

1 advice:
  DB420 swapped-types-and-shapes, in run/ascend_pytorch_profiler_1.db: \
COMPUTE_TASK_INFO.inputShapes (7); harmless: exporters are known for it (erratum E23)

1 note:
  DB006 written-by-a-viewer, in run/ascend_pytorch_profiler_1.db: the file; \
harmless; viewers add it

-v lists every file, place and example; ascend-ref explain RULE says why.
"""
    )


def test_a_clean_run_of_eight_ranks_takes_two_lines() -> None:
    assert FORMATS["summary"](of_ranks(), RULES).splitlines() == [
        "conforms: no violation, no advice, no note",
        "  rank_{0-7}/ascend_pytorch_profiler_{0-7}.db: 8 files, pytorch, 1.0.0-2025-01, "
        "Ascend910B, level 1, ranks 0-7, 98,760 rows",
    ]


def test_a_fault_of_all_ranks_is_listed_once() -> None:
    lines = FORMATS["summary"](of_ranks(INTERVAL), RULES).splitlines()
    assert "8 violations:" in lines
    titles = [line for line in lines if "DB401" in line]
    assert titles == [
        "  DB401 interval-ends-before-start, in rank_{0-7}/ascend_pytorch_profiler_{0-7}.db"
    ]
    assert any(line.endswith("; and at 7 further places") for line in lines)
    assert any(line.endswith(", 8 not conforming") for line in lines)


def test_any_report_keeps_to_the_bound_of_lines() -> None:
    every = [
        replace(INTERVAL, rule=f"DB{number}", verdict=verdict, column=f"column{place}")
        for number in range(100, 150)
        for verdict in VERDICTS
        for place in range(3)
    ]
    lines = FORMATS["summary"](of_ranks(*every), RULES).splitlines()
    assert len(lines) <= MOST_LINES
    assert sum("further rules" in line for line in lines) == len(VERDICTS)


def test_what_follows_from_a_cause_is_folded_under_it() -> None:
    cause = replace(VIEWER, rule="DB999", verdict="violation", name="the-cause")
    report = one_report(file_report(cause, replace(INTERVAL, cause="DB999")))
    text = FORMATS["summary"](report, RULES)
    assert text.startswith(
        "does not conform: 1 violation, no advice, no note; 1 further finding of the same cause\n"
    )
    assert "    1 rule found this in other words: DB401\n" in text
    full = FORMATS["text"](report, RULES)
    assert full.index("DB999 the-cause") < full.index("DB401")
    assert "  DB401 interval-ends-before-start, follows from DB999\n" in full


def test_what_cannot_be_judged_is_named() -> None:
    assert FORMATS["summary"](UNREADABLE_REPORT, RULES).splitlines() == [
        "not judged: no violation, no advice, no note; 1 of 1 file could not be judged",
        "  a.db: cannot be judged: file is not a database",
    ]


def test_quiet_is_the_conclusion_alone() -> None:
    assert FORMATS["quiet"](FULL_REPORT, RULES) == (
        "does not conform: 1 violation, 1 advice, 1 note; 2 checks skipped\n"
    )


def test_statistics_count_places_rows_and_files_by_rule() -> None:
    found = of_ranks(INTERVAL, SWAPPED)
    assert FORMATS["statistics"](found, RULES).splitlines()[1:] == [
        "  violation DB401 interval-ends-before-start: 8 places, 16 rows, 8 files",
        "  advice    DB420 swapped-types-and-shapes: 8 places, 56 rows, 8 files",
    ]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a_0.db", "a_1.db", "a_2.db"], ["a_{0-2}.db"]),
        (["r0/p_0.db", "r1/p_1.db", "r3/p_3.db"], ["r{0-1,3}/p_{0-1,3}.db"]),
        (["host_40/p_0.db", "host_41/p_1.db"], ["host_{40-41}/p_{0-1}.db"]),
        (["r0/p_7.db", "r1/p_1.db"], ["r0/p_7.db", "r1/p_1.db"]),
        (["a.db", "b.db"], ["a.db", "b.db"]),
        (["x_007.csv", "x_010.csv"], ["x_{7,10}.csv"]),
        (["one_1.db"], ["one_1.db"]),
    ],
)
def test_names_that_differ_in_one_number_are_joined(names: list[str], expected: list[str]) -> None:
    assert in_few_words(names) == expected


def test_every_remedy_is_of_rules_that_exist_and_every_verdict_has_one() -> None:
    known = load_rules()
    for one in remedies():
        for pattern in one.rules:
            assert any(rule.startswith(pattern) for rule in known), pattern
    for verdict in VERDICTS:
        assert what_to_do(replace(INTERVAL, rule="X1", verdict=verdict))


def test_who_is_told_of_a_loss_is_sent_to_its_cause() -> None:
    doubtful = replace(INTERVAL, rule="REL620", verdict="advice", context={})
    assert what_to_do(doubtful).startswith("doubtful")
    lost = replace(doubtful, context={"lost": "memory"})
    assert what_to_do(lost).startswith("something is missing; see the likely cause (-v)")
    assert what_to_do(replace(lost, verdict="violation")).startswith("report it")


def test_no_line_is_broken_in_a_pipe() -> None:
    text = FORMATS["summary"](of_ranks(replace(INTERVAL, message="word " * 60)), RULES)
    assert re.search("(word ){59}word", text)
