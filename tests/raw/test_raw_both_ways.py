"""Captures as raw files and back: what raw files hold is the same to the nanosecond."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from plain_capture import Plain, plain
from slices import some

from ascend_ref.capture import Capture
from ascend_ref.capture.merge import merged
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.tree import SLICE
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.moments import MOMENTS, Moments
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN, Scenario, ScenarioError
from ascend_simulator.scenario.estimate import rows_per_rank
from ascend_simulator.strategies import scenarios

PRESETS = (
    "cnn-910a",
    "dense-8",
    "950-dense",
    "edge-310b",
    "inference-310p",
    "moe-8",
    "observed-everything",
    "recommendation",
    "text-museum",
    "troubled",
)
MOST_ROWS = 20_000


@cache
def preset(name: str) -> Capture:
    return simulate(RUN.preset(name)).capture(0)


def both_ways(
    folder: Path, capture: Capture, moments: Moments = MOMENTS, slice_size: int = SLICE
) -> tuple[Plain, Plain, RawCapture]:
    """What raw files hold of a capture, and what is read of them, with its damage."""
    shutil.rmtree(folder, ignore_errors=True)
    held = raw_view(capture, moments).capture
    write_raw(folder, held, moments, slice_size)
    (found,) = read_raw(folder)
    return plain(held), plain(found.capture), found


@pytest.mark.parametrize("name", some(PRESETS, every=3))
def test_a_preset_comes_back(tmp_path: Path, name: str) -> None:
    held, found, raw = both_ways(tmp_path / "PROF_1", preset(name))
    assert raw.damage == []
    assert found == held
    assert {"calls", "tasks", "kernels"} <= held.keys()


def test_everything_that_is_written_is_in_some_preset() -> None:
    """Else the tests above would compare nothing with nothing."""
    tables = {table for name in PRESETS for table in plain(raw_view(preset(name)).capture)}
    assert tables == {
        *("calls", "tasks", "kernels", "counters", "copies", "marks", "workspace"),
        *("collectives", "transfers"),
        *("ACC_PMU", "AICORE_FREQ", "NPU_MEM", "NPU_MODULE_MEM", "SOC_BANDWIDTH_LEVEL"),
        *("SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"),
        *("DDR", "HBM", "HCCS", "LLC", "NETDEV_STATS", "NIC", "PCIE", "QOS", "ROCE", "SIO"),
        *("CPU_USAGE", "HOST_MEM_USAGE", "HOST_DISK_USAGE", "HOST_NETWORK_USAGE"),
        *("host_cpu_usage", "host_mem_usage", "host_network_usage"),
        *("sys_mem", "process_mem", "cpu_usage", "process_cpu_usage", "dvpp"),
        *("step_trace", "step_trace_reduce", "step_trace_get_next"),
        *("l2_cache", "soc_pmu", "page_fault", "aicpu", "aicpu_mi", "static_op_mem", "fusion_op"),
        *("ai_cpu_top_function", "ctrl_cpu_top_function", "ts_cpu_top_function"),
        *("ai_cpu_pmu_events", "ctrl_cpu_pmu_events", "ts_cpu_pmu_events"),
        *("biu_flow", "biu_cycles", "UB", "CCU"),
        *("ccu_mission", "ccu_channel"),
        *("ccu_task_info", "ccu_group_info", "ccu_wait_signal_info"),
        *("voltage", "pa_link", "pcie_link"),
    }


def test_preparation_of_data_on_the_device_comes_back(tmp_path: Path) -> None:
    """No preset has it: of the products that read their data so 910A alone states it."""
    own = RUN.preset("cnn-910a")
    scenario = replace(
        own,
        model=replace(own.model, preprocess="device"),
        capture=replace(own.capture, aicpu=True),
    )
    held, found, raw = both_ways(tmp_path / "PROF_1", simulate(scenario).capture(0))
    assert raw.damage == []
    assert found == held
    assert {"aicpu", "aicpu_mi", "dp"} <= held.keys()


def of_model(capture: Capture, model: int) -> Capture:
    """A capture whose graph has another number."""
    tasks, fused = capture.tasks, capture.records["fusion_op"]
    own = np.where(tasks.model < 0, tasks.model, model)
    changed = {**fused, "model": np.full(len(fused["model"]), model)}
    return replace(
        capture,
        tasks=replace(tasks, model=own),
        records={**capture.records, "fusion_op": changed},
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", [1, -1])
def test_graphs_of_two_devices_come_back_in_order_of_their_first_calls(
    tmp_path: Path, order: int
) -> None:
    captures = list(simulate(RUN.preset("text-museum")).captures())
    capture = merged([of_model(one, at) for at, one in enumerate(captures, 1)])
    fused = {name: one[::order] for name, one in capture.records["fusion_op"].items()}
    capture = replace(capture, records={**capture.records, "fusion_op": fused})
    held, found, raw = both_ways(tmp_path / "PROF_1", capture)
    assert raw.damage == []
    assert found["fusion_op"] == held["fusion_op"]
    shown = raw_view(capture).capture.records["fusion_op"]["model"].tolist()
    assert set(shown) == {1, 2}
    assert raw.capture.records["fusion_op"]["model"].tolist() == shown


def test_reports_of_units_come_back_whatever_their_order(tmp_path: Path) -> None:
    """Files have them in the order of launches, recordings by die."""
    capture = preset("950-dense")
    turned = {
        kind: {name: column[::-1] for name, column in capture.records[kind].items()}
        for kind in ("ccu_task_info", "ccu_group_info", "ccu_wait_signal_info")
    }
    for at, one in enumerate(
        (capture, replace(capture, records={**capture.records, **turned})), start=1
    ):
        held, found, _ = both_ways(tmp_path / f"PROF_{at}", one)
        assert all(held[kind] == found[kind] for kind in turned)
        assert all(len(found[kind]) > 1 for kind in turned)


def drawn_both_ways(folder: Path, scenario: Scenario) -> None:
    assume(scenario.capture.npu)
    assume(rows_per_rank(scenario) * scenario.parallelism.ranks < MOST_ROWS)
    try:
        captures = list(simulate(scenario).captures())
    except ScenarioError:
        assume(False)
    together = scenario.parallelism.devices_per_process
    held, found, raw = both_ways(folder / "PROF_1", merged(captures[:together]))
    assert raw.damage == []
    assert found == held


QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=3, deadline=None, suppress_health_check=QUIET)
@given(scenario=scenarios(max_ranks=2, max_steps=2, max_faults=2))
def test_any_product_switches_and_faults_come_back(tmp_path: Path, scenario: Scenario) -> None:
    drawn_both_ways(tmp_path, scenario)


@pytest.mark.campaign
@settings(max_examples=80, deadline=None, suppress_health_check=QUIET)
@given(scenario=scenarios(max_ranks=4, max_steps=2, max_faults=3))
def test_many_products_switches_and_faults_come_back(tmp_path: Path, scenario: Scenario) -> None:
    drawn_both_ways(tmp_path, scenario)


@settings(max_examples=8, deadline=None, suppress_health_check=QUIET)
@given(
    host=st.sampled_from([24, 25, 100, Fraction(625, 10), 1000]),
    device=st.sampled_from([19, 48, 50, 100, 1000]),
    monotonic=st.integers(10**6, 10**12).map(lambda microseconds: microseconds * 1000),
    counters=st.tuples(st.integers(1, 1 << 45), st.integers(1, 1 << 45), st.integers(1, 1 << 50)),
    slice_size=st.sampled_from([1, 1000, 70_000]),
)
def test_clocks_and_slices_change_nothing(
    tmp_path: Path,
    host: int,
    device: int,
    monotonic: int,
    counters: tuple[int, int, int],
    slice_size: int,
) -> None:
    moments = Moments(Fraction(host), Fraction(device), monotonic, 100_000, *counters)
    held, found, raw = both_ways(tmp_path / "PROF_1", preset("single-op"), moments, slice_size)
    assert raw.damage == []
    assert found == held


@pytest.mark.parametrize("name", ["dense-8", "cnn-910a"])
def test_numbers_of_tasks_that_begin_again_come_back(tmp_path: Path, name: str) -> None:
    """A stream counts in 16 bits; the records of flips show it on both sides (raw-prof 4.2)."""
    capture = preset(name)
    wrapped = (capture.tasks.number + 65_300) % 65_536
    tasks = replace(capture.tasks, number=wrapped)
    assert np.any(np.diff(wrapped[capture.tasks.stream == 2]) < 0)
    held, found, raw = both_ways(tmp_path / "PROF_1", replace(capture, tasks=tasks))
    assert raw.damage == []
    assert found == held
    kinds = {row[-1] for row in found["tasks"]}
    assert "FLIP_TASK" not in kinds


@pytest.mark.parametrize("name", some(["dense-8", "observed-everything", "cnn-910a"], every=3))
def test_devices_of_one_process_stay_apart(tmp_path: Path, name: str) -> None:
    captures = [simulate(RUN.preset(name)).capture(rank) for rank in (0, 1)]
    held, found, raw = both_ways(tmp_path / "PROF_1", merged(captures))
    assert raw.damage == []
    assert found == held
    assert {row[2] for row in found["tasks"]} == {0, 1}


def test_the_same_capture_gives_the_same_bytes(tmp_path: Path) -> None:
    capture = raw_view(preset("dense-8")).capture
    for name in ("a", "b"):
        write_raw(tmp_path / name, capture)
    files = {
        name: {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("a", "b")
    }
    assert files["a"] == files["b"]
