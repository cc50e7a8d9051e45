"""Slices that cross, against a look at the earlier slices of the thread, in parts of any size."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_conformance.media.text.crossing import Sweep

Slices = list[tuple[int, int, int]]
"""Number of the thread, start and end; in order of thread and start, longer ones first."""


def by_hand(slices: Slices) -> set[int]:
    """Those that cross the one before them on their thread, or the earlier one that ends last."""
    found = set()
    for row, (thread, start, end) in enumerate(slices):
        ends = [one[2] for one in slices[:row] if one[0] == thread]
        if any(start < other < end for other in (*ends[-1:], max(ends, default=start))):
            found.add(row)
    return found


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 60), parts=st.integers(1, 12))
def test_crossing_slices_are_those_found_by_hand(seed: int, count: int, parts: int) -> None:
    chance = random.Random(seed)
    slices: Slices = []
    for _ in range(count):
        start = chance.randrange(80)
        slices.append((chance.randrange(1, 4), start, start + chance.randrange(1, 40)))
    slices.sort(key=lambda one: (one[0], one[1], -one[2]))
    cuts = sorted({0, count, *(chance.randrange(count) for _ in range(parts - 1))})
    columns = np.array([(row, *one) for row, one in enumerate(slices)], np.int64).T
    sweep = Sweep()
    for begin, end in pairwise(cuts):
        sweep.add(*columns[:, begin:end])
    assert {int(row) for part in sweep.found for row in part[:, 0]} == by_hand(slices)
    assert sweep.total == count


def test_a_crossing_is_told_with_the_end_that_it_crosses() -> None:
    sweep = Sweep()
    slices = ((0, 1, 0, 100), (1, 1, 10, 20), (2, 1, 90, 120), (3, 2, 95, 130))
    for one in slices:
        sweep.add(*(np.array([value]) for value in one))
    assert np.concatenate(sweep.found).tolist() == [[2, 90, 120, 100]]
