"""Small reports, written out, and Hypothesis strategies for hostile ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from ascend_conformance.finding import (
    VERDICTS,
    Coverage,
    FileReport,
    Finding,
    Report,
    Scalar,
    Seen,
    Skipped,
)
from ascend_conformance.ruleset import Rule, rule_of

FILE = "run/ascend_pytorch_profiler_1.db"

INTERVAL_RULE: Rule[Any] = rule_of(
    {
        "rule": "DB401",
        "name": "interval-ends-before-start",
        "summary": "An interval ends before it starts.",
        "why": "The negative duration enters sums.",
        "fix": "Write endNs >= startNs.",
        "example": "TASK row 12",
        "expected": "endNs >= startNs",
        "verdict": "violation",
        "grade": "observed",
        "source": [],
    },
    "tasks",
    "db",
    None,
)
RULES: Mapping[str, Rule[Any]] = {INTERVAL_RULE.id: INTERVAL_RULE}

INTERVAL = Finding(
    rule="DB401",
    name="interval-ends-before-start",
    verdict="violation",
    file=FILE,
    message="An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)",
    expected="endNs >= startNs",
    table="TASK",
    column="endNs",
    count=2,
    first_rowid=88,
    examples=({"row": 88, "startNs": 2000, "endNs": 1000}, {"row": 90, "startNs": None}),
    context={"count": 2, "rows": 12_000},
)
SWAPPED = Finding(
    rule="DB420",
    name="swapped-types-and-shapes",
    verdict="advice",
    file=FILE,
    message="Types and shapes are swapped: 7 of 7 rows (first: rowid 1)",
    expected="types in inputDataTypes",
    table="COMPUTE_TASK_INFO",
    column="inputShapes",
    count=7,
    first_rowid=1,
    erratum="E23",
)
VIEWER = Finding(
    rule="DB006",
    name="written-by-a-viewer",
    verdict="note",
    file=FILE,
    message="A viewer has changed this file",
    expected="",
)
SEEN = Seen(
    carrier="pytorch",
    schema_version="1.0.0",
    revision="1.0.0-2025-01",
    product="Ascend910B",
    level="1 (from the rows)",
    ranks=(1,),
    devices=(0, 1),
    start_ns=1_736_409_600_123_456_789,
    end_ns=1_736_409_601_456_456_789,
    rows={"TASK": 12_000, "STRING_IDS": 345},
    coverage=Coverage(212, 255, ("MEMCPY_INFO", "NIC")),
    readings=("E8",),
)


def file_report(*findings: Finding, file: str = FILE, **changes: object) -> FileReport:
    own = tuple(replace(finding, file=file) for finding in findings)
    report = FileReport(file, SEEN, own, rules_run=93, places_checked=1204, seconds=0.25)
    return replace(report, **changes)


def one_report(*files: FileReport) -> Report:
    return Report(files, tool_version="0.1.0", reading="observed")


FULL_REPORT = one_report(
    file_report(
        VIEWER,
        SWAPPED,
        INTERVAL,
        skipped=(
            Skipped("DB302", "NIC", "table NIC is absent"),
            Skipped("DB301", "NIC", "table NIC is absent"),
        ),
    )
)
CLEAN_REPORT = one_report(file_report())
UNREADABLE_REPORT = one_report(FileReport("a.db", None, (), unreadable="file is not a database"))

HOSTILE = (
    "]]>",
    "<script>alert(1)</script>",
    "&amp;",
    "a|b\\|c",
    "\\",
    "`` ` ``",
    "\x00\x1b[31mred\x07",
    "\u202egnp.exe",
    "two\nlines\r\n",
    "\ud800\udcff",
    "\ufffe\uffff",
    "::error::x",
    "100%0A",
    "a:b,c",
    "[bold red]x[/]",
    "[click](https://example.org)",
    "{0}",
    "@everyone #1 https://example.org www.example.org",
    "\u3164\ufe0f\U000e0100",
    "漢字" * 60,
    '"' * 10_000,
)

hostile_text = st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=30)
scalars: st.SearchStrategy[Scalar] = (
    st.none()
    | st.integers(-(2**64), 2**64)
    | st.floats()
    | hostile_text
    | st.sampled_from([2**63, -(2**63), float("nan"), float("inf")])
)
_rows = st.dictionaries(hostile_text, scalars, max_size=4)
_places = st.dictionaries(hostile_text, st.integers(1, 2**63), max_size=3)
_names = st.none() | hostile_text


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Reports whose every text may be hostile; rules have plain ids, as ours do."""
    return one_report(*draw(st.lists(_files(), max_size=2)))


@st.composite
def _files(draw: st.DrawFn) -> FileReport:
    file = draw(hostile_text)
    return FileReport(
        file=file,
        seen=draw(st.none() | _seen()),
        findings=tuple(draw(st.lists(_findings(file), max_size=5, unique_by=_rule_and_place))),
        skipped=tuple(draw(st.lists(_skipped, max_size=3))),
        rules_run=draw(st.integers(0, 200)),
        unreadable=draw(_names),
    )


def _rule_and_place(finding: Finding) -> tuple[str, str, str]:
    return finding.verdict, finding.rule, finding.place


@st.composite
def _findings(draw: st.DrawFn, file: str) -> Finding:
    return Finding(
        rule=draw(st.sampled_from(["DB401", "DB402", "DB403"])),
        name=draw(hostile_text),
        verdict=draw(st.sampled_from(VERDICTS)),
        file=file,
        message=draw(hostile_text),
        expected=draw(hostile_text),
        table=draw(_names),
        column=draw(_names),
        count=draw(st.integers(1, 2**63)),
        first_rowid=draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        examples=tuple(draw(st.lists(_rows, max_size=2))),
        context=draw(_rows),
        erratum=draw(_names),
        sql=draw(_names),
        elsewhere=draw(_places),
    )


_skipped = st.builds(Skipped, st.just("DB404"), hostile_text, hostile_text)


def _seen() -> st.SearchStrategy[Seen]:
    integers = st.none() | st.integers(-(2**63), 2**63)
    texts = st.lists(hostile_text, max_size=3).map(tuple)
    return st.builds(
        Seen,
        carrier=hostile_text,
        schema_version=_names,
        revision=hostile_text,
        product=_names,
        level=_names,
        ranks=st.lists(st.integers(-(2**63), 2**63), max_size=3).map(tuple),
        devices=st.lists(st.integers(), max_size=3).map(tuple),
        start_ns=integers,
        end_ns=integers,
        rows=st.dictionaries(hostile_text, st.integers(0, 2**63), max_size=3),
        coverage=st.builds(Coverage, st.integers(0, 9), st.integers(0, 9), texts),
        readings=texts,
    )
