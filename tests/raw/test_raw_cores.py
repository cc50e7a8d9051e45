"""Cores sampled by time: what raw files hold is what the simulated cores counted."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from counted_groups import GROUPS, PRESETS
from plain_capture import plain
from raw_trees import DEVICE, DM, EVENTS, HM_DEV, M0, WALL_US, device_ticks, info, write_tree
from slices import some

from ascend_ref.capture import Capture
from ascend_ref.cli import main
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

LOAD, SUMMARY = "SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"
SAMPLED = {"ai_core_profiling_mode": "sample-based", "aiv_profiling_mode": "sample-based"}
EXACT = "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55"
START = WALL_US * 1000


@cache
def sampled(product: str, group: str = "PipeUtilization") -> Capture:
    scenario = RUN.preset(PRESETS[product])
    level = scenario.capture.level or 1
    changed = replace(scenario.capture, aic_metrics=group, aic_mode="sample-based", level=level)
    return simulate(replace(scenario, capture=changed)).capture(0)


@pytest.mark.parametrize(("product", "group"), some(GROUPS, every=9))
def test_every_group_comes_back_on_every_product(tmp_path: Path, product: str, group: str) -> None:
    held, lost = raw_view(sampled(product, group))
    write_raw(tmp_path / "PROF_1", held)
    (found,) = read_raw(tmp_path / "PROF_1")
    assert found.damage == []
    assert not [one for one in lost if "SAMPLE_PMU" in one or "cores" in one]
    assert found.capture.switches.aic_mode == "sample-based"
    assert found.capture.switches.aic_metrics == group
    for name in (LOAD, SUMMARY):
        assert plain(found.capture)[name] == plain(held)[name]
    assert set(plain(held)[LOAD]) == set(plain(sampled(product, group))[LOAD])


@pytest.mark.parametrize(("product", "group"), some(GROUPS, every=6))
def test_whole_events_change_next_to_nothing(product: str, group: str) -> None:
    """The metrics of the simulator are those of its kernels; events only round them."""
    capture = sampled(product, group)
    before, after = metrics(capture), metrics(raw_view(capture).capture)
    cycles = cycles_of(capture)
    lacking = {metric for _, _, metric in before.keys() - after.keys()}
    assert lacking <= ({"main_mem_read_bw", "main_mem_write_bw"} if product == "950" else set())
    assert after.keys() <= before.keys()
    assert any(after.values())
    for key, new in after.items():
        kind, core, metric = key
        if "fops" in metric:  # Follows from the events of the shares, by the weights of types.
            continue
        # An event of a share is a cycle; one of a bandwidth is at most 4 KiB in these cycles.
        worth = 1 / max(cycles[kind, core], 1)
        worth *= 4096 * 2e9 if "_bw" in metric else 8
        assert new == pytest.approx(before[key], rel=1e-9, abs=max(worth, 1e-9) * 1.01) or (
            metric.endswith(("datas", "hit", "allocate", "miss", "victim"))
            and abs(new - before[key]) <= 0.51
        ), key


def metrics(capture: Capture) -> Mapping[tuple[str, int, str], float]:
    """The metrics of each core by kind, number and name."""
    table, texts = capture.samples[SUMMARY], capture.texts.all
    columns = (table[name].tolist() for name in ("coreType", "coreId", "metric", "value"))
    return {
        (texts[kind], core, texts[metric]): value
        for kind, core, metric, value in zip(*columns, strict=True)
    }


def cycles_of(capture: Capture) -> Mapping[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    table, texts = capture.samples[LOAD], capture.texts.all
    columns = (table[name].tolist() for name in ("coreType", "coreId", "totalCycle"))
    for kind, core, cycles in zip(*columns, strict=True):
        found[texts[kind], core] = found.get((texts[kind], core), 0) + cycles
    return found


# --- bytes by hand --------------------------------------------------------------------------------


def record(us: float, core: int, cycles: int, *events: int, mode: int = 1) -> bytes:
    """96 bytes of raw-prof 4.7; its time is of the device's own clock, in ns."""
    at = DM + round(us * 1000) - (HM_DEV - M0)
    counters = events + (0,) * (8 - len(events))
    return struct.pack("<BBHHH8QQQBB6x", mode, 0, 0x6BD3, 0, 0, *counters, cycles, at, 8, core)


def record_v6(us: float, core: int, cycles: int, *events: int) -> bytes:
    """112 bytes; its time is of the device's counter."""
    counters = events + (0,) * (10 - len(events))
    head = struct.pack("<BBHHH10Q", 1, 0, 0x6BD3, 0, 0, *counters)
    return head + struct.pack("<QQBB6x", cycles, device_ticks(us), 10, core)


