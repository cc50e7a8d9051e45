"""No report grows beyond its bound, whatever the file holds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from report_samples import HOSTILE, INTERVAL, INTERVAL_RULE, RULES, SEEN, file_report, one_report
from report_samples import reports as hostile_reports
from slices import some

from ascend_conformance.finding import VERDICTS, Coverage, Report, Skipped
from ascend_conformance.report import BYTES_PER_FILE, FORMATS
from ascend_conformance.report.html import LARGEST

# What some format has to spell longest: references, escapes, wide encodings.
CHARACTERS = ("\\", '"', "|", "\x00", "\u6f22", "\U0001f600")


def allowed(kind: str, files: int = 1) -> int:
    """Bytes of a report on so many files; a page has one bound, whatever their number."""
    return LARGEST if kind == "html" else BYTES_PER_FILE * files


def size(kind: str, report: Report) -> int:
    return len(FORMATS[kind](report, RULES).encode())


def monstrous(character: str, rules: int, columns: int) -> Report:
    """Every column bad by every rule, every text of 10,000 characters."""
    text = character * 10_000
    row = {f"{text}{number}": text for number in range(8)}
    findings = [
        replace(
            INTERVAL,
            rule=f"DB{rule:03}",
            verdict=VERDICTS[rule % 3],
            table=f"{text}{column}",
            column=f"{column}{text}",
            message=text,
            expected=text,
            examples=(row, row),
            context=row,
            erratum=text,
            sql=text,
        )
        for rule in range(rules)
        for column in range(columns)
    ]
    many = tuple(f"{text}{number}" for number in range(200))
    seen = replace(
        SEEN,
        carrier=text,
        product=text,
        ranks=tuple(range(1_000)),
        rows=dict.fromkeys(many, 2**63),
        coverage=Coverage(1, 2, many),
        readings=many,
    )
    skipped = tuple(Skipped(f"DB{number}", text, f"{number}{text}") for number in range(200))
    return one_report(file_report(*findings, seen=seen, skipped=skipped, unreadable=text))


@pytest.mark.parametrize("character", some(CHARACTERS, every=32))
@pytest.mark.parametrize("kind", FORMATS)
def test_five_hundred_bad_columns_fit(kind: str, character: str) -> None:
    assert size(kind, monstrous(character, rules=3, columns=500)) <= allowed(kind)


@pytest.mark.parametrize("kind", some(FORMATS, every=4))
def test_every_rule_firing_fits(kind: str) -> None:
    assert size(kind, monstrous("\\", rules=150, columns=3)) <= allowed(kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_path_at_the_limit_of_the_system_fits(kind: str) -> None:
    path = "\u6f22" * 4_096
    report = one_report(file_report(*[replace(INTERVAL, file=path)] * 60, file=path))
    assert size(kind, report) <= allowed(kind)


@pytest.mark.parametrize("kind", some(FORMATS, every=4))
def test_the_bound_holds_per_file(kind: str) -> None:
    (file,) = monstrous("&", rules=3, columns=50).files
    report = one_report(*(replace(file, file=f"{number}.db") for number in range(4)))
    assert size(kind, report) <= allowed(kind, 4)


def nine_hundred_findings() -> Report:
    """Three rules, each at the same 300 columns with names of the usual length."""
    findings = [
        replace(
            INTERVAL,
            rule=f"DB40{rule}",
            table=f"TABLE_{column // 10:02}",
            column=f"column{column:03}",
        )
        for rule in range(3)
        for column in range(300)
    ]
    return one_report(file_report(*findings))


@pytest.mark.parametrize(
    "kind", sorted(FORMATS.keys() - {"json", "jsonl", "summary", "quiet", "statistics"})
)
def test_places_with_real_names_are_all_listed(kind: str) -> None:
    report = nine_hundred_findings()
    text = FORMATS[kind](report, RULES).replace("&#95;", "_")
    assert len(text.encode()) <= allowed(kind)
    assert all(text.count(finding.place) >= 3 for finding in report.findings)


def test_places_with_real_names_are_all_listed_in_json() -> None:
    report = nine_hundred_findings()
    text = FORMATS["json"](report, RULES)
    assert len(text.encode()) <= BYTES_PER_FILE
    found = Counter[str]()
    for finding in json.loads(text)["files"][0]["findings"]:
        found[f"{finding['table']}.{finding['column']}"] += 1
        found.update(finding.get("elsewhere", {}).keys())
    assert found == Counter(finding.place for finding in report.findings)


@settings(max_examples=40, deadline=None)
@given(hostile_reports())
def test_any_report_is_bounded_and_repeatable(report: Report) -> None:
    for kind, render in FORMATS.items():
        text = render(report, RULES)
        assert len(text.encode()) <= allowed(kind, max(1, len(report.files)))
        shuffled = replace(
            report,
            files=tuple(
                replace(file, findings=file.findings[::-1], skipped=file.skipped[::-1])
                for file in report.files
            ),
        )
        assert render(shuffled, RULES) == text, kind


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", FORMATS)
def test_hostile_prose_of_a_rule_is_harmless_too(kind: str, text: str) -> None:
    rule = replace(INTERVAL_RULE, summary=text, why=text, fix=text)
    report = one_report(file_report(INTERVAL))
    assert "\x1b" not in FORMATS[kind](report, {rule.id: rule})


@pytest.mark.parametrize("kind", ["text", "markdown", "sarif", "junit"])
def test_skipped_rules_beyond_those_listed_are_counted(kind: str) -> None:
    skipped = tuple(Skipped(f"DB{number}", "NIC", "table NIC is absent") for number in range(120))
    report = one_report(file_report(skipped=skipped))
    assert "20 further rules" in FORMATS[kind](report, RULES)


@pytest.mark.parametrize("kind", ["text", "markdown", "sarif"])
def test_reasons_of_skips_beyond_those_listed_are_counted(kind: str) -> None:
    skipped = tuple(Skipped("DB301", f"T{number}", f"no T{number}") for number in range(120))
    report = one_report(file_report(skipped=skipped))
    assert "20 further reasons" in FORMATS[kind](report, RULES)
