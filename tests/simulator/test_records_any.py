"""Whatever is simulated, what is told of it adds up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_rows import EVERYTHING, rows, tasks

from ascend_ref.capture import RECORDS, Capture
from ascend_simulator import simulate
from ascend_simulator.choices import Scenario
from ascend_simulator.strategies import scenarios

OF_WAITS = ("ccu_mission", "notify_duration")
"""A length that only rows of waits have."""


def assert_adds_up(capture: Capture) -> None:
    for name, columns in capture.records.items():
        assert list(columns) == list(RECORDS[name].columns)
        assert len({len(values) for values in columns.values()}) == 1
        texts = [columns[column] for column in RECORDS[name].texts]
        assert all((text >= -1).all() and (text < len(capture.texts)).all() for text in texts)
        for column, kind in RECORDS[name].columns.items():
            if kind in ("length", "size"):
                waits = columns["wait_start"] != -1 if (name, column) == OF_WAITS else True
                assert ((columns[column] >= 0) == waits).all(), (name, column)
    known = tasks(capture)
    for name in ("l2_cache", "soc_pmu", "page_fault", "aicpu"):
        for row in rows(capture, name):
            assert (row["device"], row["stream"], row["number"]) in known
    for row in rows(capture, "l2_cache"):
        assert 0 <= row["victim"] <= row["request"] - row["hit"] <= row["request"]
    for row in rows(capture, "aicpu"):
        assert row["compute"] + row["memcpy"] <= row["task"] <= row["total"] - row["dispatch"]
    memory = rows(capture, "static_op_mem")
    assert sum(row["size"] for row in memory[:-1]) == (memory[-1]["size"] if memory else 0)
    numbers = capture.steps.number.tolist()
    for row, begin, end in zip(
        rows(capture, "step_trace"),
        capture.steps.start.tolist() or [-1] * len(numbers),
        capture.steps.end.tolist(),
        strict=False,
    ):
        assert begin <= row["start"] <= row["end"] <= end
        if row["fp_start"] is not None:
            assert row["start"] <= row["fp_start"] < row["bp_end"] <= row["end"]
    iterations = {row["iteration"]: row for row in rows(capture, "step_trace")}
    for name in ("step_trace_reduce", "step_trace_get_next"):
        for row in rows(capture, name):
            around = iterations[row["iteration"]]
            assert around["start"] <= row["start"] <= row["end"] <= around["end"]
    for row in rows(capture, "sys_mem"):
        assert row["free"] + row["buffers"] + row["cached"] <= row["total"]
    for row in rows(capture, "dvpp"):
        assert 0 <= row["utilization"] <= 100_000
    for row in rows(capture, "biu_cycles"):
        pipes = [row[pipe] for pipe in ("vector", "scalar", "cube", "mte1", "mte2", "mte3")]
        assert 0 <= min(pipes) <= max(pipes) <= row["period"]


TOLD: dict[str, Any] = {
    name: getattr(EVERYTHING, name)
    for name in (
        "l2", "aicpu", "soc_pmu", "sys_profiling", "sys_pid", "sys_cpu", "dvpp", "instr",
        "host_sys_usage",
    )
}  # fmt: skip
"""Switches of records, all on."""


@pytest.mark.exhaustive
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_ranks=4), st.integers(0, 1 << 32), st.booleans())
def test_the_records_of_any_scenario_add_up(scenario: Scenario, seed: int, all_on: bool) -> None:
    if all_on:
        scenario = replace(scenario, capture=replace(scenario.capture, **TOLD))
    run = simulate(scenario, seed)
    for number in range(len(run.rounds)):
        for capture in run.captures(number):
            assert_adds_up(capture)
            assert all(
                values.dtype == np.int64
                for columns in capture.records.values()
                for values in columns.values()
            )
