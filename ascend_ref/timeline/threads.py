"""Calls in the order in which their threads made them, and the numbers of those of Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.nesting import Heights
from ascend_ref.spill import Spill, batches, sorted_rows

from .lookup import NONE, Lookup


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


def nested(
    spill: Spill, rows: Integers, thread: Integers, start: Integers, end: Integers
) -> tuple[Integers, Integers]:
    """The numbers of calls that nest, as the exporter of the framework counts them.

    For each call how many calls and returns of its thread came before, and that number of the call
    that made it, 0 where none is known. rows: which rows of the columns hold these calls.

    Source: exporter of the framework, parser of the Python trace; so in the real timeline, but for
    the calls that the exporter leaves out (data/text/pytorch_level1_rank0).
    """
    identity, parent = (spill.changeable(len(rows), 0) for _ in range(2))
    calls = ByThread(spill, rows, thread, start, end)
    places = Lookup(rows, spill).rows(calls.row)
    for bounds in calls.bounds.values():
        row, begin, stop = places[bounds], calls.start[bounds], calls.end[bounds]
        numbers = _numbers(spill, begin, stop)
        heights = Heights(stop, spill)
        for batch in spill.batches(len(row)):
            place = np.arange(batch.start, batch.stop)
            identity[row[batch]] = numbers[batch]
            above = heights.last_reaching(place, begin[batch] + 1)
            known = np.flatnonzero(above != NONE)
            parent[row[batch][known]] = numbers[above[known]]
    return identity, parent


def _numbers(spill: Spill, begin: Integers, stop: Integers) -> Integers:
    """Of the calls of one thread, outer ones first."""
    ended = spill.taken(stop, sorted_rows(spill, stop))
    empties = spill.array(_empties(begin, stop), np.int64)

    def numbers(place: Integers, begin: Integers) -> Integers:
        # A call that ends as another begins has returned before; only one without length that
        # stands behind it has not.
        returned = np.searchsorted(ended, begin, side="right")
        later = empties[np.searchsorted(starts, begin, side="right")] - empties[place]
        return place + returned - later

    starts = begin
    return spill.made(numbers, spill.rows(len(begin)), begin)


def _empties(begin: Integers, stop: Integers) -> Iterator[Integers]:
    """How many calls without length stand before each place, the one behind all too."""
    count = np.zeros(1, np.int64)
    yield count
    for batch in batches(len(begin)):
        counts = count + np.cumsum(begin[batch] == stop[batch])
        count = counts[-1:]
        yield counts