def tree(
    folder: Path, chip: int, name: str, content: bytes, events: str = EVENTS, **sample: object
) -> Path:
    """A folder of a chip whose cores were sampled."""
    prof = write_tree(folder / "PROF_1", {}, {name: content})
    for path, devices in ((prof / "host" / "info.json", []), (prof / "device_0/info.json.0", [0])):
        device = [DEVICE] if devices else []
        more = {"platform_version": str(chip), "DeviceInfo": device}
        path.write_text(json.dumps(info("0" if devices else "64", **more)))
    for path in (prof / "host/sample.json", prof / "device_0/sample.json"):
        known = json.loads(path.read_text())
        lists = {"ai_core_profiling_events": events, "aiv_profiling_events": events}
        path.write_text(json.dumps({**known, **SAMPLED, **lists, **sample}))
    return prof


def read(prof: Path) -> RawCapture:
    (found,) = read_raw(prof)
    return found


def load_of(found: RawCapture) -> list[tuple[object, ...]]:
    texts, table = found.capture.texts.all, found.capture.samples[LOAD]
    names = ("coreType", "coreId", "timestampNs", "totalCycle", "usage", "freq")
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    return [(texts[kind], *rest) for kind, *rest in rows]


def test_samples_of_both_kinds_of_cores_by_hand(tmp_path: Path) -> None:
    """Chip 5: cores from 25 on are vectors. 0x416, 0x417 count the cube, 0x8 the vector unit."""
    content = b"".join(
        [
            record(10_000, 3, 900_000, 100, 50, 7, 0, 0, 0, 40, 4),
            record(10_000, 25, 1_800, 900, 0, 0, 0, 450, 0, 0, 0),
            record(20_000, 3, 9_000_000, 300, 150, 20, 0, 0, 0, 60, 6),
            record(20_000, 25, 16_200, 8_100, 0, 0, 0, 0, 0, 0, 0),
            record(30_000, 3, 0),
        ]
    )
    prof = tree(tmp_path, 5, "ffts_profile.data.0.slice_0", content)
    sample = json.loads((prof / "device_0/sample.json").read_text())
    sample |= {"ai_core_metrics": "PipeUtilizationExct", "ai_core_profiling_events": EXACT}
    (prof / "device_0/sample.json").write_text(json.dumps(sample))
    found = read(prof)
    assert found.damage == []
    assert load_of(found) == [
        # Of the first sample of a core by 1 ns (E48), then 9e6 of 1800 MHz in 10 ms.
        ("AIC", 3, START + 10_000_000, 900_000, 900_000 * 1000 / 1800 * 100, 1800),
        ("AIC", 3, START + 20_000_000, 9_000_000, 50.0, 1800),
        ("AIC", 3, START + 30_000_000, 0, 0.0, 1800),
        ("AIV", 25, START + 10_000_000, 1_800, 100_000.0, 1800),
        ("AIV", 25, START + 20_000_000, 16_200, pytest.approx(0.09), 1800),
    ]
    cube, vector = 9_900_000, 18_000
    assert metrics(found.capture) == {
        ("AIC", 3, "total_time"): pytest.approx(cube / 1800 * 1000),
        ("AIC", 3, "mac_ratio"): 600 / cube,
        ("AIC", 3, "scalar_ratio"): 27 / cube,
        ("AIC", 3, "mte1_ratio"): 0.0,
        ("AIC", 3, "mte2_ratio"): 0.0,
        ("AIC", 3, "fixpipe_ratio"): 0.0,
        ("AIC", 3, "icache_miss_rate"): 0.1,
        ("AIV", 25, "total_time"): pytest.approx(10_000),
        ("AIV", 25, "vec_ratio"): 0.5,
        ("AIV", 25, "mac_ratio"): 0.0,
        ("AIV", 25, "scalar_ratio"): 0.0,
        ("AIV", 25, "mte1_ratio"): 0.0,
        ("AIV", 25, "mte2_ratio"): 450 / vector,
        ("AIV", 25, "mte3_ratio"): 0.0,
        ("AIV", 25, "icache_miss_rate"): 0.0,
    }


