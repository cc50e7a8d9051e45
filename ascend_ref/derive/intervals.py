"""Algebra of half-open time intervals on arrays, as overlap tables and step traces define it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.spill import Spill, batches, is_ascending, sorted_rows

EARLIEST, LATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Intervals(NamedTuple):
    """Sorted intervals that neither intersect nor touch, none of them empty."""

    start: Integers
    end: Integers

    @property
    def total(self) -> int:
        """Sum of the lengths."""
        return int((self.end - self.start).sum())


def union(start: Integers, end: Integers) -> Intervals:
    """Any intervals merged; touching ones are joined, empty ones vanish."""
    forward = start <= end
    if not forward.all():
        start, end = start[forward], end[forward]
    if (start[1:] >= start[:-1]).all():
        reach = np.maximum.accumulate(end)
    else:
        # A gap lies before the n-th start where the first n ends do not reach it, and n intervals
        # have ended there only if they are those that began before: which end belongs to which
        # start is of no account, and two sorts are faster than one that keeps the pairs.
        start, reach = np.sort(start), np.sort(end)
    apart = np.flatnonzero(start[1:] > reach[:-1])
    first = np.concatenate([[0], apart + 1])[: len(start)]
    last = np.concatenate([apart, [len(start) - 1]])[: len(start)]
    merged = Intervals(start[first], reach[last])
    filled = merged.start < merged.end
    return merged if filled.all() else Intervals(merged.start[filled], merged.end[filled])


def long_union(spill: Spill, start: Integers, end: Integers) -> Intervals:
    """As :func:`union`, of however many intervals."""
    order = None if is_ascending(spill, start) else sorted_rows(spill, start)
    return Intervals(*spill.arrays(_merged(start, end, order), 2, np.int64))


def _merged(start: Integers, end: Integers, order: Integers | None) -> Iterator[Intervals]:
    last = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    for batch in batches(len(start)):
        rows = batch if order is None else order[batch]
        found = union(
            np.concatenate([last.start, start[rows]]), np.concatenate([last.end, end[rows]])
        )
        # What follows may still touch the last one.
        yield Intervals(found.start[:-1], found.end[:-1])
        last = Intervals(found.start[-1:], found.end[-1:])
    yield last


def ends(intervals: Intervals) -> Intervals:
    """The first start and the last end of a union."""
    return Intervals(intervals.start[:1], intervals.end[-1:])


def joined(one: Intervals, other: Intervals) -> Intervals:
    """What lies in at least one of two unions."""
    return union(np.concatenate([one.start, other.start]), np.concatenate([one.end, other.end]))


def intersection(one: Intervals, other: Intervals) -> Intervals:
    """What lies in both of two unions."""
    low = np.searchsorted(other.end, one.start, side="right")
    count = np.maximum(np.searchsorted(other.start, one.end, side="left") - low, 0)
    own = np.repeat(np.arange(len(one.start)), count)
    skipped = np.repeat(np.cumsum(count) - count, count)
    place = np.arange(len(own)) - skipped + low[own]
    return Intervals(
        np.maximum(one.start[own], other.start[place]), np.minimum(one.end[own], other.end[place])
    )


def difference(minuend: Intervals, subtrahend: Intervals) -> Intervals:
    """What of one union lies outside of another."""
    outside = Intervals(
        np.concatenate([[EARLIEST], subtrahend.end]), np.concatenate([subtrahend.start, [LATEST]])
    )
    return intersection(minuend, outside)


def clipped(intervals: Intervals, start: int, end: int) -> Intervals:
    """What of a union lies within ``start`` and ``end``."""
    first = int(np.searchsorted(intervals.end, start, side="right"))
    stop = int(np.searchsorted(intervals.start, end, side="left")) if start < end else first
    own = slice(first, max(first, stop))
    return Intervals(np.maximum(intervals.start[own], start), np.minimum(intervals.end[own], end))
