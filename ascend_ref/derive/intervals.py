"""Algebra of half-open time intervals on arrays, as overlap tables and step traces define it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers

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
    filled = start < end
    start, end = start[filled], end[filled]
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    apart = np.flatnonzero(start[1:] > reach[:-1])
    first = np.concatenate([[0], apart + 1])[: len(start)]
    last = np.concatenate([apart, [len(start) - 1]])[: len(start)]
    return Intervals(start[first], reach[last])


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
    return intersection(intervals, union(np.array([start]), np.array([end])))