def test_bandwidths_have_the_formulas_of_samples_by_hand(tmp_path: Path) -> None:
    """text-outputs 4.3: of vector writes to UB 128 bits, where tasks have twice as many."""
    events = "0x10,0x13,0x37,0x38,0x3d,0x3e,0x43,0x44"
    content = record(10_000, 0, 1_800_000, 0, 0, 1_000, 0, 0, 2_000, 3_000, 4_000)
    prof = tree(tmp_path, 5, "ffts_profile.data.0.slice_0", content, events)
    for path in (prof / "host/sample.json", prof / "device_0/sample.json"):
        known = json.loads(path.read_text())
        path.write_text(json.dumps({**known, "ai_core_metrics": "MemoryUB"}))
    found = metrics(read(prof).capture)
    # 1.8e6 cycles are 1 ms; the table has Byte/s (E55).
    second = 1000 / 8
    assert found == {
        ("AIC", 0, "total_time"): pytest.approx(1e6),
        ("AIC", 0, "ub_read_bw_mte"): 0.0,
        ("AIC", 0, "ub_write_bw_mte"): pytest.approx(2_000 * 128 * second),
        ("AIC", 0, "ub_read_bw_vector"): pytest.approx(3_000 * 256 * second),
        ("AIC", 0, "ub_write_bw_vector"): pytest.approx(4_000 * 128 * second),
        ("AIC", 0, "ub_read_bw_scalar"): pytest.approx(1_000 * 128 * second),
        ("AIC", 0, "ub_write_bw_scalar"): 0.0,
    }


def test_chip_15_counts_by_the_device_and_begins_with_vectors_at_36(tmp_path: Path) -> None:
    content = b"".join(
        [
            record_v6(10_000, 35, 90, 0, 45),
            record_v6(10_000, 36, 1_000, 500),
            record_v6(20_000, 36, 3_000, 500),
        ]
    )
    events = "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714"
    found = read(tree(tmp_path, 15, "ffts_profile.data.0.slice_0", content, events))
    assert found.damage == []
    assert [row[:4] for row in load_of(found)] == [
        ("AIC", 35, START + 10_000_000, 90),
        ("AIV", 36, START + 10_000_000, 1_000),
        ("AIV", 36, START + 20_000_000, 3_000),
    ]
    shares = metrics(found.capture)
    assert shares["AIC", 35, "mac_ratio"] == 0.5
    assert shares["AIV", 36, "vec_ratio"] == 0.25


def test_older_chips_have_a_file_for_each_kind_of_core(tmp_path: Path) -> None:
    prof = tree(tmp_path, 4, "aicore.data.0.slice_0", record(10_000, 30, 100, 25))
    (prof / "device_0/data/aiVectorCore.data.0.slice_0").write_bytes(record(10_000, 0, 100, 75))
    found = read(prof)
    assert found.damage == []
    assert [row[:4] for row in load_of(found)] == [
        ("AIC", 30, START + 10_000_000, 100),
        ("AIV", 0, START + 10_000_000, 100),
    ]
    shares = metrics(found.capture)
    assert shares["AIC", 30, "vec_ratio"] == 0.25
    assert shares["AIV", 0, "vec_ratio"] == 0.75


# --- what is damaged ------------------------------------------------------------------------------


def stated(found: RawCapture) -> list[str]:
    return [one.message for one in found.damage]


def test_what_no_sample_can_have_is_stated_and_left_out(tmp_path: Path) -> None:
    content = b"".join(
        [
            record(10_000, 0, 100, 50),
            record(20_000, 0, 100, 50, mode=0),
            record(20_000, 0, 1 << 63, 50),
            record(20_000, 0, 100, 1 << 62),
            record(30_000, 0, 300, 50),
            record(30_000, 0, 999, 999),
        ]
    )
    found = read(tree(tmp_path, 5, "ffts_profile.data.0.slice_0", content))
    assert stated(found) == [
        "ffts_profile: 3 of 6 samples have numbers that they cannot have",
        "ffts_profile: 1 samples are of the time of another",
    ]
    assert [row[3] for row in load_of(found)] == [100, 300]
    assert metrics(found.capture)["AIC", 0, "vec_ratio"] == 0.25


def test_a_front_that_aged_and_an_end_that_is_torn_cost_no_more(tmp_path: Path) -> None:
    whole = b"".join(record(10_000 + at, 0, 100 + at, at) for at in range(6))
    found = read(tree(tmp_path, 5, "ffts_profile.data.0.slice_0", whole[40:-10]))
    assert len(found.damage) >= 2
    assert [row[3] for row in load_of(found)] == [101, 102, 103, 104]


def test_times_of_a_clock_that_is_not_known_are_never_guessed(tmp_path: Path) -> None:
    prof = tree(tmp_path, 5, "ffts_profile.data.0.slice_0", record(10_000, 0, 100, 50))
    (prof / "device_0/dev_start.log.0").unlink()
    found = read(prof)
    assert any("1 samples of ffts_profile have no times" in one for one in stated(found))
    assert LOAD not in found.capture.samples


def test_events_that_nobody_states_cost_the_metrics_alone(tmp_path: Path) -> None:
    content = record(10_000, 0, 100, 50)
    found = read(tree(tmp_path, 5, "ffts_profile.data.0.slice_0", content, events="0x8"))
    assert len(load_of(found)) == 1
    assert metrics(found.capture).keys() == {("AIC", 0, "total_time"), ("AIC", 0, "vec_ratio")}
    (words,) = stated(found)
    assert "ai_core_profiling_events of sample.json lacks the events of 5 metrics" in words


