"""Counters of the cores: what raw files hold is what the simulated cores counted."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from counted_groups import GROUPS, PRESETS
from plain_capture import plain
from slices import some

from ascend_ref.capture import Capture
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_spec import text_catalog

MISSING = {
    # What the collector counts of them the exporter does not know (T106).
    "950": {f"ai{core}_main_mem_{way}_bw" for core in "cv" for way in ("read", "write")},
}
"""Metrics whose events no record has."""
EIGHT = 8
TICK = 20
"""ns of the device's counter, by which the times of 950 go."""


@cache
def counted(product: str, group: str) -> Capture:
    scenario = RUN.preset(PRESETS[product])
    chosen = replace(scenario, capture=replace(scenario.capture, aic_metrics=group))
    return simulate(chosen).capture(0)


@pytest.mark.parametrize(("product", "group"), some(GROUPS, every=9))
def test_every_group_comes_back_on_every_product(tmp_path: Path, product: str, group: str) -> None:
    capture = counted(product, group)
    held = raw_view(capture).capture
    write_raw(tmp_path / "PROF_1", held)
    (found,) = read_raw(tmp_path / "PROF_1")
    assert found.damage == []
    assert found.capture.switches.aic_metrics == group
    assert len(held.counters.task) == len(capture.counters.task) > 50
    assert plain(found.capture)["counters"] == plain(held)["counters"]


@pytest.mark.parametrize(("product", "group"), some(GROUPS, every=3))
def test_whole_events_change_next_to_nothing(product: str, group: str) -> None:
    """The metrics of the simulator are those of its kernels; events only round them."""
    capture = counted(product, group)
    before, after = capture.counters, raw_view(capture).capture.counters
    missing = MISSING.get(product, set())
    assert set(before.metrics) - set(after.metrics) == missing & set(before.metrics)
    for name in after.metrics:
        if "fops" in name:  # Follows from the events of the shares, by the weights of types.
            continue
        old = before.values[:, before.metrics.index(name)]
        new = after.values[:, after.metrics.index(name)]
        assert (np.abs(new - old) <= 0.51 * of_one_event(capture, name)).all(), name


