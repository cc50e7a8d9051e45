"""Order and folding: a fault in many columns is one finding with many places."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import INTERVAL, SWAPPED, VIEWER, file_report, one_report, reports

from ascend_conformance.finding import VERDICTS, Finding, Report
from ascend_conformance.report import collapse, conclusion
from ascend_conformance.report.collapse import unfold
from ascend_conformance.report.phrases import tally


def at(number: int, finding: Finding = INTERVAL) -> Finding:
    return replace(finding, table=f"T{number:04}", count=number + 1)


def collapsed(*findings: Finding, most: int = 40) -> tuple[Finding, ...]:
    return collapse(one_report(file_report(*findings)), most).findings


def test_findings_are_sorted_by_verdict_rule_and_place() -> None:
    found = collapsed(VIEWER, SWAPPED, at(2), at(1))
    assert [(one.rule, one.table) for one in found] == [
        ("DB401", "T0001"),
        ("DB401", "T0002"),
        ("DB420", "COMPUTE_TASK_INFO"),
        ("DB006", None),
    ]


def test_files_are_sorted_by_name() -> None:
    report = one_report(file_report(file="b.db"), file_report(file="a.db"))
    assert [file.file for file in collapse(report).files] == ["a.db", "b.db"]


def test_few_findings_stay_as_they_are() -> None:
    findings = tuple(at(number) for number in range(40))
    assert collapsed(*findings) == findings


def test_one_more_folds_the_last_places() -> None:
    findings = tuple(at(number) for number in range(41))
    found = collapsed(*findings)
    assert found[:39] == findings[:39]
    assert found[39:] == (replace(findings[39], elsewhere={"T0040.endNs": 41}),)


def test_each_rule_keeps_its_share() -> None:
    others = [at(number, SWAPPED) for number in range(3)]
    found = collapsed(*map(at, range(100)), *others, most=8)
    assert Counter(one.rule for one in found) == {"DB401": 5, "DB420": 3}


def test_no_rule_vanishes_however_many_there_are() -> None:
    rules = [replace(at(place), rule=f"DB{rule}") for rule in range(60) for place in range(2)]
    found = collapsed(*rules)
    assert len(found) == 60
    assert all(len(one.elsewhere) == 1 for one in found)


def test_a_rule_is_not_folded_into_another_verdict() -> None:
    found = collapsed(at(0), replace(at(1), verdict="advice"), at(2), most=1)
    assert [(one.verdict, dict(one.elsewhere)) for one in found] == [
        ("violation", {"T0002.endNs": 3}),
        ("advice", {}),
    ]


def test_what_has_a_cause_is_not_folded_into_what_has_none() -> None:
    """It does not count, and what it is folded into does."""
    found = collapsed(at(1), replace(at(2), cause="XLR901"), most=1)
    assert tally((file_report(*found),))["violation"] == 1


def test_folding_again_changes_nothing() -> None:
    report = collapse(one_report(file_report(*map(at, range(100)))), 10)
    assert collapse(report, 10) == report


def test_places_folded_earlier_are_kept() -> None:
    found = collapsed(replace(at(0), elsewhere={"X.y": 7}), at(1), most=1)
    assert dict(found[0].elsewhere) == {"T0001.endNs": 2, "X.y": 7}


def test_unfolding_gives_every_place_back() -> None:
    found = collapsed(*map(at, range(5)), most=1)
    unfolded = [one for finding in found for one in unfold(finding)]
    assert [(one.place, one.count) for one in unfolded] == [
        (at(number).place, number + 1) for number in range(5)
    ]
    assert [one.fingerprint for one in unfolded] == [at(number).fingerprint for number in range(5)]


def rows_by_place(report: Report) -> Counter[tuple[str, str, str, str]]:
    totals: Counter[tuple[str, str, str, str]] = Counter()
    for finding in report.findings:
        key = (finding.file, finding.rule, finding.verdict)
        totals[*key, finding.place] += finding.count
        for place, count in finding.elsewhere.items():
            totals[*key, place] += count
    return totals


@settings(max_examples=60, deadline=None)
@given(reports(), st.integers(1, 4))
def test_no_place_and_no_row_is_lost(report: Report, most: int) -> None:
    folded = collapse(report, most)
    assert rows_by_place(folded) == rows_by_place(report)
    for file in folded.files:
        groups = {(one.verdict, one.rule) for one in file.findings}
        assert len(file.findings) <= max(most, len(groups))


@settings(max_examples=30, deadline=None)
@given(st.permutations([at(number) for number in range(6)] + [VIEWER, SWAPPED]))
def test_the_order_of_the_input_does_not_matter(findings: list[Finding]) -> None:
    assert collapsed(*findings, most=4) == collapsed(*sorted(findings, key=repr), most=4)


def test_folding_does_not_change_the_conclusion() -> None:
    report = one_report(file_report(*map(at, range(100)), VIEWER))
    for most in (1, 10, 1000):
        assert conclusion(collapse(report, most)) == (
            "does not conform: 100 violations, no advice, 1 note"
        )


def test_verdicts_are_ordered_from_grave_to_light() -> None:
    assert VERDICTS == ("failure", "violation", "advice", "note")
