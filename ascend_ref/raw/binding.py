"""Which call a moment lies in, on its own thread (raw-prof 5).

Times are ticks of the host's counter. Calls of the runtime hold nothing: what they report belongs
to the call that they are part of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.nesting import Heights
from ascend_ref.spill import Spill, first_of_each, sorted_rows

from .vocabulary import level


@dataclass(frozen=True)
class Tree:
    """Calls that hold others, each with its place in a table of calls, a thread after the other.

    A call that is as long as another holds it if its layer is the higher one.
    """

    spill: Spill
    place: Integers
    thread: Integers
    start: Integers
    end: Integers
    level: Integers

    @classmethod
    def of(
        cls,
        thread: Integers,
        start: Integers,
        end: Integers,
        levels: Integers,
        spill: Spill | None = None,
    ) -> Tree:
        """The tree of a table of calls. Those without any length hold nothing."""
        spill = Spill() if spill is None else spill
        holders = [level(name) for name in ("ACL", "MODEL", "NODE", "HCCL_NODE")]
        place = spill.where(
            lambda of, begin, close: np.isin(of, holders) & (close > begin), levels, start, end
        )

        def key(column: Integers, sign: int = 1) -> Integers:
            return spill.made(lambda row: sign * spill.gathered(column, row), place)

        order = sorted_rows(spill, key(thread), key(start), key(end, -1), key(levels, -1))
        place = spill.taken(place, order)
        return cls(spill, place, *(spill.taken(one, place) for one in (thread, start, end, levels)))

    @cached_property
    def parents(self) -> Integers:
        """For each call the row of the innermost one that it is part of, NONE without one."""
        found = self._heights.last_reaching(self.spill.rows(len(self._ends)), self._ends)
        return self.spill.made(self._of_thread, found, self.thread)

    def holding(self, thread: Integers, moment: Integers) -> Integers:
        """The row of the innermost call that a moment is within: after its start, up to its end."""
        if not len(self.place):
            return self.spill.made(lambda at: np.full(len(at), NONE), moment)
        at = self._ranked(thread, moment)
        before = self.spill.made(self._before, at)
        found = self._heights.last_reaching(before, at)
        return self.spill.made(self._of_thread, found, thread)

    def _before(self, ranked: Integers) -> Integers:
        """How many calls had begun."""
        found: Integers = np.searchsorted(self._starts, ranked, side="left")
        return found

    def levels(self, rows: Integers) -> Integers:
        """The layers of rows, NONE of none."""
        return self.spill.values_at(self.level, rows)

    def up_to(self, rows: Integers, wanted: int) -> Integers:
        """For each row the nearest call of a layer that it is or is part of, NONE without one."""
        return self.spill.made(lambda row: self._up_to(row, wanted), rows)

    def _up_to(self, rows: Integers, wanted: int) -> Integers:
        found = rows.copy()
        while True:
            known = np.flatnonzero(found >= 0)
            climbs = known[self.spill.gathered(self.level, found[known]) != wanted]
            if not len(climbs):
                return found
            found[climbs] = self.spill.gathered(self.parents, found[climbs])

    def _of_thread(self, row: Integers, thread: Integers) -> Integers:
        """Rows that are calls of a thread, NONE for others."""
        known = row >= 0
        own = self.spill.gathered(self.thread, np.where(known, row, 0))
        return np.where(known & (own == thread), row, NONE)

    @cached_property
    def _threads(self) -> Integers:
        changes = first_of_each(self.spill, self.thread)
        return self.spill.taken(self.thread, changes)

    @cached_property
    def _heights(self) -> Heights:
        return Heights(self._ends, self.spill)

    @cached_property
    def _bounds(self) -> Integers:
        every = self.spill.joined(self.start, self.end)
        return self.spill.taken(every, sorted_rows(self.spill, every))

    @cached_property
    def _starts(self) -> Integers:
        return self._ranked(self.thread, self.start)

    @cached_property
    def _ends(self) -> Integers:
        return self._ranked(self.thread, self.end)

    def _ranked(self, thread: Integers, moment: Integers) -> Integers:
        """Places of moments among the bounds of all calls, each thread behind the one before.

        Even at a bound and odd between two, so that no number of ticks is too large.
        """
        bounds, threads = self._bounds, self._threads

        def ranked(of: Integers, ticks: Integers) -> Integers:
            at = np.searchsorted(bounds, ticks, side="left")
            exact = bounds[np.minimum(at, len(bounds) - 1)] == ticks
            found: Integers = np.searchsorted(threads, of) * (2 * len(bounds) + 2) + 2 * at + exact
            return found

        return self.spill.made(ranked, thread, moment)
