"""The interval algebra against sets of unit cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.derive.intervals import (
    Intervals,
    clipped,
    difference,
    intersection,
    joined,
    union,
)
from ascend_ref.derive.overlap import overlap

Pairs = list[tuple[int, int]]
moments = st.integers(0, 30)
pairs = st.lists(st.tuples(moments, moments).map(lambda pair: (min(pair), max(pair))), max_size=8)


def made(given_pairs: Pairs) -> Intervals:
    table = np.array(given_pairs, np.int64).reshape(-1, 2)
    return union(table[:, 0], table[:, 1])


def cells(given_pairs: Pairs) -> set[int]:
    return {cell for start, end in given_pairs for cell in range(start, end)}


def runs(found: set[int]) -> Pairs:
    """Maximal runs of cells, one by one."""
    starts = sorted(cell for cell in found if cell - 1 not in found)
    ends = sorted(cell + 1 for cell in found if cell + 1 not in found)
    return list(zip(starts, ends, strict=True))


def told(intervals: Intervals) -> Pairs:
    return list(zip(intervals.start.tolist(), intervals.end.tolist(), strict=True))


@given(pairs)
def test_a_union_is_the_cells_of_its_intervals(given_pairs: Pairs) -> None:
    assert told(made(given_pairs)) == runs(cells(given_pairs))
    assert made(given_pairs).total == len(cells(given_pairs))


@given(pairs, pairs)
def test_two_unions_join_meet_and_differ_as_sets_do(one: Pairs, other: Pairs) -> None:
    first, second = made(one), made(other)
    assert told(joined(first, second)) == runs(cells(one) | cells(other))
    assert set(cells(told(intersection(first, second)))) == cells(one) & cells(other)
    assert told(difference(first, second)) == pieces(first, cells(one) - cells(other))


def pieces(minuend: Intervals, rest: set[int]) -> Pairs:
    """Runs of what is left, none across two intervals of the minuend."""
    return [run for low, high in told(minuend) for run in runs(rest & set(range(low, high)))]


@given(pairs, moments, moments)
def test_clipping_keeps_what_lies_within(given_pairs: Pairs, low: int, high: int) -> None:
    expected = cells(given_pairs) & set(range(low, high))
    assert cells(told(clipped(made(given_pairs), low, high))) == expected


@given(pairs, pairs)
def test_the_kinds_of_time_fill_the_window(one: Pairs, other: Pairs) -> None:
    found = overlap(made(one), made(other), 0, 30)
    computing, communication, alone, free = (cells(told(part)) for part in found)
    assert (computing, communication) == (cells(one), cells(other))
    assert alone == communication - computing
    assert free == set(range(30)) - computing - communication
    assert found.computing.total + found.communication_not_overlapped.total + found.free.total == 30


@pytest.mark.parametrize("empty", [[], [(5, 5)]])
def test_nothing_and_empty_intervals_have_no_union(empty: Pairs) -> None:
    assert told(made(empty)) == []
    assert told(difference(made(empty), made([(1, 2)]))) == []
    assert told(difference(made([(1, 2)]), made(empty))) == [(1, 2)]


def test_an_interval_that_ends_before_it_begins_is_none() -> None:
    assert told(made([(20, 5), (1, 3), (9, 9), (4, 6), (3, 4), (7, 8)])) == [(1, 6), (7, 8)]


@given(st.lists(st.tuples(moments, moments), max_size=12))
def test_sorted_and_unsorted_intervals_have_one_union(given_pairs: Pairs) -> None:
    expected = runs({cell for start, end in given_pairs for cell in range(start, end)})
    assert told(made(given_pairs)) == told(made(sorted(given_pairs))) == expected


def sweep(given_pairs: Pairs) -> Pairs:
    """The union in plain Python."""
    merged: Pairs = []
    for start, end in sorted(given_pairs):
        if start < end and merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged


def test_a_union_is_that_of_a_plain_sweep() -> None:
    starts = np.random.default_rng(3).integers(0, 1 << 40, 20_000)
    ends = starts + np.random.default_rng(4).integers(0, 1 << 26, 20_000)
    plain = list(zip(starts.tolist(), ends.tolist(), strict=True))
    assert told(union(starts, ends)) == sweep(plain)
