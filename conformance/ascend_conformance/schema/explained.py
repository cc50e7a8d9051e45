"""Findings on files that are judged by another state than their own, with what explains them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ascend_ref.states import Target
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS, Reading

from ..finding import BLOCK_FILE, TEXT, FileReport, Finding, Seen
from .explaining import explaining
from .explaining_files import explaining_blocks, explaining_texts


def with_changes(report: FileReport, target: Target, reading: Reading) -> FileReport:
    """The report with the changes of the formats at the place of each finding, where a file is
    judged by another revision, writer or epoch than the one that it is of.
    """
    seen = report.seen
    if seen is not None and seen.own is not None and seen.carrier in (TEXT, BLOCK_FILE):
        return replace(
            report, findings=tuple(_with_changes_of_files(seen, target, report.findings))
        )
    carrier = next((one for one in CARRIERS if seen and one == seen.carrier), None)
    if seen is None or seen.own is None or carrier is None:
        return report
    schema, found = catalog().at(seen.revision, carrier, reading), catalog().revision(seen.own)
    findings = (
        replace(one, changes=explaining(found, schema, one.table, one.column))
        for one in report.findings
    )
    return replace(report, findings=tuple(findings))


def _with_changes_of_files(
    seen: Seen, target: Target, findings: Iterable[Finding]
) -> Iterator[Finding]:
    for one in findings:
        if seen.carrier == BLOCK_FILE:
            changes = explaining_blocks(seen.own or target.name, target.name, one)
        else:
            own = seen.own_writers.get(one.file)
            changes = explaining_texts(own, target.name, one) if own else ()
        yield replace(one, changes=changes)
