"""Summaries of samples: known answers, and SQLite as the exporters ask it."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.derive.host_usage import (
    STATES,
    Demand,
    cycle_shares,
    demand,
    memory_demand,
    process_shares,
    processors,
    sample_means,
    state_shares,
    system_calls,
)

samples = st.lists(st.floats(0, 100), min_size=1)


@given(samples)
def test_recommended_is_the_98th_percentile_of_what_was_used(values: list[float]) -> None:
    found = demand(np.array(values))
    positive = sorted(value for value in values if value > 0)
    rank = math.ceil((len(positive) - 1) * 0.98)
    assert found == Demand(max(values), positive[rank] / 0.8 if positive else 0.0)


def test_a_hundred_samples_recommend_the_second_greatest() -> None:
    # The rank 98 * 0.98 = 96.04 is rounded up, from 0.
    assert demand(np.arange(100.0)) == Demand(99.0, 98.0 / 0.8)
    assert demand(np.array([0.0, 0.0])) == Demand(0.0, 0.0)
    assert demand(np.empty(0)) is None


def test_memory_is_told_in_the_unit_of_its_total() -> None:
    assert memory_demand(np.array([10.0, 33.3333]), 527_690.0) == Demand(175_896.491, 219_870.613)
    assert memory_demand(np.empty(0), 1.0) is None


def test_processors_that_never_worked_are_not_recommended() -> None:
    found = processors(np.array([0, 0, 1, 5]), np.array([0.0, 12.5, 0.0, 3.0]))
    assert (found.occupied, found.recommended) == (3, 2)


def test_states_are_shares_of_all_states() -> None:
    assert STATES[:5] == ("user", "nice", "sys", "idle", "iowait")
    spent = np.array([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0] * 10])
    shares = state_shares(spent, np.array([0, 0, 1])).tolist()
    # user 2, sys 3, iowait 5, irq 6, soft 7, idle 4 of 56.
    assert shares == [[3.571, 5.357, 8.929, 10.714, 12.5, 7.143], [0.0] * 6]


def test_a_process_has_the_mean_of_its_shares() -> None:
    ran, system = np.array([1, 1, 3, 4]), np.array([4, 2, 0, 16])
    assert process_shares(ran, system, np.array([0, 0, 1, 1])).tolist() == [37.5, 12.5]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**12)), min_size=1))
def test_means_have_no_decimals_in_sqlite(rows: list[tuple[int, int]]) -> None:
    keys = sorted({key for key, _ in rows})
    owner = np.array([keys.index(key) for key, _ in rows])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE sample (pid INTEGER, size INTEGER)")
        connection.executemany("INSERT INTO sample VALUES (?, ?)", rows)
        told = connection.execute("SELECT sum(size)/count(*) FROM sample GROUP BY pid ORDER BY pid")
        expected = [size for (size,) in told]
    assert sample_means(np.array([size for _, size in rows]), owner).tolist() == expected


def test_functions_share_the_cycles() -> None:
    assert cycle_shares(np.array([3, 2, 1])).tolist() == [50.0, 33.333, 16.667]
    assert cycle_shares(np.array([0])).tolist() == [0.0]


def test_system_calls_have_fractions_of_the_time_of_all() -> None:
    found = system_calls(np.array([0, 1, 0]), np.array([100, 300, 200]))
    assert [column.tolist() for column in found] == [
        [0.5, 0.5],
        [300, 300],
        [2, 1],
        [150.0, 300.0],
        [200, 300],
        [100, 300],
    ]


@pytest.mark.parametrize("derive", [process_shares, lambda _, ran, owner: sample_means(ran, owner)])
def test_no_samples_come_to_nothing(derive: object) -> None:
    none = np.empty(0, np.int64)
    assert callable(derive)
    assert derive(none, none, none).tolist() == []
    assert cycle_shares(none).tolist() == []
    assert state_shares(none.reshape(0, 10), none).tolist() == []
    assert system_calls(none, none).calls.tolist() == []
