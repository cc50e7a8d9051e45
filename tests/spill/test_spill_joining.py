"""Rows of two tables that belong together, against loops over dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_batches import tiny_batches

from ascend_ref.spill import InMemory, Spill, counterparts, last_begun, ranks
from ascend_ref.spill.joining import NONE

FAR = (-(1 << 63), (1 << 63) - 1)
"""Keys that no single number can hold together."""
keys = st.tuples(st.integers(-2, 2), st.integers(0, 3) | st.sampled_from(FAR))
tables = st.lists(keys, max_size=40)
Rows = list[tuple[int, int]]


@pytest.fixture(autouse=True, scope="module")
def _tiny_batches() -> Iterator[None]:
    with tiny_batches():
        yield


def columns(rows: Rows) -> list[np.ndarray]:
    return [np.array([row[place] for row in rows], np.int64) for place in (0, 1)]


@given(rows=tables)
def test_ranks_count_equal_rows_before(rows: Rows) -> None:
    seen: Counter[tuple[int, int]] = Counter()
    expected = []
    for row in rows:
        expected.append(seen[row])
        seen[row] += 1
    assert ranks(Spill(), *columns(rows)).tolist() == expected


@given(
    wanted=st.lists(st.tuples(keys, st.integers(-1, 2)), max_size=40),
    having=tables,
    by_part=st.booleans(),
    share_first=st.booleans(),
    keep_last=st.booleans(),
)
def test_the_first_one_belongs_to_the_first_that_wants_it(
    wanted: list[tuple[tuple[int, int], int]],
    having: Rows,
    by_part: bool,
    share_first: bool,
    keep_last: bool,
) -> None:
    places = defaultdict(list)
    for place, row in enumerate(having):
        places[row].append(place)
    turns: Counter[object] = Counter()
    expected = []
    for row, part in wanted:
        own = places[row]
        counted = (row, part if by_part else None)
        turn = 0 if share_first else turns[counted]
        turns[counted] += 1
        if keep_last and own:
            turn = min(turn, len(own) - 1)
        expected.append(own[turn] if turn < len(own) else NONE)
    found = counterparts(
        Spill(),
        columns([row for row, _ in wanted]),
        columns(having),
        part=np.array([part for _, part in wanted], np.int64) if by_part else None,
        share_first=share_first,
        keep_last=keep_last,
    )
    assert found.tolist() == expected


@given(
    wanted=st.lists(st.tuples(keys, st.integers(0, 9)), max_size=40),
    having=st.lists(st.tuples(keys, st.integers(0, 9)), max_size=40),
)
def test_what_had_last_begun(
    wanted: list[tuple[tuple[int, int], int]], having: list[tuple[tuple[int, int], int]]
) -> None:
    expected = []
    for row, moment in wanted:
        begun = [
            (start, place)
            for place, (key, start) in enumerate(having)
            if key == row and start <= moment
        ]
        expected.append(max(begun)[1] if begun else NONE)
    found = last_begun(
        Spill(),
        columns([row for row, _ in wanted]),
        np.array([moment for _, moment in wanted], np.int64),
        columns([row for row, _ in having]),
        np.array([start for _, start in having], np.int64),
    )
    assert found.tolist() == expected


@pytest.mark.parametrize("spill", [Spill(), InMemory()])
def test_memory_and_files_hold_the_same(spill: Spill) -> None:
    column = np.arange(100) * 3
    places = np.arange(100)[::-1] % 40
    assert spill.made(np.negative, column).tolist() == (-column).tolist()
    assert spill.taken(column, places).tolist() == column[places].tolist()
    assert spill.values_at(column, places - 1).tolist() == [
        NONE if one < 0 else 3 * one for one in (places - 1).tolist()
    ]
    assert spill.where(lambda one: one % 2 == 0, column).tolist() == list(range(0, 100, 2))
    assert spill.joined(column, places).tolist() == [*column.tolist(), *places.tolist()]
    assert spill.rows(70).tolist() == list(range(70))
    assert spill.range_of(column) == (0, 297)
    assert np.flatnonzero(spill.marks(50, places - 1)).tolist() == list(range(39))
    halves = spill.arrays(
        ((column[part], places[part]) for part in spill.batches(100)), 2, np.int64
    )
    assert [one.tolist() for one in halves] == [column.tolist(), places.tolist()]


def test_records_keep_all_of_their_bytes() -> None:
    """Padding of one declaration is where another has its fields."""
    kind = np.dtype({"names": ["a"], "formats": ["<u2"], "offsets": [1], "itemsize": 8})
    content = np.arange(800, dtype=np.uint8)
    rows = content.view(kind)
    found = Spill().records((rows[:3], rows[3:60], rows[60:]), kind)
    assert found.dtype == kind
    assert found.tobytes() == content.tobytes()
