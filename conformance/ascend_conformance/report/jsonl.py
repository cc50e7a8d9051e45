"""The report as JSON lines, for filters and log collectors.

Each line is an object with a ``kind``: per file one ``file``, then its ``finding`` and ``skipped``
lines, each naming its file again; ``summary`` is always the last. The objects are those of
``report.schema.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_conformance.finding import Report

from .card import RuleCard
from .collapse import collapse
from .detail import FULL, Detail
from .escape import exact, json_text
from .objects import (
    FORMAT_VERSION,
    JsonObject,
    file_object,
    finding_objects,
    skipped_objects,
    summary_object,
    with_left_out,
)


def render(report: Report, cards: Mapping[str, RuleCard], detail: Detail = FULL) -> Iterator[str]:
    """One object per line, ``kind`` first."""
    yield from (json_text(line) + "\n" for line in _objects(report, detail))


def _objects(report: Report, detail: Detail) -> Iterator[JsonObject]:
    for file in collapse(report, detail.findings).files:
        name = exact(file.file, detail.path)
        findings, more_findings = finding_objects(file, detail)
        skipped, more_skipped = skipped_objects(file, detail)
        yield with_left_out(
            {"kind": "file", **file_object(file, detail)},
            {"findings": more_findings, "skipped": more_skipped},
        )
        for finding in findings:
            yield {"kind": "finding", "file": name, **finding}
        for skip in skipped:
            yield {"kind": "skipped", "file": name, **skip}
    yield {"kind": "summary", "version": FORMAT_VERSION, **summary_object(report)}
