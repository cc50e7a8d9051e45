"""Calls in the order in which their threads made them."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.nesting import Heights
from ascend_ref.spill import Spill, sorted_rows

from .lookup import NONE


class ByThread:
    """Calls by thread, start, and longer ones first. row: of each. bounds: places of each thread.

    rows: which rows of the columns hold these calls.
    """

    def __init__(
        self, spill: Spill, rows: Integers, thread: Integers, start: Integers, end: Integers
    ) -> None:
        own = [spill.taken(column, rows) for column in (thread, start, end)]
        order = sorted_rows(spill, own[0], own[1], spill.made(np.invert, own[2]))
        ordered, self.start, self.end, self.row = (
            spill.taken(column, order) for column in (*own, rows)
        )
        first: dict[int, int] = {}
        for batch in spill.batches(len(ordered)):
            threads, place = np.unique(ordered[batch], return_index=True)
            for one, own in zip(threads.tolist(), (place + batch.start).tolist(), strict=True):
                first.setdefault(one, own)
        stops = [*first.values(), len(ordered)][1:]
        self.bounds = {
            one: slice(low, high) for (one, low), high in zip(first.items(), stops, strict=True)
        }


class OpenCalls:
    """Finds the innermost of the calls that are open. The arguments are as for ByThread."""

    def __init__(
        self, spill: Spill, rows: Integers, thread: Integers, start: Integers, end: Integers
    ) -> None:
        self._calls = ByThread(spill, rows, thread, start, end)
        self._heights = Heights(self._calls.end, spill)

    def innermost(self, thread: Integers, moment: Integers) -> Integers:
        """The row that is innermost on a thread at a moment, both ends included; NONE if none."""
        calls = self._calls
        before, first = np.zeros_like(thread), np.zeros_like(thread)
        for one in np.unique(thread).tolist():
            if one in calls.bounds:
                here, bounds = thread == one, calls.bounds[one]
                place = np.searchsorted(calls.start[bounds], moment[here], side="right")
                first[here], before[here] = bounds.start, bounds.start + place
        place = self._heights.last_reaching(before, moment)
        return np.where(place >= first, calls.row[place], NONE) if len(calls.row) else place
