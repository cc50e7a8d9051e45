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
from ascend_ref.derive.matching import values_at
from ascend_ref.derive.nesting import last_reaching

from .vocabulary import level


@dataclass(frozen=True)
class Tree:
    """Calls that hold others, each with its place in a table of calls, a thread after the other.

    A call that is as long as another holds it if its layer is the higher one.
    """

    place: Integers
    thread: Integers
    start: Integers
    end: Integers
    level: Integers

    @classmethod
    def of(cls, thread: Integers, start: Integers, end: Integers, levels: Integers) -> Tree:
        """The tree of a table of calls. Those without any length hold nothing."""
        holders = np.isin(levels, [level(name) for name in ("ACL", "MODEL", "NODE", "HCCL_NODE")])
        place = np.flatnonzero(holders & (end > start))
        order = np.lexsort((-levels[place], -end[place], start[place], thread[place]))
        place = place[order]
        return cls(place, thread[place], start[place], end[place], levels[place])

    @cached_property
    def parents(self) -> Integers:
        """For each call the row of the innermost one that it is part of, NONE without one."""
        found = last_reaching(self._ends, np.arange(len(self._ends)), self._ends)
        outer = np.where(found >= 0, found, 0)
        return np.where((found >= 0) & (self.thread[outer] == self.thread), found, NONE)

    def holding(self, thread: Integers, moment: Integers) -> Integers:
        """The row of the innermost call that a moment is within: after its start, up to its end."""
        if not len(self.place):
            return np.full(len(moment), NONE)
        at = self._ranked(thread, moment)
        before = np.searchsorted(self._starts, at, side="left")
        found = last_reaching(self._ends, before, at)
        inner = np.where(found >= 0, found, 0)
        return np.where((found >= 0) & (self.thread[inner] == thread), found, NONE)

    def levels(self, rows: Integers) -> Integers:
        """The layers of rows, NONE of none."""
        return values_at(self.level, rows)

    def up_to(self, rows: Integers, wanted: int) -> Integers:
        """For each row the nearest call of a layer that it is or is part of, NONE without one."""
        found = rows.copy()
        while True:
            climbs = (found >= 0) & (self.levels(found) != wanted)
            if not climbs.any():
                return found
            found[climbs] = self.parents[found[climbs]]

    @cached_property
    def _threads(self) -> Integers:
        return np.unique(self.thread)

    @cached_property
    def _bounds(self) -> Integers:
        return np.sort(np.concatenate([self.start, self.end]))

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
        bounds = self._bounds
        at = np.searchsorted(bounds, moment, side="left")
        exact = bounds[np.minimum(at, len(bounds) - 1)] == moment
        place = np.searchsorted(self._threads, thread)
        found: Integers = place * (2 * len(bounds) + 2) + 2 * at + exact
        return found
