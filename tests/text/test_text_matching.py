"""The small derivations of the CSV files, each against a plain loop."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.derive.matching import NONE, counterparts, pairs, ranks
from ascend_ref.derive.memory_blocks import memory_blocks
from ascend_ref.derive.tasks import shown_tasks
from ascend_ref.derive.traffic import UNSET_RATE, Spread, channel, means, share, spread

keys = st.lists(st.integers(0, 4), max_size=12)


@given(keys, keys, st.booleans())
def test_first_in_first_out(wanted: list[int], having: list[int], keep_last: bool) -> None:
    found = counterparts(
        np.array(wanted, np.int64),
        ranks(np.array(wanted, np.int64)),
        np.array(having, np.int64),
        keep_last=keep_last,
    )
    places = defaultdict(list)
    for place, key in enumerate(having):
        places[key].append(place)
    for key, row in zip(wanted, found.tolist(), strict=True):
        queue = places[key]
        last = keep_last and len(queue) == 1
        expected = (queue[0] if last else queue.pop(0)) if queue else NONE
        assert row == expected


@given(st.lists(st.integers(-1, 4), max_size=12), st.lists(st.integers(-1, 4), max_size=12))
def test_pairs_do_not_multiply(wanted: list[int], having: list[int]) -> None:
    rows, found = pairs(np.array(wanted, np.int64), np.array(having, np.int64), none=NONE)
    expected = []
    for place, key in enumerate(wanted):
        known = [row for row, other in enumerate(having) if other == key]
        first = key != NONE and key not in wanted[:place]
        expected += [(place, row) for row in known] if first and known else [(place, NONE)]
    assert list(zip(rows.tolist(), found.tolist(), strict=True)) == expected


events = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.booleans()), max_size=15)


@given(events)
def test_each_allocation_has_the_release_after_it(found: list[tuple[int, int, bool]]) -> None:
    table = np.array([(device, address) for device, address, _ in found], np.int64).reshape(-1, 2)
    takes = np.array([taken for *_, taken in found], np.bool_)
    blocks = memory_blocks(table[:, 0], table[:, 1], np.arange(len(found)), takes)
    held: dict[tuple[int, int], int] = {}
    expected: list[list[int]] = []
    for place, (device, address, taken) in enumerate(found):
        if taken:
            held[device, address] = len(expected)
            expected.append([place, NONE])
        elif (device, address) in held:
            expected[held.pop((device, address))][1] = place
        else:
            expected.append([NONE, place])
    assert [list(row) for row in zip(blocks.taken, blocks.given, strict=True)] == expected


def test_a_released_block_may_be_released_again() -> None:
    blocks = memory_blocks(
        np.zeros(4, np.int64),
        np.zeros(4, np.int64),
        np.array([5, 1, 3, 3]),
        np.array([False, True, False, False]),
    )
    assert list(zip(blocks.taken.tolist(), blocks.given.tolist(), strict=True)) == [
        (1, 2),
        (NONE, 3),
        (NONE, 0),
    ]


contexts = st.lists(st.sampled_from([0, 1, 2]), max_size=3, unique=True).map(
    lambda parts: [NONE, *parts]
)


@given(st.lists(st.tuples(st.integers(0, 1), contexts), max_size=6), st.sampled_from([0, 1]))
def test_a_task_is_shown_once_or_not_at_all(
    launched: list[tuple[int, list[int]]], choice: int
) -> None:
    engine = ("python", "cpp")[choice]
    rows = []
    for time, (key, parts) in enumerate(launched):
        for place, context in enumerate(parts):
            # A whole task lasts as long as its parts and begins no later.
            start = 100 * time + (0 if context == NONE else place + 1)
            end = 100 * time + (99 if context == NONE else 50)
            rows.append((key, context, start, end, time))
    table = np.array(rows, np.int64).reshape(-1, 5)
    shown = shown_tasks(*table[:, :4].T, engine)  # type: ignore[arg-type]
    expected = []
    for _, members in groupby(rows, lambda row: row[4]):
        order = sorted(members, key=lambda row: row[2])
        kinds = [context for _, context, *_ in order]
        if len(order) == 1:
            kept = set(kinds)
        elif any(context > 0 for context in kinds):
            first = next(place for place, context in enumerate(kinds) if context > 0)
            only_zero = 0 in kinds[:first]
            kept = set() if engine == "python" else {0} if only_zero else set(kinds)
        else:
            kept = {0} if 0 in kinds else set(kinds)
        expected += [row for row in order if row[1] in kept]
    assert sorted(map(tuple, table[shown].tolist())) == sorted(expected)


def test_numbers_of_tasks_come_again() -> None:
    key = np.zeros(5, np.int64)
    context = np.array([NONE, 3, 4, NONE, NONE])
    start = np.array([0, 1, 2, 10, 20])
    end = np.array([9, 3, 4, 11, 21])
    assert shown_tasks(key, context, start, end, "python").tolist() == [
        False,
        False,
        False,
        True,
        True,
    ]
    assert shown_tasks(*np.zeros((4, 0), np.int64), "python").tolist() == []


def test_means_of_what_counts() -> None:
    values, key = np.array([1.0, 3.0, 5.0, 7.0]), np.array([2, 2, 1, 1])
    found = means(values, key, counted=np.array([True, True, False, False]))
    assert (found.first.tolist(), found.mean.tolist()) == ([0, 2], [2.0, 0.0])


def test_the_spread_of_a_link() -> None:
    found = spread(np.array([0, 1, 0]), np.array([4.0, 9.0, 1.0]))
    assert [values.tolist() for values in found] == [[1.0, 9.0], [4.0, 9.0], [2.5, 9.0]]


@pytest.mark.parametrize(
    ("last_only", "expected"), [(True, [[0.0], [8.0], [6.0]]), (False, [[2.5], [7.0], [5.0]])]
)
def test_a_channel_is_its_last_sample_or_the_mean(
    last_only: bool, expected: list[list[float]]
) -> None:
    samples = Spread(
        np.array([5.0, 0.0, UNSET_RATE]) if not last_only else np.array([5.0, 7.0, UNSET_RATE]),
        np.array([6.0, 8.0, 8.0]),
        np.array([4.0, 6.0, 6.0]),
    )
    if not last_only:
        samples = samples._replace(maximum=np.array([6.0, 8.0, 8.0]))
    found = channel(
        np.zeros(3, np.int64), np.array([0, 2, 3]), samples, last_only=last_only, unset=UNSET_RATE
    )
    assert [values.tolist() for values in found] == expected


def test_a_share_of_nothing_is_none() -> None:
    assert share(np.array([1.0, 1.0]), np.array([4.0, 0.0])).tolist() == [25.0, 0.0]
