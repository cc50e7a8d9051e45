"""The way from a copy that shows too much to one that shows nothing forbidden.

Copies are changed by what their findings point at and name, then by what they do not have, and by
what they do; the one that shows least is changed further. Copies that show the same are of one
kind, of which the smallest is enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
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

FEW_POINTED = 6
"""Rows that findings point at, each of which is tried alone."""

FEW_ROWS = 24
"""Rows of a copy, each of which is left out for a try."""


RULE, FINDING = 40, 8
"""Rows that are as bad as a rule more, and as a finding more: rows are left out afterwards."""

LATER = 60
"""Rows, or what is as bad, that others may have more before changes that no finding names."""


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


class Repairs:
    """Changes of copies of a profile.

    ``judge``: what a copy shows, ``None`` where not what is looked for. ``broken``: those of some
    rules that the profile itself breaks.
    """

    def __init__(
        self,
        items: Items,
        surroundings: Surroundings,
        judge: Callable[[Flags], Attempt | None],
        broken: Callable[[Set[str]], Set[str]],
    ) -> None:
        self._items, self._surroundings = items, surroundings
        self._judge, self._broken = judge, broken

    def cleanest(self, attempts: Collection[Attempt], most_rows: int = MOST_ROWS) -> Attempt | None:
        """An attempt that shows nothing forbidden, else one that shows only what the profile does,
        else ``None``.
        """

        def kind(attempt: Attempt) -> tuple[Set[str], tuple[int, ...]]:
            return frozenset(attempt.unwanted), tuple(attempt.pointed.tolist())

        def size(attempt: Attempt) -> int:
            return int(attempt.items[self._items.is_row].sum())

        least = {kind(one): size(one) for one in attempts}
        known: dict[str, bool] = {}
        tolerable: Attempt | None = None

        def rules(attempt: Attempt) -> Set[str]:
            """Those that the profile does not break, as far as it was asked."""
            return {rule for rule in rules_of(attempt.unwanted) if not known.get(rule)}

        def extent(attempt: Attempt) -> tuple[int, int]:
            return len(rules(attempt)), len(attempt.unwanted)

        def rank(attempt: Attempt) -> int:
            return size(attempt) + RULE * len(rules(attempt)) + FINDING * len(attempt.unwanted)

        def open_(attempt: Attempt) -> None:
            opened.append(_Open(attempt, self._directed(attempt), 0))
            opened.append(_Open(attempt, self._further(attempt), LATER))

        opened: list[_Open] = []
        for attempt in attempts:
            open_(attempt)
        left = MOST_CHANGES
        while opened:
            best = min(opened, key=lambda one: one.later + rank(one.attempt))
            attempt = best.attempt
            if not attempt.unwanted:
                return attempt
            if not rules(attempt) <= known.keys():
                broken = self._broken(rules(attempt))
                known |= {rule: rule in broken for rule in rules(attempt)}
                continue
            if not rules(attempt) and tolerable is None:
                tolerable, left = attempt, min(left, FEW_ROWS)
            for changed in best.changes:
                if left <= 0:
                    return tolerable
                if int(self._items.whole(changed)[self._items.is_row].sum()) >= most_rows:
                    continue
                found = self._judge(changed)
                left -= 1
                if found is None:
                    continue
                if size(found) >= least.get(kind(found), most_rows):
                    continue
                least[kind(found)] = size(found)
                open_(found)
                if extent(found) < extent(attempt):
                    break
            else:
                opened = [one for one in opened if one is not best]
        return tolerable

    def _directed(self, attempt: Attempt) -> Iterator[Flags]:
        """With and without what findings name and point at."""
        kept, pointed = attempt.items, attempt.pointed
        named = self._named(attempt.unwanted)
        absent = [part for part in named if not kept[part] and kept[self._items.holder[part]]]
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
        for part in named:
            if kept[part]:
                yield self._without(kept, np.array([part]))
        for row in pointed[:FEW_POINTED, None] if len(pointed) > 1 else ():
            yield self._without(kept, row)
            yield self._items.with_rows(kept, self._items.tied_to(row))
            yield self._items.with_rows(kept, self._surroundings.before(row))
        if len(pointed):
            yield self._items.with_rows(kept, self._surroundings.near(pointed))
            yield self._items.with_rows(kept, self._surroundings.around(pointed))
            for part in np.unique(self._items.holder[pointed]).tolist():
                yield self._items.with_rows(kept, self._surroundings.bounds(part))
        yield self._items.with_rows(kept, self._items.tied_to(rows))

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
    def _without(kept: Flags, some: Integers) -> Flags:
        found = kept.copy()
        found[some] = False
        return found

    def _named(self, others: Mapping[str, str]) -> list[int]:
        """The parts that findings name."""
        words = set(re.findall(r"\w+", " ".join(others.values())))
        return [part for part, name in self._names.items() if name in words]

    @cached_property
    def _names(self) -> Mapping[int, str]:
        names: dict[int, str] = {}
        for file, bounds in zip(self._items.files, self._items.bounds, strict=True):
            names |= dict(zip(range(bounds.parts, bounds.rows), file.parts, strict=True))
        return names
