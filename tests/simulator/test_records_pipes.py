"""Samples of the pipes and the bus of cores, against the kernels that ran on them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from record_rows import EVERYTHING, captured, everything, kernels, rows

from ascend_simulator.choices import ProductName
from ascend_simulator.scenario import parse

PERIOD, CLOCK = 30_000, 1_800
PIPES = ("vector", "scalar", "cube", "mte1", "mte2", "mte3")


@pytest.mark.parametrize("product", ["A2", "A3"])
def test_periods_follow_each_other_from_the_first_kernel_on(product: ProductName) -> None:
    capture = everything(product)
    found = rows(capture, "biu_cycles")
    cores = {row["core"]: (row["type"], row["group"]) for row in found}
    first = {0: ("aic", 0), 25: ("aiv", 0), 26: ("aiv", 0)}
    assert cores == first | {1: ("aic", 1), 27: ("aiv", 1), 28: ("aiv", 1)}
    for core in cores:
        own = [row for row in found if row["core"] == core]
        assert own[0]["time"] == min(kernel["start"] for kernel in kernels(capture))
        for before, after in pairwise(own):
            assert before["time"] + before["length"] == after["time"]
        for row in own:
            assert row["period"] == PERIOD
            assert abs(row["length"] - PERIOD * 1000 / CLOCK) <= 1
            assert all(0 <= row[pipe] <= PERIOD for pipe in PIPES)
    flow = rows(capture, "biu_flow")
    assert sorted({row["time"] for row in flow}) == sorted({row["time"] for row in found})


def test_a_pipe_works_as_its_counter_tells() -> None:
    """One product of matrices on all cores: cycles of a core, as TASK_PMU_INFO has their share."""
    chosen = parse("model: {kind: single-operator, shape: [4096, 4096, 4096]}")
    capture = captured(replace(chosen, schedule=replace(chosen.schedule, active=1)))
    counters = dict(zip(capture.counters.metrics, capture.counters.values[0].tolist(), strict=True))
    found = rows(capture, "biu_cycles")
    (kernel,) = kernels(capture)
    assert kernel["blocks"] >= 2
    for core in (0, 1):
        own = [row for row in found if row["core"] == core]
        cycles = counters["aic_total_cycles"] / kernel["blocks"]
        for pipe, metric in (("cube", "mac"), ("mte1", "mte1"), ("scalar", "scalar")):
            worked = sum(row[pipe] for row in own)
            assert worked == pytest.approx(counters[f"aic_{metric}_ratio"] * cycles, rel=0.02)
        assert sum(row["vector"] for row in own) == 0
    assert not any(row[pipe] for row in found if row["type"] == "aiv" for pipe in PIPES)


def test_groups_move_their_share_of_the_traffic() -> None:
    chosen = parse("model: {kind: single-operator, shape: [4096, 4096, 4096]}")
    capture = captured(replace(chosen, schedule=replace(chosen.schedule, active=1)))
    flow = rows(capture, "biu_flow")
    (kernel,) = kernels(capture)
    operands, result = 2 * 4096 * 4096 * 2, 4096 * 4096 * 2
    for group in (0, 1):
        own = [row for row in flow if row["group"] == group]
        assert sum(row["read_bandwidth"] for row in own) == operands // kernel["blocks"]
        assert sum(row["write_bandwidth"] for row in own) == result // kernel["blocks"]
        for row in own:
            assert (row["read_latency"] > 0) is (row["read_bandwidth"] > 0)


def test_a_short_period_fills_the_buffer() -> None:
    chosen = parse("model: {kind: single-operator, shape: [4096, 4096, 4096]}")
    capture = captured(chosen, replace(EVERYTHING, instr=300))
    by_core: dict[int, int] = {}
    for row in rows(capture, "biu_cycles"):
        by_core[row["core"]] = by_core.get(row["core"], 0) + 1
    assert set(by_core.values()) == {4096}
