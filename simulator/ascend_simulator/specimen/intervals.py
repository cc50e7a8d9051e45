"""The interval algebra of ascend_ref on lists of pairs, which few and small things need."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ascend_ref.derive import intervals as algebra

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals merged: sorted, disjoint, none empty, touching ones joined."""
    return _pairs(_merged(intervals))


def difference(minuend: list[Interval], subtrahend: list[Interval]) -> list[Interval]:
    """What of one union lies outside of another."""
    return _pairs(algebra.difference(_merged(minuend), _merged(subtrahend)))


def total(intervals: Iterable[Interval]) -> int:
    """Sum of the lengths in ns."""
    return sum(end - start for start, end in intervals)


def _merged(intervals: Iterable[Interval]) -> algebra.Intervals:
    pairs = np.array(list(intervals), np.int64).reshape(-1, 2)
    return algebra.union(pairs[:, 0], pairs[:, 1])


def _pairs(intervals: algebra.Intervals) -> list[Interval]:
    return list(zip(intervals.start.tolist(), intervals.end.tolist(), strict=True))
