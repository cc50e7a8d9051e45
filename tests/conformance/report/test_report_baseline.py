"""Known findings are let pass, expected ones must come."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from report_samples import (
    CLEAN_REPORT,
    FULL_REPORT,
    INTERVAL,
    RULES,
    SWAPPED,
    VIEWER,
    file_report,
    one_report,
)

from ascend_conformance.finding import Report
from ascend_conformance.report import (
    FORMATS,
    ReportError,
    baseline_document,
    collapse,
    judge,
    read_baseline,
    read_expected,
    write_report,
)


def with_columns(count: int) -> Report:
    return one_report(
        file_report(*(replace(INTERVAL, column=f"column{number}") for number in range(count)))
    )


def saved(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "list"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_report_is_its_own_baseline(tmp_path: Path) -> None:
    write_report("json", tmp_path / "old.json", FULL_REPORT, RULES)
    outcome = judge(FULL_REPORT, read_baseline(tmp_path / "old.json"))
    assert outcome.report.findings == ()
    assert outcome.in_baseline == 3
    assert outcome.remarks() == ("3 findings in baseline",)
    assert not outcome.fails("note")


def test_a_new_finding_remains(tmp_path: Path) -> None:
    baseline = read_baseline(saved(tmp_path, json.dumps([SWAPPED.fingerprint, VIEWER.fingerprint])))
    outcome = judge(FULL_REPORT, baseline)
    assert outcome.report.findings == (INTERVAL,)
    assert outcome.in_baseline == 2
    assert outcome.fails("violation")


def test_a_known_fault_may_grow_and_move() -> None:
    worse = replace(INTERVAL, count=900, first_rowid=1, file="copy/ascend_pytorch_profiler_1.db")
    report = one_report(file_report(worse, file=worse.file))
    assert judge(report, frozenset({INTERVAL.fingerprint})).report.findings == ()


def test_folded_places_of_a_report_are_known_too(tmp_path: Path) -> None:
    report = with_columns(100)
    write_report("json", tmp_path / "old.json", report, RULES)
    outcome = judge(report, read_baseline(tmp_path / "old.json"))
    assert outcome.in_baseline == 100


def test_folded_places_of_the_judged_report_are_sieved_one_by_one() -> None:
    first, second, third = with_columns(3).findings
    folded = collapse(with_columns(3), most=1)
    outcome = judge(folded, frozenset({first.fingerprint, third.fingerprint}))
    assert [one.place for one in outcome.report.findings] == [second.place]


def test_a_report_that_leaves_findings_out_is_no_baseline(tmp_path: Path) -> None:
    report = with_columns(5_000)
    write_report("json", tmp_path / "old.json", report, RULES)
    with pytest.raises(ReportError, match="leaves findings out: give a list of fingerprints"):
        read_baseline(tmp_path / "old.json")
    complete = read_baseline(saved(tmp_path, baseline_document(report)))
    assert judge(report, complete).in_baseline == 5_000


def test_a_baseline_document_is_a_sorted_list() -> None:
    prints = json.loads(baseline_document(FULL_REPORT))
    assert prints == sorted(one.fingerprint for one in (INTERVAL, SWAPPED, VIEWER))


def test_names_that_are_not_unicode_have_a_fingerprint() -> None:
    broken = replace(INTERVAL, file="\udcff.db", table="\ud800", column="\udc80")
    report = one_report(file_report(broken, file=broken.file))
    known = frozenset(json.loads(baseline_document(report)))
    assert judge(report, known).in_baseline == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[" + "1" * 100_000 + "]", "is not JSON"),
        ("3", "is neither a JSON report nor a list of fingerprints"),
        ("{}", "is neither a JSON report nor a list of fingerprints"),
        ('{"files": 3}', "is neither a JSON report nor a list of fingerprints"),
        ('{"files": [3]}', "has another shape than a JSON report"),
        ('{"files": [{"findings": [{}]}]}', "has another shape than a JSON report"),
        ('{"files": [{"findings": [{"fingerprint": 3}]}]}', "entry 1 is no fingerprint"),
        ('["0123456789abcdef", "DB401"]', "entry 2 is no fingerprint of 16 hex digits"),
    ],
)
def test_a_bad_baseline_is_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = saved(tmp_path, text)
    with pytest.raises(ReportError) as error:
        read_baseline(path)
    assert str(error.value).startswith(f"baseline {path}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_baseline_is_told(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    with pytest.raises(ReportError) as error:
        read_baseline(path)
    assert str(error.value) == f"cannot read baseline {path}: No such file or directory"


def test_a_baseline_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"\xff\xfe")
    with pytest.raises(ReportError, match="is not UTF-8"):
        read_baseline(tmp_path / "list")


def test_expected_findings_are_taken_out() -> None:
    outcome = judge(FULL_REPORT, expected=("DB401@TASK.endNs", "DB420@*", "DB006@"))
    assert outcome.report.findings == ()
    assert outcome.as_expected == 3
    assert not outcome.fails("note")
    assert outcome.remarks() == ("3 findings as expected",)


def test_an_unexpected_finding_fails_at_its_verdict() -> None:
    outcome = judge(FULL_REPORT, expected=("DB401@TASK.endNs", "DB006@"))
    assert outcome.report.findings == (SWAPPED,)
    assert not outcome.fails("violation")
    assert outcome.fails("advice")


def test_an_expected_finding_that_does_not_come_fails() -> None:
    outcome = judge(CLEAN_REPORT, expected=("DB401@TASK.endNs",))
    assert outcome.absent == ("DB401@TASK.endNs",)
    assert outcome.fails("violation")
    assert outcome.remarks() == ("expected but absent: DB401@TASK.endNs",)


@pytest.mark.parametrize(
    ("pattern", "hits"),
    [
        ("DB401@TASK.endNs", True),
        ("interval-ends-before-start@TASK.endNs", True),
        ("DB4*@*", True),
        ("*@TASK.*", True),
        ("DB401@TASK", False),
        ("DB401@", False),
        ("db401@TASK.endNs", False),
    ],
)
def test_a_pattern_names_rule_and_place(pattern: str, hits: bool) -> None:
    outcome = judge(one_report(file_report(INTERVAL)), expected=(pattern,))
    assert (outcome.as_expected == 1) is hits


def test_baseline_goes_before_expectation() -> None:
    known = frozenset({INTERVAL.fingerprint})
    outcome = judge(FULL_REPORT, known, ("DB401@*", "DB420@*"))
    assert (outcome.in_baseline, outcome.as_expected) == (1, 1)
    assert outcome.absent == ("DB401@*",)
    assert outcome.report.findings == (VIEWER,)


def test_an_expectation_file_has_comments(tmp_path: Path) -> None:
    path = saved(tmp_path, "# known faults\n\n  DB401@TASK.endNs  \nDB006@\n")
    assert read_expected(path) == ("DB401@TASK.endNs", "DB006@")


def test_a_line_without_place_is_told_with_its_number(tmp_path: Path) -> None:
    path = saved(tmp_path, "DB006@\nDB401 TASK\n")
    with pytest.raises(ReportError) as error:
        read_expected(path)
    assert str(error.value) == f"{path}, line 2: want rule@place, found 'DB401 TASK'"


def test_a_missing_expectation_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"cannot read expectation file .*: No such file"):
        read_expected(tmp_path / "none")


def test_what_remains_can_be_rendered() -> None:
    outcome = judge(FULL_REPORT, frozenset({INTERVAL.fingerprint}))
    text = FORMATS["text"](outcome.report, RULES)
    assert text.endswith("\nconforms: no violation, 1 advice, 1 note; 2 checks skipped\n")
