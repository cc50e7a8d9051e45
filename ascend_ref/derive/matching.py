"""Which row of one table belongs to a row of another, where keys repeat."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers

NONE = -1


def ranks(keys: Integers) -> Integers:
    """For each row the number of rows before it with the same key."""
    order = np.argsort(keys, kind="stable")
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = keys[order][1:] != keys[order][:-1]
    places = np.arange(len(keys))
    found = np.empty(len(keys), np.int64)
    found[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return found


def counterparts(
    wanted: Integers, rank: Integers, having: Integers, *, keep_last: bool = False
) -> Integers:
    """For each wanted key the row that has it, NONE without one.

    The first row of a key belongs to the first place that wants it, and so on; ``rank`` is the
    result of :func:`ranks` for ``wanted``. With ``keep_last`` further places share the last row.
    Source: first in, first out, as the exporters match counters to tasks (text-outputs.md 3.2).
    """
    order = np.argsort(having, kind="stable")
    keys = having[order]
    first = np.searchsorted(keys, wanted, side="left")
    end = np.searchsorted(keys, wanted, side="right")
    place = first + rank
    if keep_last:
        place = np.minimum(place, end - 1)
    known = (first < end) & (place < end)
    return np.where(known, np.append(order, NONE)[np.where(known, place, -1)], NONE)


def pairs(wanted: Integers, having: Integers, *, none: int) -> tuple[Integers, Integers]:
    """Rows of two tables with the same key: each wanted row with all that have it, in their order.

    A wanted row without any, or with the key ``none``, stands once, with NONE. So does a row whose
    key an earlier row wanted: keys are unique, and rows that break this must not multiply.
    """
    order = np.argsort(having, kind="stable")
    keys = having[order]
    first = np.searchsorted(keys, wanted, side="left")
    count = np.searchsorted(keys, wanted, side="right") - first
    count[(wanted == none) | (ranks(wanted) > 0)] = 0
    rows = np.repeat(np.arange(len(wanted)), np.maximum(count, 1))
    before = np.cumsum(np.maximum(count, 1)) - np.maximum(count, 1)
    place = first[rows] + np.arange(len(rows)) - before[rows]
    found = count[rows] > 0
    return rows, np.where(found, np.append(order, NONE)[np.where(found, place, -1)], NONE)
