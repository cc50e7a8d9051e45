"""Algebra of half-open time intervals, as the overlap tables and StepTraceTime define it."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals merged: sorted, disjoint, none empty, touching ones joined."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if start == end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def difference(minuend: list[Interval], subtrahend: list[Interval]) -> list[Interval]:
    """What of one union lies outside of another."""
    rest: list[Interval] = []
    for start, end in minuend:
        reached = start
        for other_start, other_end in subtrahend:
            if other_end <= reached or end <= other_start:
                continue
            if reached < other_start:
                rest.append((reached, other_start))
            reached = other_end
        if reached < end:
            rest.append((reached, end))
    return rest


def total(intervals: Iterable[Interval]) -> int:
    """Sum of the lengths in ns."""
    return sum(end - start for start, end in intervals)
