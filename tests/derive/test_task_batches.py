"""Batches of task numbers, against numbers that were cut off by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_batches import tiny_batches

from ascend_ref.derive.tasks import task_batches


@settings(max_examples=20, deadline=None)
@given(
    first=st.lists(st.integers(0, 65_535), min_size=1, max_size=4),
    count=st.integers(1, 200),
    seed=st.integers(0, 2**32),
)
def test_numbers_that_begin_anew_are_told_apart(first: list[int], count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = np.concatenate([begin + np.cumsum(rng.integers(0, 20_000, count)) for begin in first])
    stream = np.repeat(np.arange(len(first)), count)
    device = stream % 2
    start = np.tile(np.arange(count) * 10, len(first))
    order = rng.permutation(len(whole))
    columns = device[order], stream[order], whole[order] % 65_536, start[order]
    found = task_batches(*columns)
    with tiny_batches():
        assert task_batches(*columns).tolist() == found.tolist()
    expected = whole // 65_536
    lowest = np.array([expected[stream == one].min() for one in range(len(first))])
    assert found.tolist() == (expected - lowest[stream])[order].tolist()


def test_a_part_that_starts_behind_the_next_task_stays_in_its_batch() -> None:
    number = np.array([65_535, 0, 65_535, 1])
    zeros = np.zeros(4, np.int64)
    assert task_batches(zeros, zeros, number, np.arange(4)).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("numbers", [[], [7], [70_000, 5, 90_000, 6]])
def test_numbers_of_32_bits_and_few_tasks_have_one_batch(numbers: list[int]) -> None:
    number = np.array(numbers, np.int64)
    zeros = np.zeros(len(numbers), np.int64)
    assert task_batches(zeros, zeros, number, np.arange(len(numbers))).tolist() == [0] * len(number)