@pytest.mark.parametrize("group", ["Nonsense", "PipelineExecuteUtilization", "Custom:0x8"])
def test_a_group_that_is_not_known_costs_the_metrics_alone(tmp_path: Path, group: str) -> None:
    content = record(10_000, 0, 100, 50)
    prof = tree(tmp_path, 5, "ffts_profile.data.0.slice_0", content, ai_core_metrics=group)
    found = read(prof)
    assert len(load_of(found)) == 1
    assert SUMMARY not in found.capture.samples
    assert len(found.damage) == 1


# --- as a user has it -----------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_simulated_samples_are_exported_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "sampled.yaml"
    chosen = RUN.preset("single-op")
    changed = replace(chosen, capture=replace(chosen.capture, aic_mode="sample-based"))
    scenario.write_text(RUN.to_yaml(changed))
    run, out = tmp_path / "run", tmp_path / "out"
    forms = "raw,msprof-db,csv,timeline"
    words = ["simulate", str(scenario), "--as", forms]
    assert main([*words, "-o", str(run)]) == 0
    prof = min(run.glob("PROF_*"))
    assert main(["export", str(prof), "--raw", "-o", str(out)]) == 0
    assert main(["check", str(out), "--quiet"]) == 0
    (truth,), (made,) = prof.glob("msprof_*.db"), out.rglob("msprof_*.db")
    tables = [_rows(path) for path in (truth, made)]
    assert tables[0] == tables[1]
    assert all(tables[0])
    for name in ("ai_core_utilization", "ai_vector_core_utilization"):
        (truth,) = (prof / "mindstudio_profiler_output").glob(f"{name}_*.csv")
        (made,) = out.rglob(f"{name}_*.csv")
        assert made.read_text() == truth.read_text()
    capsys.readouterr()
    (slices,) = prof.rglob("ffts_profile.data.*")
    assert main(["decode", str(slices), "--rows", "1"]) == 0
    (record, *_) = json.loads(capsys.readouterr().out)["records"]
    assert record["coreId"] == 0
    assert record["timestamp_ns"] > START // 2
    assert main(["export", str(prof), "--raw", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"table {LOAD}: ") and "rows" in line for line in lines)
    assert any("ffts_profile: device_0, 1 file" in line for line in lines)


def _rows(path: Path) -> list[list[tuple[object, ...]]]:
    text = "(SELECT value FROM STRING_IDS WHERE id = {})"
    queries = [
        f"SELECT deviceId, timestampNs, totalCycle, usage, freq, coreId, {text.format('coreType')}"
        f" FROM {LOAD} ORDER BY 7, 6, 2",
        f"SELECT deviceId, {text.format('metric')}, value, coreId, {text.format('coreType')}"
        f" FROM {SUMMARY} ORDER BY 5, 4, 2",
    ]
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(query).fetchall() for query in queries]


def test_sample_json_lists_the_events_without_fillers(tmp_path: Path) -> None:
    """The parser of samples makes a column of each event, and fails at a second 0x0."""
    write_raw(tmp_path / "PROF_1", raw_view(sampled("A2", "ResourceConflictRatio")).capture)
    sample = json.loads((tmp_path / "PROF_1" / "device_0" / "sample.json").read_text())
    assert sample["ai_core_profiling_mode"] == sample["aiv_profiling_mode"] == "sample-based"
    assert sample["ai_core_profiling_events"] == sample["aiv_profiling_events"] == "0x64,0x65,0x66"
    (slices,) = (tmp_path / "PROF_1").rglob("ffts_profile.data.*")
    assert slices.stat().st_size % 96 == 0


def test_events_are_dealt_to_samples_as_their_cycles_are(tmp_path: Path) -> None:
    capture = raw_view(sampled("A2")).capture
    write_raw(tmp_path / "PROF_1", capture)
    (slices,) = (tmp_path / "PROF_1").rglob("ffts_profile.data.*")
    rows = [struct.unpack_from("<BBHHH8QQQBB", one) for one in _cut(slices.read_bytes(), 96)]
    assert (
        len({(row[14], row[16]) for row in rows})
        == len(rows)
        == len(capture.samples[LOAD]["usage"])
    )
    events = np.array([row[5:13] for row in rows])
    cycles = np.array([row[13] for row in rows])
    # No share of the cycles can be more than they are, but for a rounded event.
    assert (events[:, 2] <= cycles + 1).all()
    assert (events[cycles == 0] <= 1).all()
    assert events[:, 2].sum() > 0


def _cut(content: bytes, size: int) -> list[bytes]:
    return [content[at : at + size] for at in range(0, len(content), size)]
