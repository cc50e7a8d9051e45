"""The bars of a lane as few shapes: long ones as they are, short ones as a skyline.

Whatever the number of tasks, a lane becomes at most one shape for each column of the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.intervals import Intervals, difference, joined, union

from .kinds import Kind

LONG: Final = 2
"""Columns that a bar fills at least to be drawn as it is."""
LEVELS: Final = 8
"""Heights of a skyline; any activity reaches the first of them."""


class Shown(NamedTuple):
    """What is seen of a lane of one kind; none of it overlaps another kind."""

    kind: Kind
    intervals: Intervals


class Window(NamedTuple):
    """The time on the axis, ns, and the columns that it fills."""

    start: int
    end: int
    columns: int

    @property
    def edges(self) -> Integers:
        """Times at which the columns begin, and the end."""
        length = self.end - self.start
        # Python's integers: length * columns may exceed 64 bits.
        return np.array(
            [self.start + length * number // self.columns for number in range(self.columns + 1)]
        )

    def place(self, time: Integers) -> Reals:
        """Times as columns."""
        return np.asarray(time - self.start, np.float64) * self.columns / (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Skyline:
    """Short bars: for each column how many of LEVELS are filled up to and with this kind."""

    kind: Kind
    level: Integers


@dataclass(frozen=True, slots=True)
class Blocks:
    """A lane. skylines: each hides the ones before it, from below. long: none overlaps another."""

    long: tuple[Shown, ...]
    skylines: tuple[Skyline, ...]


def seen(start: Integers, end: Integers, kind: Integers, window: Window) -> Iterator[Shown]:
    """The time of each kind within the window that no kind of higher precedence covers."""
    start, end = np.maximum(start, window.start), np.minimum(end, window.end)
    covered = union(np.empty(0, np.int64), np.empty(0, np.int64))
    for number in np.unique(kind).tolist():
        of_kind = kind == number
        own = union(start[of_kind], end[of_kind])
        yield Shown(Kind(number), difference(own, covered))
        covered = joined(covered, own)


def blocks(lane: Sequence[Shown], window: Window) -> Blocks:
    """The shapes of a lane."""
    least = LONG * (window.end - window.start) / window.columns
    edges = window.edges
    width = np.maximum(edges[1:] - edges[:-1], 1)
    long, short = [], []
    for kind, intervals in lane:
        is_long = intervals.end - intervals.start >= least
        long.append(Shown(kind, _rows(intervals, is_long)))
        short.append((kind, _time_in(_rows(intervals, ~is_long), edges) / width))
    filled = np.zeros(window.columns)
    skylines = []
    for kind, share in short:
        filled = filled + share
        level = np.ceil(np.round(filled, 9) * LEVELS).astype(np.int64)
        if share.any():
            skylines.append(Skyline(kind, np.minimum(np.where(share > 0, level, 0), LEVELS)))
    return Blocks(tuple(one for one in long if len(one.intervals.start)), tuple(reversed(skylines)))


def _rows(intervals: Intervals, rows: npt.NDArray[np.bool_]) -> Intervals:
    return Intervals(intervals.start[rows], intervals.end[rows])


def _time_in(intervals: Intervals, edges: Integers) -> Integers:
    """How much of a union lies in each column, ns."""
    if not len(intervals.start):
        return np.zeros(len(edges) - 1, np.int64)
    total = np.cumsum(intervals.end - intervals.start)
    begun = np.searchsorted(intervals.start, edges, side="right")
    last = np.maximum(begun - 1, 0)
    beyond = np.maximum(intervals.end[last] - edges, 0)
    until: Integers = np.where(begun > 0, total[last] - beyond, 0)
    return np.diff(until)
