"""What the rules of text deliverables say about simulated profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from text_folders import judged

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_spec.text import Output

FORMATS: Mapping[Output, tuple[str, ...]] = {
    "pytorch": ("pytorch-db", "pytorch-text"),
    "msprof": ("msprof-db", "csv", "timeline"),
}
TEXT_RULES = Options(selection=Selection(select=("CSV", "TRC", "DOC", "XLR")), workers=1)
OF_EXPORTERS = {("CSV022", "T49"), ("TRC201", "T100")}
"""Durations of the graph engine's blocks without tab; transfers both ways on one plane."""


def findings(profile: Path) -> Iterator[tuple[str, str, str | None, str]]:
    """Rule, place, erratum and message of all but what real exporters write as well."""
    for report in judged(profile, TEXT_RULES):
        assert report.unreadable is None
        yield from (
            (one.rule, one.place, one.erratum, one.message)
            for one in report.findings
            if (one.rule, one.erratum) not in OF_EXPORTERS
        )
