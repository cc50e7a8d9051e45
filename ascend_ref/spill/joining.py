"""Rows of two tables that belong together, of however many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .columns import Spill, batches
from .sorting import run_begins, sorted_rows

Integers = npt.NDArray[np.int64]
NONE = -1
MOST_BITS = 62
"""Of several keys in one, so that none is negative."""


def one_key(spill: Spill, *tables: Sequence[Integers]) -> Sequence[Integers]:
    """The keys of tables, one table behind the other.

    They are a single one that orders rows in the same way, where their ranges leave room.
    """
    columns = list(zip(*tables, strict=True))
    filled = [[part for part in parts if len(part)] for parts in columns]
    if len(columns) > 1 and filled[0]:
        bounds = [_bounds(spill, parts) for parts in filled]
        bits = [(high - low).bit_length() for low, high in bounds]
        if sum(bits) <= MOST_BITS:
            ranges = [(low, width) for (low, _), width in zip(bounds, bits, strict=True)]
            every = (
                _together([key[batch] for key in table], ranges)
                for table in tables
                for batch in batches(len(table[0]))
            )
            return [spill.array(every, np.int64)]
    return [spill.joined(*parts) for parts in columns]


def _bounds(spill: Spill, parts: Sequence[Integers]) -> tuple[int, int]:
    every = [spill.range_of(part) for part in parts]
    return min(low for low, _ in every), max(high for _, high in every)


def _together(keys: Sequence[Integers], ranges: Sequence[tuple[int, int]]) -> Integers:
    """Keys as one; ranges: the least of each, and the bits that it takes."""
    found = np.zeros(len(keys[0]), np.int64)
    for key, (low, bits) in zip(keys, ranges, strict=True):
        found <<= bits
        found += key - low
    return found


def ranks(spill: Spill, *keys: Integers) -> Integers:
    """For each row the number of rows before it with the same keys."""
    keys = tuple(one_key(spill, keys))
    order = sorted_rows(spill, *keys)
    begins = run_begins(spill, order, *keys)
    found = spill.changeable(len(order), 0)
    for batch in spill.batches(len(order)):
        found[order[batch]] = np.arange(batch.start, batch.stop) - begins[batch]
    return found


def counterparts(
    spill: Spill,
    wanted: Sequence[Integers],
    having: Sequence[Integers],
    *,
    part: Integers | None = None,
    share_first: bool = False,
    keep_last: bool = False,
) -> Integers:
    """For each wanted row the row of the other table with the same keys, NONE without one.

    The first one belongs to the first row that wants it, and so on; rows that differ in ``part``
    are counted by themselves. ``share_first``: all want the first one. ``keep_last``: where there
    are too few, further rows share the last one.
    """
    count = len(having[0])
    found = spill.changeable(len(wanted[0]), NONE)
    if not count or not len(wanted[0]):
        return found
    keys = parts = one_key(spill, having, wanted)
    if part is not None:
        # Below every part, so that of equal keys those that have come before those that want.
        least = np.broadcast_to(np.int64(spill.range_of(part)[0] - 1), count)
        parts = one_key(spill, [*having, least], [*wanted, part])
    order = sorted_rows(spill, *parts)
    begins = run_begins(spill, order, *keys)
    turns = begins if part is None else run_begins(spill, order, *parts)
    had = had_at_begin = 0
    for batch in spill.batches(len(order)):
        rows, begin = order[batch], begins[batch]
        place = np.arange(batch.start, batch.stop)
        has = rows < count
        before = had + np.cumsum(has) - has
        of_begin = np.maximum.accumulate(np.where(begin == place, before, had_at_begin))
        number = before - of_begin
        first_wanted = begin + number if part is None else turns[batch]
        turn = np.zeros(len(rows), np.int64) if share_first else place - first_wanted
        if keep_last:
            turn = np.minimum(turn, number - 1)
        known = ~has & (number > 0) & (turn < number)
        found[rows[known] - count] = spill.gathered(order, (begin + turn)[known])
        had, had_at_begin = had + int(has.sum()), int(of_begin[-1])
    return found


def last_begun(
    spill: Spill,
    wanted: Sequence[Integers],
    moment: Integers,
    having: Sequence[Integers],
    start: Integers,
) -> Integers:
    """For each wanted row that of the other table with the same keys which had last begun at its
    moment, NONE for none.
    """
    count = len(having[0])
    found = spill.changeable(len(moment), NONE)
    keys = one_key(spill, having, wanted)
    order = sorted_rows(spill, *keys, spill.joined(start, moment))
    begins = run_begins(spill, order, *keys)
    last = NONE
    for batch in spill.batches(len(order)):
        rows = order[batch]
        place = np.arange(batch.start, batch.stop)
        latest = np.maximum.accumulate(np.where(rows < count, place, last))
        known = (rows >= count) & (latest >= begins[batch])
        found[rows[known] - count] = spill.gathered(order, latest[known])
        last = int(latest[-1])
    return found
