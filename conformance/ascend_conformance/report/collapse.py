"""Order, folding and unfolding of findings.

A fault that repeats in 500 columns is one fact with 500 places. Past a threshold each rule keeps
its first places in full; the others stay in ``elsewhere`` of the last one kept, with their counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from ascend_conformance.finding import VERDICTS, FileReport, Finding, Report, split_place

from .detail import FULL, Detail


@dataclass(frozen=True, slots=True)
class Listed:
    """A file with those of its findings that are spelled out; ``left_out`` counts places beyond."""

    file: FileReport
    findings: tuple[Finding, ...]
    left_out: int


def collapse(report: Report, most: int = FULL.findings) -> Report:
    """The report in canonical order, with at most ``most`` findings per file or one per rule.

    Nothing is lost: every folded place stays, with its count, in ``elsewhere`` of the last finding
    of the same rule and verdict.
    """
    files = sorted(report.files, key=lambda file: file.file)
    return replace(
        report, files=tuple(replace(file, findings=fold(file.findings, most)) for file in files)
    )


def fold(findings: Iterable[Finding], most: int) -> tuple[Finding, ...]:
    """The findings of one file, sorted; folded when there are more than ``most``."""
    ordered = in_order(findings)
    if len(ordered) <= most:
        return tuple(ordered)
    # What has a cause is not counted, and so not folded into what is.
    groups = [
        tuple(group)
        for _, group in groupby(ordered, key=lambda one: (sort_key(one)[:2], one.cause is None))
    ]
    share = fair_share([len(group) for group in groups], most)
    return tuple(kept for group in groups for kept in _fold_group(group, share))


def listed(report: Report, detail: Detail) -> list[Listed]:
    """The files in their order, with what is listed of each at this level of detail."""
    return [
        Listed(file, file.findings[: detail.most], sum(map(places, file.findings[detail.most :])))
        for file in collapse(report, detail.findings).files
    ]


def places(finding: Finding) -> int:
    """At how many places the finding stands, itself included."""
    return 1 + len(finding.elsewhere)


def unfold(finding: Finding) -> Iterator[Finding]:
    """The finding alone, then one finding for each place that was folded into it."""
    yield replace(finding, elsewhere={}) if finding.elsewhere else finding
    for place, count in finding.elsewhere.items():
        table, column = split_place(place)
        yield replace(
            finding,
            message=f"{finding.name}, as at {finding.place or 'the file'}: {count:,} rows",
            table=table,
            column=column,
            count=count,
            first_rowid=None,
            offset=None,
            pointer=None,
            line=None,
            examples=(),
            context={},
            sql=None,
            elsewhere={},
        )


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By :func:`sort_key`; what explains others comes first, and what it explains last."""
    every = list(findings)
    causes = {one.cause for one in every}

    def key(one: Finding) -> tuple[int, bool, bool, tuple[int, str, str, str]]:
        plain = sort_key(one)
        return plain[0], one.rule not in causes, one.cause is not None, plain

    return sorted(every, key=key)


def sort_key(finding: Finding) -> tuple[int, str, str, str]:
    """Gravest verdict first, then rule, file and place."""
    return VERDICTS.index(finding.verdict), finding.rule, finding.file, finding.place


def fair_share(sizes: list[int], most: int) -> int:
    """The largest number of findings that each rule may keep so that all fit into ``most``."""
    share = 1
    while share < most and sum(min(size, share + 1) for size in sizes) <= most:
        share += 1
    return share


def _fold_group(group: tuple[Finding, ...], share: int) -> tuple[Finding, ...]:
    if len(group) <= share:
        return group
    last = group[share - 1]
    elsewhere = Counter(last.elsewhere)
    for finding in group[share:]:
        elsewhere[finding.place] += finding.count
        elsewhere.update(finding.elsewhere)
    return (*group[: share - 1], replace(last, elsewhere=dict(sorted(elsewhere.items()))))
