"""No two tasks of a stream begin at one moment, as in every real profile."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_ranks import RANKS, connected

from ascend_ref.capture.model import NONE
from ascend_simulator.choices import Scenario
from ascend_simulator.run import simulate
from ascend_simulator.scenario import preset
from ascend_simulator.strategies import scenarios


def shared_starts(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(stream, start) that more than one task has."""
    return [row for row, count in Counter(rows).items() if count > 1]


@pytest.mark.parametrize("path", RANKS)
def test_tasks_of_a_real_stream_begin_one_after_the_other(path: str) -> None:
    with connected(path) as database:
        rows = database.execute("SELECT streamId, startNs FROM TASK").fetchall()
    assert shared_starts(rows) == []


def starts(scenario: Scenario, seed: int) -> list[tuple[int, int]]:
    """Without the sub-tasks of FFTS+ tasks, which run side by side."""
    tasks = simulate(scenario, seed).capture(0).tasks
    own = tasks.take(tasks.context == NONE)
    return list(zip(own.stream.tolist(), own.start.tolist(), strict=True))


@pytest.mark.parametrize("name", ["cnn-910a", "cnn-910b", "dense-pipeline", "observed-everything"])
def test_tasks_of_a_stream_of_a_preset_begin_one_after_the_other(name: str) -> None:
    assert shared_starts(starts(preset(name), 1)) == []


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(), st.integers(0, 1 << 32))
def test_tasks_of_a_stream_begin_one_after_the_other(scenario: Scenario, seed: int) -> None:
    assert shared_starts(starts(scenario, seed)) == []
