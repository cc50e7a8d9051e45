"""Which slices of a lane are sent: as many as a screen can show."""

from __future__ import annotations

import numpy as np

from .tables import Integers, Timeline
from .times import LATEST

PARTS = 1000
"""A window is seen in so many parts."""


def on_screen(timeline: Timeline, lane: int, start: int, end: int) -> list[tuple[int, int]]:
    """Place and row of the slices to send of a lane, for a window in absolute nanoseconds.

    A slice is in the window if it touches it. Of a window below 1000 ns all of them are sent. Of a
    longer one, in each row: of the slices from one on that start within a thousandth of the window
    behind it, the longest, of equal ones the last; then the next slice begins such a stretch. The
    first stretch begins with the window.
    """
    unit = (end - start) // PARTS
    start, end = min(start, LATEST), min(end, LATEST)
    places, rows = timeline.slices_of(lane), timeline.depths_of(lane)
    starts = np.asarray(timeline.slices.start)[places]
    ends = np.asarray(timeline.slices.end)[places]
    within = np.flatnonzero((ends >= start) & (starts <= end))
    order = within[np.lexsort((places[within], starts[within], rows[within]))]
    chosen = order if unit == 0 else _sampled(order, rows, starts, ends, start, unit)
    return list(zip(places[chosen].tolist(), rows[chosen].tolist(), strict=True))


def _sampled(
    order: Integers, rows: Integers, starts: Integers, ends: Integers, start: int, unit: int
) -> Integers:
    """Of slices by row and start those that stand for the others of their stretch."""
    row_begins = np.flatnonzero(np.diff(rows[order], prepend=-1))
    found = [
        row if len(row) == 1 else _longest_of_each(row, starts, ends, start, unit)
        for row in np.split(order, row_begins)[1:]
    ]
    return np.concatenate(found) if found else order


def _longest_of_each(
    row: Integers, starts: Integers, ends: Integers, start: int, unit: int
) -> Integers:
    begins, lengths = starts[row], ends[row] - starts[row]
    chosen = []
    limit, first = start + unit, 0
    while first < len(row):
        behind = int(np.searchsorted(begins, min(limit, LATEST), side="right"))
        if behind > first:
            stretch = lengths[first:behind][::-1]
            chosen.append(row[behind - 1 - int(np.argmax(stretch))])
            first = behind
        if first < len(row):
            limit = int(begins[first]) + unit
    return np.array(chosen, np.int64)
