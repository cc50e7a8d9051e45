"""Simulated jobs of MindSpore with what parsers make of them, and what check finds in folders."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport

REAL = Path(__file__).parents[3] / "../shared/data/mindspore"


def judged(path: Path) -> FileReport:
    """The verdict on the only thing that there is to judge."""
    (report,) = check([path]).files
    return report


def counts(report: FileReport) -> dict[str, int]:
    """How many rows each rule finds."""
    found: Counter[str] = Counter()
    for one in report.findings:
        found[one.rule] += one.count
    return dict(found)