def of_one_event(capture: Capture, name: str) -> np.ndarray:
    """How much of a metric one event is (text-outputs 4.3), for each run."""
    pmu, facts, counters = text_catalog().pmu, capture.origin.facts, capture.counters
    prefix = name[:4] if name.startswith("ai") else ""
    cycles = np.maximum(counters.values[:, counters.metrics.index(f"{prefix}total_cycles")], 1)
    time = counters.values[:, counters.metrics.index(f"{prefix}total_time")]
    timed = TICK if capture.origin.chip == "Ascend950" else 0
    metric = (timed and pmu.metric(f"{name}_v6")) or pmu.metric(name)
    assert metric is not None
    assert facts is not None
    if "_bw" in name:
        unit = 1 if capture.origin.chip == "Ascend910B" else 2**30
        worth = (metric.coefficient("C") or 0) * max(metric.weights_on("950"), default=1)
        return worth * facts.frequency * 1e6 / cycles / 2**33 * unit
    if metric.kind == "rate":
        return 1 / np.maximum(cycles // 8, 1)
    if name.endswith("_ratio"):
        return 1 / cycles
    if name.endswith("_time") and "total" not in name:
        return np.maximum(time, 1) / cycles + timed
    if timed and name.endswith("total_time"):
        return np.full(len(cycles), float(TICK))
    return np.full(len(cycles), 0.125 if "datas" in name else 1.0)


def test_sample_json_states_what_a_real_one_does(tmp_path: Path) -> None:
    """raw-prof 3.2: on chip 5 the cubes count the exact pipes, the vectors the plain ones."""
    write_raw(tmp_path / "PROF_1", raw_view(counted("A2", "PipeUtilization")).capture)
    sample = json.loads((tmp_path / "PROF_1" / "device_0" / "sample.json").read_text())
    assert sample["ai_core_metrics"] == "PipeUtilizationExct"
    assert sample["ai_core_profiling_events"] == "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55"
    assert sample["aiv_metrics"] == "PipeUtilization"
    assert sample["aiv_profiling_events"] == "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"


@pytest.mark.parametrize("group", ["ArithmeticUtilization", "ResourceConflictRatio", "L2Cache"])
def test_short_lists_are_filled_for_the_parser_in_c(tmp_path: Path, group: str) -> None:
    write_raw(tmp_path / "PROF_1", raw_view(counted("A2", group)).capture)
    sample = json.loads((tmp_path / "PROF_1" / "device_0" / "sample.json").read_text())
    for name in ("ai_core", "aiv"):
        assert len(sample[f"{name}_profiling_events"].split(",")) == EIGHT


def test_blocks_of_the_other_cores_are_added(tmp_path: Path) -> None:
    """raw-prof 4.7: of a mixed kernel the records of blocks on the cores of the other kind."""
    capture = raw_view(counted("A2", "PipeUtilization")).capture
    write_raw(tmp_path / "PROF_1", capture)
    kinds = capture.kernel_kinds
    mixed = np.flatnonzero(kinds.mix_blocks[capture.kernels.kind] > 0)
    data = b"".join(one.read_bytes() for one in (tmp_path / "PROF_1").rglob("ffts_profile*slice*"))
    records = [data[at : at + 128] for at in range(0, len(data), 128)]
    blocks = [one for one in records if struct.unpack("<H", one[:2])[0] & 63 == 41]
    assert len(records) - len(blocks) == len(capture.counters.task)
    assert len(blocks) == int(kinds.mix_blocks[capture.kernels.kind[mixed]].sum()) > 0
    cycles = sum(struct.unpack("<Q", one[32:40])[0] for one in blocks)
    names = capture.counters.metrics
    of_cube = np.isin(
        kinds.core[capture.kernels.kind[mixed]],
        [at for at, text in enumerate(capture.texts.all) if text == "MIX_AIC"],
    )
    row = np.searchsorted(capture.counters.task, capture.kernels.task[mixed])
    values = capture.counters.values[row]
    other = np.where(
        of_cube,
        values[:, names.index("aiv_total_cycles")],
        values[:, names.index("aic_total_cycles")],
    )
    assert cycles == int(other.sum())


@pytest.mark.parametrize(
    ("events", "lost"),
    [("0x8", "lacks the events of 11 metrics"), ("", "lacks"), ("zero,\\u0000,0x8", "lacks")],
)
def test_events_that_are_not_counted_are_stated(tmp_path: Path, events: str, lost: str) -> None:
    write_raw(tmp_path / "PROF_1", raw_view(counted("A2", "PipeUtilization")).capture)
    path = tmp_path / "PROF_1" / "device_0" / "sample.json"
    sample = json.loads(path.read_text())
    path.write_text(json.dumps({**sample, "aiv_profiling_events": events}))
    (found,) = read_raw(tmp_path / "PROF_1")
    assert [str(one) for one in found.damage if lost in str(one)]
    assert "aic_mac_ratio" in found.capture.counters.metrics
    assert "aiv_mte2_ratio" not in found.capture.counters.metrics


def test_counters_of_tasks_that_nobody_logged_are_stated(tmp_path: Path) -> None:
    write_raw(tmp_path / "PROF_1", raw_view(counted("A2", "PipeUtilization")).capture)
    for one in (tmp_path / "PROF_1").rglob("stars_soc.data*slice*"):
        one.write_bytes(one.read_bytes()[: -64 * 40])
    (found,) = read_raw(tmp_path / "PROF_1")
    assert any("records are of no task that ran" in str(one) for one in found.damage)


def test_counts_that_are_damaged_overflow_nothing(tmp_path: Path) -> None:
    write_raw(tmp_path / "PROF_1", raw_view(counted("A2", "PipeUtilization")).capture)
    for one in (tmp_path / "PROF_1").rglob("ffts_profile*slice*"):
        data = bytearray(one.read_bytes())
        for at in range(0, len(data), 128):
            data[at + 32 : at + 40] = b"\xff" * 8
            data[at + 48 : at + 112] = b"\xff" * 64
        one.write_bytes(bytes(data))
    (found,) = read_raw(tmp_path / "PROF_1")
    assert np.isfinite(found.capture.counters.values).all()
    assert (found.capture.counters.values >= 0).all()
