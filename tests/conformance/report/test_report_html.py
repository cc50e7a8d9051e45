"""The page of a report: complete, harmless, small, and the same whenever it is written."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from page_reader import Page
from profiles import specimen
from report_samples import (
    CLEAN_REPORT,
    FULL_REPORT,
    HOSTILE,
    INTERVAL,
    RULES,
    SEEN,
    SWAPPED,
    UNREADABLE_REPORT,
    file_report,
    one_report,
)
from report_samples import reports as hostile_reports

from ascend_conformance.check import check
from ascend_conformance.finding import TEXT, Coverage, Report, Seen, Skipped
from ascend_conformance.media import load_rules
from ascend_conformance.report import FORMATS, conclusion, write_report
from ascend_conformance.report.html import LARGEST


def html(report: Report) -> str:
    return FORMATS["html"](report, RULES)


def ranks(count: int, places: int = 1, rules: int = 1) -> Report:
    """Each of some ranks with the same places bad by the same rules."""
    return one_report(
        *(
            file_report(
                *(
                    replace(
                        INTERVAL, rule=f"DB{rule:03}", table=f"T{at // 100}", column=f"c{at % 100}"
                    )
                    for rule in range(rules)
                    for at in range(places)
                ),
                file=f"run/rank_{rank}.db",
                seen=replace(SEEN, ranks=(rank,)),
            )
            for rank in range(count)
        )
    )


def test_the_verdict_comes_first_then_what_to_do() -> None:
    page = Page(html(FULL_REPORT))
    assert [text for name, text in page.headings if name == "h2"] == [
        *("What to do", "Findings", "Coverage", "Matrices", "Rules", "Left out")
    ]
    before, _, after = page.text.partition("What to do\n")
    assert conclusion(FULL_REPORT) in before
    assert "report it to the author of the exporter; its figures are wrong here: DB401" in after


def test_a_finding_is_listed_with_all_that_is_known_of_it() -> None:
    page = Page(html(FULL_REPORT))
    (_, row) = page.tables["Places of DB401"]
    assert row == [
        "TASK.endNs",
        "run/ascend_pytorch_profiler_1.db",
        "2",
        "rowid 88",
        "An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)"
        "\nrow=88 startNs=2000 endNs=1000\nrow=90 startNs=NULL",
    ]
    assert "Why: The negative duration enters sums." in page.text
    assert "Fix: Write endNs >= startNs." in page.text


def test_what_was_looked_at_is_stated_with_what_was_skipped() -> None:
    page = Page(html(FULL_REPORT))
    (_, row) = page.tables["Files and folders that were looked at"]
    assert row[2:6] == ["12,345", "93", "1,204", "2"]
    assert "coverage: 83 % (212 of 255 columns); missing MEMCPY_INFO, NIC" in row[6]
    (_, skipped) = page.tables["Rules that could not be judged everywhere"]
    assert skipped == ["DB301, DB302", "table NIC is absent", "1"]


def test_what_cannot_be_judged_is_no_silent_pass() -> None:
    page = Page(html(UNREADABLE_REPORT))
    assert "a.db cannot be judged: file is not a database" in page.text
    assert "Nothing: nothing was found." in page.text


def test_the_entities_are_those_of_tables_files_and_events_with_rows() -> None:
    text = Seen(
        carrier=TEXT,
        revision="adapter",
        rows={"op_summary_20260101000000.csv": 7, "trace_view.json": 9},
        events={"cann/call": 5},
        coverage=Coverage(1, 1),
    )
    report = one_report(
        file_report(seen=replace(SEEN, rows={"CANN_API": 3, "PYTORCH_API": 0})),
        file_report(file="run/texts", seen=text),
    )
    (found,) = (rows for name, rows in Page(html(report)).tables.items() if "recording" in name)
    media = ["databases", "CSV files", "timelines", "raw files", "MindSpore's files"]
    assert found[0] == ["entity", *media]
    by_name = {row[0].split()[0]: row[1:] for row in found[1:]}
    assert by_name["host_call"] == ["CANN_API (3)", "", "cann/call (5)", "", ""]
    assert by_name["kernel"][1] == "op_summary (7)"
    assert "framework_call" not in by_name


def test_the_same_place_in_many_files_is_one_line() -> None:
    page = Page(html(ranks(8)))
    (_, row) = page.tables["Places of DB000"]
    assert row[:3] == ["T0.c0", "run/rank_{0-7}.db", "16"]
    assert page.values("data-files") == page.values("data-ranks") == ["0-7"]
    assert "8 places, 16 rows, 8 files" in page.text


def test_the_matrices_count_by_rank() -> None:
    (good, *bad) = ranks(3, places=2).files
    page = Page(html(one_report(replace(good, findings=()), *bad)))
    assert page.tables["Rules and ranks"] == [
        ["rule", "rank 0", "rank 1", "rank 2"],
        ["DB000", "", "2", "2"],
    ]
    assert page.tables["Ranks and files"] == [
        ["rank", "pytorch"],
        ["rank 0", "conforms"],
        ["rank 1", "2 violations"],
        ["rank 2", "2 violations"],
    ]


def test_findings_stand_below_the_one_that_explains_them() -> None:
    follower = replace(SWAPPED, cause="DB401", verdict="violation")
    orphan = replace(SWAPPED, rule="DB421", cause="DB999")
    page = Page(html(one_report(file_report(INTERVAL, follower, orphan))))
    assert [text for name, text in page.headings if name == "h3"][:2] == [
        "DB401 interval-ends-before-start",
        "DB421 swapped-types-and-shapes",
    ]
    assert "found in other words by DB420 swapped-types-and-shapes" in page.text
    assert "follows fromDB999" in page.text


def test_nothing_is_lost_from_the_counts_however_many_there_are() -> None:
    report = ranks(6, places=110, rules=30)
    text = html(report)
    page = Page(text)
    assert len(text.encode()) <= LARGEST
    assert "does not conform: 19,800 violations" in page.text
    rows = len(page.values("data-files"))
    left = 30 * 110 - rows
    assert f"{left:,} places of any cause" in page.text
    captions = [re.search(r"; ([\d,]+) more", name) for name in page.tables]
    assert sum(int(found[1].replace(",", "")) for found in captions if found) == left


@pytest.mark.campaign
def test_a_million_findings_make_a_small_page() -> None:
    text = html(ranks(100, places=1_000, rules=10))
    assert len(text.encode()) <= LARGEST
    assert "does not conform: 1,000,000 violations" in text


def test_many_files_make_a_small_page() -> None:
    report = one_report(
        *(
            file_report(file=f"run/{number}/{'long' * 100}.db", skipped=(Skipped("DB1", "", "x"),))
            for number in range(5_000)
        )
    )
    text = html(report)
    assert len(text.encode()) <= LARGEST
    assert re.search(r"4,\d00 files in the list of files and in the filter", text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_only_shown(text: str) -> None:
    bad = replace(
        INTERVAL,
        name=text,
        table=text,
        column=text,
        message=text,
        expected=text,
        erratum=text,
        examples=({text: text},),
    )
    seen = replace(SEEN, carrier=text, product=text, coverage=Coverage(1, 2, (text,)))
    found = html(one_report(file_report(bad, file=text, seen=seen)))
    harmless = html(one_report(file_report(INTERVAL)))
    _is_harmless(found)
    names = [name for name, _ in Page(found).elements]
    assert names.count("script") == Page(harmless).elements.count(("script", {})) == 1


@settings(max_examples=30)
@given(hostile_reports())
def test_any_report_is_a_harmless_page(report: Report) -> None:
    _is_harmless(html(report))


def _is_harmless(text: str) -> None:
    """No element, address or handler of the page comes from a name, and no character hides."""
    page = Page(text)
    assert [dict(of) for name, of in page.elements if name in ("script", "style")] == [{}, {}]
    assert not [name for _, of in page.elements for name in of if name.startswith("on")]
    assert "style" not in {name for _, of in page.elements for name in of}
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for address in page.values("href"):
        assert address == "data:," or address.removeprefix("#") in ids
    assert not {name for name, _ in page.elements} & {"iframe", "object", "embed", "base", "svg"}
    assert all(letter.isprintable() or letter == "\n" for letter in page.text)
    assert "\u202e" not in text


def test_only_the_own_script_may_run_and_nothing_is_fetched() -> None:
    text = html(FULL_REPORT)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    allowed = dict(part.split(" ", 1) for part in policy.replace("&#39;", "'").split("; "))
    assert allowed["default-src"] == "'none'"
    for name, element in (("script-src", "script"), ("style-src", "style")):
        (inner,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = b64encode(sha256(inner.encode()).digest()).decode()
        assert allowed[name] == f"'sha256-{digest}'"
    assert "http" not in text.replace("http-equiv", "")


def test_tables_and_headings_are_marked_as_such() -> None:
    page = Page(html(FULL_REPORT))
    assert [name for name, _ in page.headings].count("h1") == 1
    heads = [of for name, of in page.elements if name == "th"]
    assert heads
    assert all(of.get("scope") in ("col", "row") for of in heads)
    assert len(page.tables) == sum(name == "table" for name, _ in page.elements)
    assert ("html", {"lang": "en"}) in page.elements


def test_a_page_without_findings_says_so() -> None:
    page = Page(html(CLEAN_REPORT))
    assert "conforms: no violation, no advice, no note" in page.text
    assert "Nothing: all that was found is on this page." in page.text
    assert [name for name, _ in page.elements].count("form") == 0


@pytest.mark.exhaustive
def test_a_judged_profile_is_drawn_and_written_twice_alike(tmp_path: Path) -> None:
    report, rules = check([specimen(tmp_path)]), load_rules()
    for name in ("one.html", "other.html"):
        write_report("html", tmp_path / name, report, rules)
    text = (tmp_path / "one.html").read_text()
    assert text == (tmp_path / "other.html").read_text()
    (address,) = (of["src"] for name, of in Page(text).elements if name == "img")
    assert address is not None
    assert address.startswith("data:image/svg+xml;base64,")


def test_without_a_file_to_draw_the_reason_is_given(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("no database")
    report = one_report(file_report(file=str(tmp_path / "no.db")))
    write_report("html", tmp_path / "page.html", report, RULES)
    page = Page((tmp_path / "page.html").read_text())
    assert re.search(r"No picture: .*no\.db.*database", page.text)
