"""L2: set-associative, write-back, write-allocate; the least recently used line goes first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..chip import CacheShape
from ..columns import Booleans, Integers

_FOLD = (13, 26)
"""The number of a line is folded into that of its set by these shifts, so that a power of two
between rows does not crowd a few sets."""


@dataclass(frozen=True, slots=True)
class Cached:
    """What L2 did with each access. set: of its line. written, dropped: it evicted a line with or
    without writing it back.
    """

    set: Integers
    hit: Booleans
    written: Booleans
    dropped: Booleans


def cached(
    line: Integers, store: Booleans, shape: CacheShape, hit_rate: int | None = None
) -> Cached:
    """The fate of accesses in their order; L2 begins empty.

    hit_rate: thousandths of the accesses that hit, whatever the lines are; then the cache counts as
    full, and what is missing evicts.
    """
    folded = line.copy()
    for shift in _FOLD:
        folded ^= line >> shift
    chosen = folded % shape.sets
    if hit_rate is not None:
        return _forced(chosen, store, hit_rate)
    hit = np.zeros(len(line), np.bool_)
    written, dropped = hit.copy(), hit.copy()
    tags = np.full((shape.sets, shape.ways), -1, np.int64)
    used = np.zeros((shape.sets, shape.ways), np.int32)
    dirty = np.zeros((shape.sets, shape.ways), np.bool_)
    for turn, now in enumerate(_turns(chosen), start=1):
        at, wanted = chosen[now], line[now]
        held = tags[at]
        same = held == wanted[:, None]
        way = same.argmax(axis=1)
        found = same[np.arange(len(now)), way]
        way = np.where(found, way, used[at].argmin(axis=1))
        evicts = ~found & (tags[at, way] >= 0)
        was_dirty = dirty[at, way]
        hit[now] = found
        written[now] = evicts & was_dirty
        dropped[now] = evicts & ~was_dirty
        tags[at, way] = wanted
        used[at, way] = turn
        dirty[at, way] = store[now] | (found & was_dirty)
    return Cached(chosen, hit, written, dropped)


def _turns(chosen: Integers) -> list[Integers]:
    """Accesses that can be looked at together: the first of every set, the second, and so on."""
    if not len(chosen):
        return []
    by_set = np.argsort(chosen, kind="stable")
    ordered = chosen[by_set]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.concatenate([starts, [len(ordered)]]))
    rank = np.empty(len(chosen), np.int64)
    rank[by_set] = np.arange(len(ordered)) - np.repeat(starts, sizes)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])


def _forced(chosen: Integers, store: Booleans, hit_rate: int) -> Cached:
    count = np.arange(1, len(chosen) + 1, dtype=np.int64)
    hit = count * hit_rate // 1000 > (count - 1) * hit_rate // 1000
    misses = np.cumsum(~hit)
    stores = int(store.sum())
    total = max(len(chosen), 1)
    turn = misses * stores // total > (misses - 1) * stores // total
    return Cached(chosen, hit, ~hit & turn, ~hit & ~turn)
