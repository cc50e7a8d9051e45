"""How far the clock of one side is ahead of the other one, where it is so by one length of time.

Rows may be missing and others may have been added; at what distances rows follow each other is the
same on both sides all the same. Columns are read batch by batch: they may be longer than memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Times: TypeAlias = npt.NDArray[np.int64]
Side: TypeAlias = Callable[[], Iterator[Times]]
"""The times of a side in ns, batch by batch, as often as they are asked for."""

FEWEST = 8
"""Rows that show a clock by themselves; fewer are taken to have one that others have."""
SHARE = 0.5
"""Of the times of a side that must meet one of the other."""
SAMPLED = 1 << 14
FARTHEST = 1 << 61
"""From it on a time is none."""
_LONG = 1 << 20
"""Rows from which on they are taken as they stand, not in order."""
_GAPS = 3
"""Distances to the next rows, by which a row is known."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def moved(tables: Iterable[tuple[str, Side, Side]]) -> Mapping[str, int]:
    """By name, how many ns the times of the second side are ahead; those that are not are left out.

    The times of each table in any order.
    """
    found: dict[str, int] = {}
    weights: Counter[int] = Counter()
    small: dict[str, tuple[Side, Side]] = {}
    for name, left, right in tables:
        counts = [sum(map(len, _sound(side))) for side in (left, right)]
        if min(counts) >= FEWEST:
            found[name] = _ahead(left, right, *counts)
            weights[found[name]] += counts[0]
        elif all(counts):
            small[name] = left, right
    usual = [ahead for ahead, _ in weights.most_common()]
    for name, (left, right) in small.items():
        found[name] = next((one for one in usual if _meets(left, right, 1, one)), 0)
    return {name: ahead for name, ahead in found.items() if ahead}


def _sound(side: Side) -> Iterator[Times]:
    for times in side():
        yield times[(times > -FARTHEST) & (times < FARTHEST)]


def _ahead(left: Side, right: Side, ours: int, theirs: int) -> int:
    """0 as well where no length fits."""
    if ours > theirs:
        return -_ahead(right, left, theirs, ours)
    every = ours // SAMPLED + 1
    if _meets(left, right, every, 0):
        return 0
    is_long = theirs > _LONG
    bounds = [[_bound(one, least) for one in (left, right)] for least in (True, False)]
    candidates = [*_by_distances(left, right, is_long), *(their - own for own, their in bounds)]
    return next((one for one in candidates if _meets(left, right, every, one)), 0)


def _bound(side: Side, least: bool) -> int:
    bounds = [int(some.min() if least else some.max()) for some in _sound(side) if len(some)]
    return min(bounds) if least else max(bounds)


def _meets(left: Side, right: Side, every: int, ahead: int) -> bool:
    """Whether enough of every so many times of the left are there on the right, so much later."""
    some = np.concatenate([times[::every] for times in _sound(left)]) + ahead
    met = np.zeros(len(some), np.bool_)
    for times in _sound(right):
        met |= np.isin(some, times)
    return bool(met.mean() >= SHARE)


def _by_distances(left: Side, right: Side, is_long: bool) -> Sequence[int]:
    """The lengths by which rows differ that are known by the distances to the next ones."""
    (ours, our_times), (theirs, their_times) = (_known(one, is_long) for one in (left, right))
    _, one, other = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    lengths = Counter((their_times[other] - our_times[one]).tolist())
    return [length for length, _ in lengths.most_common(3)]


def _known(side: Side, is_long: bool) -> tuple[npt.NDArray[np.uint64], Times]:
    """What rows are known by, each once, and their times; the same of both sides where many are."""
    batches = list(_sound(side)) if not is_long else _sound(side)
    if not is_long:
        batches = [np.sort(np.concatenate(list(batches)))]
    marks, times = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    mask = np.uint64(0)
    for batch in batches:
        found = _marks(batch)
        chosen = np.flatnonzero(found & mask == 0)
        marks.append(found[chosen])
        times.append(batch[chosen])
        while sum(map(len, marks)) > 2 * SAMPLED:
            # What a wider mask leaves, every narrower one does, too.
            mask = (mask << np.uint64(1)) | np.uint64(1)
            kept = [one & mask == 0 for one in marks]
            times = [one[own] for one, own in zip(times, kept, strict=True)]
            marks = [one[own] for one, own in zip(marks, kept, strict=True)]
    every, first, count = np.unique(np.concatenate(marks), return_index=True, return_counts=True)
    return every[count == 1], np.concatenate(times)[first[count == 1]]


def _marks(times: Times) -> npt.NDArray[np.uint64]:
    """A number for each row that has enough behind it, of the distances to the next ones."""
    gaps = np.diff(times).view(np.uint64)
    count = max(len(gaps) - _GAPS + 1, 0)
    found = np.zeros(count, np.uint64)
    for place in range(_GAPS):
        found = (found ^ gaps[place : place + count]) * _FACTOR
        found ^= found >> np.uint64(29)
    return found
