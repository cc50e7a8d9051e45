"""The JSON document and the JSON lines, against the published schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from report_samples import (
    FULL_REPORT,
    INTERVAL,
    RULES,
    SEEN,
    UNREADABLE_REPORT,
    VIEWER,
    file_report,
    one_report,
    reports,
)

from ascend_conformance.finding import Coverage, Report
from ascend_conformance.report import FORMATS, report_schema

SCHEMA = report_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def strict(text: str) -> Any:
    """The value of a JSON text without NaN, infinities, doubled keys or lone surrogates."""

    def unique(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
        result = dict(pairs)
        assert len(result) == len(pairs)
        return result

    def never(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    value = json.loads(text, parse_constant=never, object_pairs_hook=unique)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def document(report: Report) -> Any:
    return strict(FORMATS["json"](report, RULES))


def lines(report: Report) -> list[Any]:
    return [strict(line) for line in FORMATS["jsonl"](report, RULES).splitlines()]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_report_is_one_document() -> None:
    seen = replace(SEEN, coverage=Coverage(212, 255))
    report = one_report(file_report(INTERVAL, seen=seen))
    assert FORMATS["json"](report, RULES) == (
        """\
{
 "$schema": "urn:ascend-ref:report:1",
 "version": 1,
 "tool": {"name": "ascend-ref", "version": "0.1.0"},
 "reading": "observed",
 "question": "conformity",
 "conclusion": "does not conform: 1 violation, no advice, no note",
 "conformity": "does not conform",
 "counts": {"violation": 1, "advice": 0, "note": 0, "skipped": 0, "files": 1, "unreadable": 0},
 "files": [
  {
   "file": "run/ascend_pytorch_profiler_1.db",
   "conformity": "does not conform",
   "unreadable": null,
   "seen": {
    "carrier": "pytorch",
    "schema_version": "1.0.0",
    "revision": "1.0.0-2025-01",
    "product": "Ascend910B",
    "level": "1 (from the rows)",
    "ranks": [1],
    "devices": [0, 1],
    "start_ns": 1736409600123456789,
    "end_ns": 1736409601456456789,
    "rows_total": 12345,
    "rows": {"STRING_IDS": 345, "TASK": 12000},
    "coverage": {"exercised": 212, "producible": 255, "share": 0.831373, "missing_tables": []},
    "readings": ["E8"]
   },
   "rules_run": 93,
   "places_checked": 1204,
   "counts": {"violation": 1, "advice": 0, "note": 0, "skipped": 0},
   "seconds": 0.25,
   "findings": [
    {
     "rule": "DB401",
     "name": "interval-ends-before-start",
     "verdict": "violation",
     "table": "TASK",
     "column": "endNs",
     "message": "An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)",
     "expected": "endNs >= startNs",
     "count": 2,
     "first_rowid": 88,
     "fingerprint": "06014bdc8947c671",
     "examples": [{"row": 88, "startNs": 2000, "endNs": 1000}, {"row": 90, "startNs": null}],
     "context": {"count": 2, "rows": 12000}
    }
   ],
   "skipped": []
  }
 ]
}
"""
    )


def test_seconds_are_the_only_trace_of_the_clock() -> None:
    slow = one_report(replace(FULL_REPORT.files[0], seconds=99.0))
    assert document(slow)["files"][0].pop("seconds") == 99.0
    for kind in FORMATS.keys() - {"json"}:
        assert FORMATS[kind](slow, RULES) == FORMATS[kind](FULL_REPORT, RULES)


def test_findings_come_gravest_first() -> None:
    verdicts = [finding["verdict"] for finding in document(FULL_REPORT)["files"][0]["findings"]]
    assert verdicts == ["violation", "advice", "note"]


def test_an_unreadable_file_is_not_judged() -> None:
    found = document(UNREADABLE_REPORT)
    assert found["conformity"] == "not judged"
    assert found["counts"]["unreadable"] == 1


@pytest.mark.parametrize(
    ("report", "conclusion"),
    [
        (replace(one_report(file_report()), question="difference"), "equal: no difference"),
        (one_report(file_report(INTERVAL)), "does not conform: 1 violation"),
    ],
)
def test_the_conclusion_is_in_the_words_of_the_question(report: Report, conclusion: str) -> None:
    found = document(report)
    assert found["question"] == report.question
    assert str(found["conclusion"]).startswith(conclusion)


def test_numbers_beyond_json_become_texts() -> None:
    row = {"a": float("nan"), "b": float("inf"), "c": float("-inf"), "d": 2**63}
    finding = document(one_report(file_report(replace(INTERVAL, examples=(row,)))))["files"][0]
    assert finding["findings"][0]["examples"] == [
        {"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": 2**63}
    ]


def test_names_keep_their_exact_characters_but_show_none_that_act() -> None:
    report = one_report(file_report(replace(INTERVAL, table="\x1b\u202e\x9b\u6f22")))
    text = FORMATS["json"](report, RULES)
    assert '"table": "\\u001b\\u202e\\u009b\u6f22"' in text
    assert strict(text)["files"][0]["findings"][0]["table"] == "\x1b\u202e\x9b\u6f22"


def test_keys_that_are_cut_to_the_same_text_stay_apart() -> None:
    row = {"x" * 100 + "a": 1, "x" * 100 + "b": 2}
    finding = document(one_report(file_report(replace(INTERVAL, examples=(row,)))))["files"][0]
    cut = "x" * 77 + "..."
    assert finding["findings"][0]["examples"] == [{cut: 1, f"{cut}~2": 2}]


def test_what_is_left_out_is_counted() -> None:
    elsewhere = {f"TABLE_{number}.x": 1 for number in range(5_000)}
    found = document(one_report(file_report(replace(INTERVAL, elsewhere=elsewhere))))
    finding = found["files"][0]["findings"][0]
    assert len(finding["elsewhere"]) + finding["left_out"]["elsewhere"] == 5_000
    assert found["counts"]["violation"] == 5_001


def test_columns_of_rows_that_are_left_out_are_counted() -> None:
    row = {f"c{number}": number for number in range(15)}
    finding = replace(INTERVAL, examples=({"a": 1}, row), context=row)
    found = document(one_report(file_report(finding)))["files"][0]["findings"][0]
    assert [len(found["examples"][1]), len(found["context"])] == [12, 12]
    assert found["left_out"] == {"columns": 3}


def test_lines_have_a_kind_and_end_with_the_summary() -> None:
    found = lines(FULL_REPORT)
    kinds = [line["kind"] for line in found]
    assert kinds == ["file", *["finding"] * 3, *["skipped"] * 2, "summary"]
    assert found[1]["rule"] == "DB401"
    assert found[-1]["conformity"] == "does not conform"


def test_lines_carry_the_objects_of_the_document() -> None:
    file = document(FULL_REPORT)["files"][0]
    findings = [line for line in lines(FULL_REPORT) if line["kind"] == "finding"]
    assert [
        {"kind": "finding", "file": file["file"], **one} for one in file["findings"]
    ] == findings


@settings(max_examples=27, deadline=None)
@given(reports())
def test_every_document_is_valid(report: Report) -> None:
    VALIDATOR.validate(document(report))


@settings(max_examples=40, deadline=None)
@given(reports())
def test_every_line_is_strict_json(report: Report) -> None:
    assert lines(report)[-1]["kind"] == "summary"


def test_a_finding_of_the_whole_file_has_no_table() -> None:
    found = document(one_report(file_report(VIEWER)))["files"][0]["findings"][0]
    assert (found["table"], found["column"], found["first_rowid"]) == (None, None, None)
