"""The way from a copy that shows too much to one that shows nothing forbidden.

Copies are changed by what their findings point at and name, then by what they do not have, and by
what they do; the one that shows least is changed further. Copies that show the same are of one
kind, of which the smallest is enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .items import Items
from .reducible import Flags, Integers
from .sought import rules_of
from .surroundings import Surroundings

MOST_ROWS = 300
"""Rows of a copy that is changed: judging more takes too long."""

MOST_CHANGES = 120
"""Copies that are judged on the way to one that shows nothing forbidden."""

MOST_WITH_LITTLE = 30
"""Copies that are still judged when one shows only what the profile does, first others."""

FEW_POINTED = 6
"""Rows that findings point at, and rows of the same parts, each of which is tried alone."""

FEW_ROWS = 24
"""Rows of a copy, each of which is left out for a try."""


RULE, FINDING = 40, 8
"""Rows that are as bad as a rule more, and as a finding more: rows are left out afterwards."""

LITTLE = 150
"""Rows that are as bad as findings that are all of rules that the profile breaks."""

LATER = 0, 16, 60
"""Rows, or what is as bad, that others may have more before what findings point at and name is
changed, what is next to it, and what no finding names.
"""


class Attempt(NamedTuple):
    """Items that show what is looked for, and what else that is forbidden.

    ``pointed``: the rows that the findings on what is forbidden point at.
    """

    items: Flags
    unwanted: Mapping[str, str]
    pointed: Integers


class _Open(NamedTuple):
    attempt: Attempt
    changes: Iterator[Flags]
    later: int


class _Way:
    """What was found on the way to a copy that shows nothing forbidden, and what is still open.

    ``is_row``: which items are rows. ``broken``: as of :class:`Repairs`.
    """

    def __init__(self, is_row: Flags, broken: Callable[[Set[str]], Set[str]]) -> None:
        self._is_row, self._ask = is_row, broken
        self._broken: dict[str, bool] = {}
        self._opened: list[_Open] = []
        self._tried: set[bytes] = set()
        self._fewest: dict[tuple[Set[str], tuple[int, ...]], int] = {}

    def open(self, attempt: Attempt, *changes: Iterator[Flags]) -> None:
        """Take up an attempt, with its changes, each of which is tried later than the ones before;
        not where another one shows the same with as few rows.
        """
        kind = frozenset(attempt.unwanted), tuple(attempt.pointed.tolist())
        rows = self.rows_of(attempt.items)
        if rows < self._fewest.get(kind, rows + 1):
            self._fewest[kind] = rows
            self._opened += [
                _Open(attempt, one, later) for one, later in zip(changes, LATER, strict=True)
            ]

    def close(self, one: _Open) -> None:
        """All changes of an attempt were tried."""
        self._opened = [other for other in self._opened if other is not one]

    def drop(self, attempt: Attempt) -> None:
        """An attempt shows more than was known."""
        self._opened = [other for other in self._opened if other.attempt is not attempt]

    def next(self) -> _Open | None:
        """What is nearest to nothing forbidden; the profile was asked for all that it shows."""
        while self._opened:
            best = min(self._opened, key=lambda one: one.later + self._distance(one.attempt))
            rules = rules_of(best.attempt.unwanted)
            if rules <= self._broken.keys():
                return best
            broken = self._ask(rules)
            self._broken |= {rule: rule in broken for rule in rules}
        return None

    def extent(self, attempt: Attempt) -> tuple[int, int]:
        """The number of rules that the profile does not break, as far as it was asked, and of all
        findings.
        """
        rules = [rule for rule in rules_of(attempt.unwanted) if not self._broken.get(rule)]
        return len(rules), len(attempt.unwanted)

    def least(self, found: Attempt | None) -> Attempt:
        """The best of what is open, or what was found: by rules that the profile does not break,
        by findings if there are any, by rules that it does break, and by rows.
        """
        attempts = [one.attempt for one in self._opened] + ([found] if found else [])
        return min(attempts, key=self._worth)

    def _worth(self, attempt: Attempt) -> tuple[int, int, int]:
        rules, findings = self.extent(attempt)
        others = findings if rules else len(rules_of(attempt.unwanted))
        return rules, others, self.rows_of(attempt.items)

    def is_new(self, kept: Flags, most_rows: int) -> bool:
        """Whether a copy was not tried yet, and has fewer rows."""
        copy = np.packbits(kept).tobytes()
        is_new = copy not in self._tried and self.rows_of(kept) < most_rows
        self._tried.add(copy)
        return is_new

    def rows_of(self, kept: Flags) -> int:
        """The number of rows."""
        return int(kept[self._is_row].sum())

    def _distance(self, attempt: Attempt) -> int:
        rules, findings = self.extent(attempt)
        is_little = findings > 0 == rules  # what the profile breaks is hardly repaired
        return (
            self.rows_of(attempt.items) + (RULE * rules or LITTLE * is_little) + FINDING * findings
        )


class Repairs:
    """Changes of copies of a profile.

    ``judge``: what a copy shows, ``None`` where not what is looked for; ``judge_by_all``: by all
    rules, not only by those that copies broke so far. ``broken``: those of some
    rules that the profile itself breaks.
    """

    def __init__(
        self,
        items: Items,
        surroundings: Surroundings,
        judge: Callable[[Flags], Attempt | None],
        judge_by_all: Callable[[Flags], Attempt],
        broken: Callable[[Set[str]], Set[str]],
    ) -> None:
        self._items, self._surroundings = items, surroundings
        self._judge, self._judge_by_all, self._broken = judge, judge_by_all, broken

    def cleanest(self, attempts: Iterable[Attempt], most_rows: int = MOST_ROWS) -> Attempt | None:
        """An attempt that shows nothing forbidden, else one that shows only what the profile does,
        else the last of those with the fewest findings, else ``None``.
        """
        way = _Way(self._items.is_row, self._broken)
        for attempt in attempts:
            way.open(attempt, *self._changes(attempt))
        least: Attempt | None = None
        judged: Attempt | None = None
        left = MOST_CHANGES
        while best := way.next():
            attempt = best.attempt
            least = way.least(least)
            if not way.extent(least)[0] and least is not judged:
                by_all = self._judge_by_all(least.items)
                if by_all.unwanted.keys() != least.unwanted.keys():
                    way.drop(least)
                    way.open(by_all, *self._changes(by_all))
                    least = judged
                    continue
                judged, left = least, min(left, MOST_WITH_LITTLE)
            if left <= 0 or not least.unwanted:
                break
            for changed in best.changes:
                if not way.is_new(self._items.whole(changed), most_rows):
                    continue
                left -= 1
                found = self._judge(changed)
                if found is not None:
                    way.open(found, *self._changes(found))
                if left <= 0 or (found and way.extent(found) < way.extent(attempt)):
                    break
            else:
                way.close(best)
        return least

    def filled(self, attempt: Attempt) -> Iterator[Attempt]:
        """An attempt with all rows of one part more, small parts first."""
        is_there = attempt.items[: len(self._items.files)]
        for part, rows in sorted(self._items.parts.items(), key=lambda one: len(one[1])):
            if is_there[self._items.holder[part]] and not attempt.items[rows].all():
                found = self._judge(self._items.with_rows(attempt.items, rows))
                if found is not None:
                    yield found

    def _changes(self, attempt: Attempt) -> Iterator[Iterator[Flags]]:
        yield self._directed(attempt)
        yield self._next_to(attempt)
        yield self._further(attempt)

    def _directed(self, attempt: Attempt) -> Iterator[Flags]:
        """With and without what findings name and point at."""
        kept, pointed = attempt.items, attempt.pointed
        named = self._named(attempt.unwanted)
        absent = [
            part for part in named.tolist() if not kept[part] and kept[self._items.holder[part]]
        ]
        rows = np.flatnonzero(kept & self._items.is_row)
        yield self._items.with_rows(kept, rows)
        if absent:
            together = kept
            for part in absent:
                together = self._with_part(together, part)
            yield together
        if len(pointed):
            yield self._without(kept, pointed)
            yield self._items.with_rows(kept, self._items.tied_to(pointed))
            yield self._items.with_rows(kept, self._surroundings.before(pointed))
        for part in absent:
            yield self._with_part(kept, part)
            if part in self._surroundings.fewest_with:
                yield self._items.with_rows(kept, self._surroundings.fewest_with[part])
        for part in named.tolist():
            if kept[part]:
                yield self._without(kept, np.array([part]))
        for row in pointed[:FEW_POINTED, None]:
            yield self._without(kept, row)
            yield self._items.with_rows(kept, self._items.tied_to(row))
            yield self._items.with_rows(kept, self._surroundings.before(row))
        for file in np.unique(self._items.holder[named])[:, None]:
            yield self._with(kept, file)
        if len(pointed):
            yield self._items.with_rows(kept, self._surroundings.near(pointed))
            yield self._items.with_rows(kept, self._surroundings.around(pointed))
            for part in np.unique(self._items.holder[pointed]).tolist():
                yield self._items.with_rows(kept, self._surroundings.bounds(part))
        yield self._items.with_rows(kept, self._items.tied_to(rows))

    def _next_to(self, attempt: Attempt) -> Iterator[Flags]:
        """With what is tied to rows in the same parts, without what is in parts that findings
        point at, and with each file.
        """
        kept, pointed = attempt.items, attempt.pointed
        rows = np.flatnonzero(kept & self._items.is_row)
        yield self._items.with_rows(kept, self._surroundings.partners(rows))
        of_same_parts = rows[np.isin(self._items.holder[rows], self._items.holder[pointed])]
        for row in np.setdiff1d(of_same_parts, pointed)[:FEW_POINTED, None]:
            yield self._without(kept, row)
        for file in range(len(self._items.files)):
            yield self._with(kept, np.array([file]))

    def _further(self, attempt: Attempt) -> Iterator[Flags]:
        """With and without each part, and without each row."""
        kept = attempt.items
        rows = np.flatnonzero(kept & self._items.is_row)
        parts = [*self._items.parts]
        for part in parts:
            if kept[part] and len(self._items.parts[part]):
                yield self._without(kept, np.array([part]))
        for row in rows.tolist() if len(rows) <= FEW_ROWS else ():
            yield self._without(kept, np.array([row]))
        for part in parts:
            if not kept[part] and kept[self._items.holder[part]]:
                yield self._with_part(kept, part)
        for part in parts:
            if kept[part] and len(self._items.parts[part]):
                yield self._items.with_rows(kept, self._surroundings.bounds(part))

    def _with_part(self, kept: Flags, part: int) -> Flags:
        return self._items.with_part(kept, part, self._surroundings.of_part(part, kept))

    @staticmethod
    def _with(kept: Flags, some: Integers) -> Flags:
        found = kept.copy()
        found[some] = True
        return found

    @staticmethod
    def _without(kept: Flags, some: Integers) -> Flags:
        found = kept.copy()
        found[some] = False
        return found

    def _named(self, others: Mapping[str, str]) -> Integers:
        """The parts that findings name."""
        words = " ".join(["", *re.findall(r"[\w-]+", " ".join(others.values())), ""])
        return np.array(
            [
                part
                for part, names in self._names.items()
                if any(f" {name} " in words for name in names)
            ],
            np.int64,
        )

    @cached_property
    def _names(self) -> Mapping[int, Sequence[str]]:
        names: dict[int, Sequence[str]] = {}
        for file, bounds in zip(self._items.files, self._items.bounds, strict=True):
            names |= dict(zip(range(bounds.parts, bounds.rows), file.labels, strict=True))
        return names
