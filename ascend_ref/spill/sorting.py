"""The order of rows, of however many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from .columns import KEPT_BYTES, Bytes, Spill, batches

SORTED_AT_ONCE = 1 << 18
MOST_BOUNDS = 256
"""Each pile may need a file."""
SAMPLES = 64
"""Keys that are looked at for each bound."""

Integers = npt.NDArray[np.int64]


def is_ascending(spill: Spill, *keys: Integers) -> bool:
    """Whether no row comes after one with greater keys, of which the first counts most."""
    return all(
        _ascends([key[batch.start : batch.stop + 1] for key in keys])
        for batch in spill.batches(max(len(keys[0]) - 1, 0))
    )


def _ascends(keys: Sequence[Integers]) -> bool:
    right = np.ones(max(len(keys[0]) - 1, 0), np.bool_)
    for key in reversed(keys):
        right = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & right)
    return bool(right.all())


def sorted_rows(spill: Spill, *keys: Integers) -> Integers:
    """The rows in order of their keys, of which the first counts most; equal ones as they stand.

    Rows are dealt to piles by the first key, and each pile is sorted by itself.
    """
    rows = spill.rows(len(keys[0]))
    if is_ascending(spill, *keys):
        return rows
    return spill.array(_sorted(spill, rows, keys), np.int64)


def first_of_each(spill: Spill, ordered: Integers) -> Integers:
    """Where the values of an ordered column change, and its beginning."""
    changes = spill.where(np.not_equal, ordered[1:], ordered[:-1])
    later = (changes[batch] + 1 for batch in batches(len(changes)))
    return spill.array(chain([np.zeros(min(len(ordered), 1), np.int64)], later), np.int64)


def run_begins(spill: Spill, order: Integers, *keys: Integers) -> Integers:
    """For each place of an order that place where the rows with the same keys begin."""
    return spill.array(_begins(spill, order, keys), np.int64)


def _begins(spill: Spill, order: Integers, keys: Sequence[Integers]) -> Iterator[Integers]:
    last, begin = None, 0
    for batch in batches(len(order)):
        rows = order[batch]
        own = np.stack([spill.gathered(key, rows) for key in keys])
        before = np.column_stack([own[:, 0] if last is None else last, own[:, :-1]])
        changes = (own != before).any(axis=0)
        changes[0] |= last is None
        begins = np.maximum.accumulate(np.where(changes, np.arange(batch.start, batch.stop), begin))
        yield begins
        last, begin = own[:, -1], int(begins[-1])


def first_equal(spill: Spill, *keys: Integers) -> Integers:
    """For each row the first one whose keys are all the same."""
    # By the key of the widest range first: it mostly follows the rows, so that rows that are looked
    # up together lie near each other.
    keys = tuple(sorted(keys, key=lambda key: _width(spill, key), reverse=True))
    order = sorted_rows(spill, *keys)
    begins = run_begins(spill, order, *keys)
    found = spill.changeable(len(order), 0)
    for batch in spill.batches(len(order)):
        found[order[batch]] = order[begins[batch]]
    return found


def _width(spill: Spill, key: Integers) -> int:
    low, high = spill.range_of(key) if len(key) else (0, 0)
    return high - low


def _sorted(spill: Spill, rows: Integers, keys: Sequence[Integers]) -> Iterator[Integers]:
    if not keys:
        yield from (rows[batch] for batch in batches(len(rows)))
    elif len(rows) <= SORTED_AT_ONCE:
        yield _sorted_at_once(spill, rows, keys)
    else:
        for number, pile in enumerate(_piles(spill, rows, keys[0])):
            if number % 2:
                yield from _sorted(spill, pile, keys[1:])
            else:
                yield _sorted_at_once(spill, pile, keys)


def _sorted_at_once(spill: Spill, rows: Integers, keys: Sequence[Integers]) -> Integers:
    return rows[np.lexsort([spill.gathered(key, rows) for key in reversed(keys)])]


def _piles(spill: Spill, rows: Integers, key: Integers) -> Iterator[Integers]:
    """Rows whose keys lie between two bounds, and in turn those whose keys are the next bound."""
    bounds = _bounds(spill, rows, key)
    count = 2 * len(bounds) + 1
    piles = [Bytes(KEPT_BYTES // count) for _ in range(count)]
    for batch in spill.batches(len(rows)):
        keys = spill.gathered(key, rows[batch])
        place = np.searchsorted(bounds, keys)
        equal = bounds[np.minimum(place, len(bounds) - 1)] == keys
        # Numbers of 16 bits are sorted in a time that does not grow faster than they do.
        number = (2 * place + equal).astype(np.uint16)
        order = np.argsort(number, kind="stable")
        number = number[order]
        first = np.flatnonzero(number[1:] != number[:-1]) + 1
        dealt = number[np.append(0, first)].tolist()
        for pile, own in zip(dealt, np.split(rows[batch][order], first), strict=True):
            piles[pile].write(own)
    for pile in piles:
        yield np.frombuffer(spill.hold(pile), np.int64)


def _bounds(spill: Spill, rows: Integers, key: Integers) -> Integers:
    """Keys that divide all of them into about equal batches, as far as a sample shows."""
    count = min(2 * len(rows) // SORTED_AT_ONCE, MOST_BOUNDS)
    chosen = np.random.default_rng(0).integers(0, len(rows), count * SAMPLES)
    sample = np.sort(spill.gathered(key, spill.gathered(rows, np.sort(chosen))))
    return np.unique(sample[SAMPLES // 2 :: SAMPLES])
