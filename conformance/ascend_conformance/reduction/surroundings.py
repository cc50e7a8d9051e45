"""What of a profile surrounds some rows of it: what is tied to them, what is near in time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from .items import Items
from .reducible import NEVER, Flags, Integers

NONE: Integers = np.empty(0, np.int64)

NEAR = 3
"""Rows before and behind a row in its part that are guessed to be enough."""


class Surroundings:
    """Rows of a profile, by rows that they may be needed with."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self._ordered: dict[int, Integers] = {}

    @cached_property
    def components(self) -> list[Integers]:
        """All rows, those that ties hold together in one array, by time."""
        return self.items.components(np.ones(self.items.count, np.bool_))

    @cached_property
    def _places(self) -> Integers:
        """Of each row the place of its component."""
        found = np.full(self.items.count, -1)
        for place, one in enumerate(self.components):
            found[one] = place
        return found

    @cached_property
    def fewest_with(self) -> Mapping[int, Integers]:
        """For each part that has rows the fewest that belong together and of which one is in it,
        of those that have a time if there are any.
        """
        found: dict[int, Integers] = {}
        times = self.items.times
        for one in sorted(self.components, key=lambda one: (times[one].min() == NEVER, len(one))):
            for part in np.unique(self.items.holder[one]).tolist():
                found.setdefault(part, one)
        return found

    def around(self, rows: Integers, width: int = 0) -> Integers:
        """Some rows, all that ties hold together with them, and what comes before and behind."""
        found = [rows]
        for place in np.unique(self._places[rows]).tolist():
            found += self.components[max(place - width, 0) : place + width + 1]
        return np.unique(np.concatenate(found))

    def near(self, rows: Integers) -> Integers:
        """Some rows, and those of their parts next to them in time, as what they overlap is."""
        return self._next_to(rows, NEAR, NEAR)

    def before(self, rows: Integers) -> Integers:
        """Some rows, and those of their parts that begin last before, as what holds them does."""
        return self._next_to(rows, 1, 0)

    def _next_to(self, rows: Integers, before: int, behind: int) -> Integers:
        found = [rows]
        for part in np.unique(self.items.holder[rows]).tolist():
            every = self._by_time(part)
            places = np.flatnonzero(np.isin(every, rows))
            found += [every[max(one - before, 0) : one + behind + 1] for one in places.tolist()]
        return np.unique(np.concatenate(found))

    def partners(self, rows: Integers) -> Integers:
        """Some rows, and those of their parts that have a value of a kind in common with one."""
        tied = self.items.tied_to(rows)
        holder = self.items.holder
        return tied[np.isin(holder[tied], holder[rows])]

    def bounds(self, part: int) -> Integers:
        """The first row of a part and the last one."""
        return self._by_time(part)[[0, -1]]

    def _by_time(self, part: int) -> Integers:
        if part not in self._ordered:
            rows = self.items.parts[part]
            self._ordered[part] = rows[np.argsort(self.items.times[rows], kind="stable")]
        return self._ordered[part]

    def of_part(self, part: int, kept: Flags) -> Integers:
        """A row of a part that is tied to some items; where there is none, one that is tied to the
        fewest.
        """
        for rows in (
            self.items.tied_to(np.flatnonzero(kept & self.items.is_row)),
            self.fewest_with.get(part, NONE),
        ):
            found: Integers = rows[self.items.holder[rows] == part][:1]
            if len(found):
                return found
        return NONE
