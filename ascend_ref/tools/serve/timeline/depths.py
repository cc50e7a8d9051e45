"""In which row of its lane a slice is drawn."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

NONE = -1
"""Of a slice's flag or group: it has none."""


def depths(start: Integers, end: Integers, group: Integers) -> Integers:
    """The row of each slice of one lane, 0 at the top; slices are sorted by start.

    Each goes into the highest row that is free from its start on; a row is free again at the very
    end of what lies in it. Slices of one group share a row, which is taken from the first start to
    the last end of the group.
    """
    rows = np.zeros(len(start), np.int64)
    last_end = _last_ends(end, group)
    row_of_group: dict[int, int] = {}
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    in_use = 0
    columns = zip(start.tolist(), end.tolist(), group.tolist(), strict=True)
    for place, (begins, ends, number) in enumerate(columns):
        if number in row_of_group:
            rows[place] = row_of_group[number]
            continue
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, in_use = in_use, in_use + 1
        rows[place] = row
        if number != NONE:
            row_of_group[number] = row
        heapq.heappush(busy, (last_end.get(number, ends), row))
    return rows


def _last_ends(end: Integers, group: Integers) -> dict[int, int]:
    grouped = group != NONE
    last: dict[int, int] = {}
    for number, ends in zip(group[grouped].tolist(), end[grouped].tolist(), strict=True):
        last[number] = max(last.get(number, ends), ends)
    return last
