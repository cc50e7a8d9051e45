"""Causes as they are listed: what is wrong, what to do, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ascend_conformance.finding import Finding

from ..collapse import fair_share
from ..detail import Detail, Rules
from ..escape import visible
from ..namesets import in_few_words, spans
from ..owner import what_to_do
from ..phrases import counted, enumerated
from ..sentences import examples, fact, place
from .extent import Extent
from .gather import Cause, Gathered, Place, in_all

NAMED = 200
"""Files of a row whose names are looked at."""


class Row(NamedTuple):
    """A place of a cause. ``numbers`` and ``ranks``: its files and ranks as the filter counts them.

    ``where`` is the first bad row in the first of the files; ``left`` examples are not listed.
    """

    place: str
    files: str
    numbers: str
    ranks: str
    rows: int
    where: str
    fact: str
    examples: Sequence[str]
    left: int


class Card(NamedTuple):
    """A cause. ``key`` is unique on the page; ``left``: places that are not listed."""

    key: str
    verdict: str
    rule: str
    name: str
    follows: str
    extent: str
    fact: str
    expected: str
    action: str
    fix: str
    rows: Sequence[Row]
    left: int
    others: Sequence[Card]


class Files:
    """Numbers of files as names, and as what the filter counts."""

    def __init__(self, gathered: Gathered, names: Sequence[str]) -> None:
        self._files, self._names = gathered.files, names
        self._of_rank = {rank: at for at, rank in enumerate(gathered.ranks)}
        self._known: dict[tuple[object, ...], tuple[str, str, str]] = {}

    def described(self, files: Mapping[int, int], extent: Extent) -> tuple[str, str, str]:
        """The names in few words, and the spans of numbers and of ranks."""
        key = extent, *sorted(files)
        if key not in self._known:
            self._known[key] = self._described(sorted(files), extent)
        return self._known[key]

    def _described(self, numbers: Sequence[int], extent: Extent) -> tuple[str, str, str]:
        detail = extent.detail
        joined = in_few_words(self._names[number] for number in numbers[:NAMED])
        shown = [visible(name, detail.path) for name in joined[:2]]
        left = len(joined) - len(shown) + max(0, len(numbers) - NAMED)
        ranks = {
            self._of_rank[rank]
            for number in numbers
            if (seen := self._files[number].seen) is not None
            for rank in seen.ranks
        }
        listed = [number for number in numbers if number < extent.files]
        return enumerated(shown, left, "file"), spans(listed), spans(sorted(ranks))


def cards(gathered: Gathered, files: Files, rules: Rules, extent: Extent) -> list[Card]:
    """Those causes for which there is room."""
    listed = gathered.causes[: extent.causes]
    share = fair_share([len(one.names) for one in in_all(listed)], extent.rows)
    return [
        _card(cause, f"c{number}", files, rules, extent, share)
        for number, cause in enumerate(listed)
    ]


def _card(cause: Cause, key: str, files: Files, rules: Rules, extent: Extent, share: int) -> Card:
    detail, head = extent.detail, cause.head
    rule, shown = rules.get(head.rule), sorted(cause.places)[:share]
    count = (counted(cause.found, "place"), counted(cause.rows, "row"))
    return Card(
        key=key,
        verdict=head.verdict,
        rule=visible(head.rule, detail.name),
        name=visible(head.name, detail.name),
        follows=visible(cause.of or "", detail.name),
        extent=f"{', '.join(count)}, {counted(len(cause.files), 'file')}",
        fact=f"{place(head, detail)}: {fact(head, detail)}",
        expected=visible(head.expected, detail.prose),
        action=visible(what_to_do(head), detail.prose),
        fix=visible(rule.fix, detail.prose) if rule else "",
        rows=[_row(cause.places[name], files, extent) for name in shown],
        left=len(cause.names) - len(shown),
        others=[
            _card(one, f"{key}-{number}", files, rules, extent, share)
            for number, one in enumerate(cause.others.values())
        ],
    )


def _row(one: Place, files: Files, extent: Extent) -> Row:
    detail, first = extent.detail, one.first
    names, numbers, ranks = files.described(one.files, extent)
    return Row(
        place=visible(one.name, 2 * detail.name) or "the file",
        files=names,
        numbers=numbers,
        ranks=ranks,
        rows=one.rows,
        where="; ".join(_where(first, detail)) if first else "",
        fact=fact(first, detail) if first else "",
        examples=list(examples(first, detail)) if first else [],
        left=max(0, len(first.examples) - detail.examples) if first else 0,
    )


def _where(finding: Finding, detail: Detail) -> Iterator[str]:
    if finding.line is not None:
        yield f"line {finding.line:,}"
    elif finding.first_rowid is not None:
        yield f"rowid {finding.first_rowid}"
    elif finding.offset is not None:
        yield f"byte {finding.offset:,}"
    if finding.pointer is not None:
        yield visible(finding.pointer, detail.name)
