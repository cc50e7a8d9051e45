"""Metrics of performance counters: the real rows, and answers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_text import rows_of

from ascend_ref.derive.pmu import (
    Convention,
    Runs,
    cube_utilization,
    frequencies_in_force,
    memory_bound,
    metric_values,
    total_time,
)
from ascend_spec import text_catalog

METRICS = text_catalog().pmu.metrics
CUBE_CORES, VECTOR_CORES, FREQUENCY = 24, 48, 1800
CPP = Convention("C", "A2")


def real_rows() -> list[dict[str, str]]:
    """Those that have counters."""
    return [row for row in rows_of("kernel_details") if row["aic_total_cycles"] != "N/A"]


def column(name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in real_rows()])


def blocks(main: str) -> np.ndarray:
    """Blocks on a kind of core; of a mixed task those on its other kind are the Mix Block Dim."""
    found = []
    for row in real_rows():
        core = row["Accelerator Core"]
        mixed = core.startswith("MIX_") and core != main
        found.append(int(row["Mix Block Dim" if mixed else "Block Dim"]))
    return np.array(found)


@pytest.mark.parametrize(
    ("time", "cycles", "main", "cores"),
    [
        ("aicore_time(us)", "aic_total_cycles", "MIX_AIC", CUBE_CORES),
        ("aiv_time(us)", "aiv_total_cycles", "MIX_AIV", VECTOR_CORES),
    ],
)
def test_the_real_times_follow_from_cycles_and_blocks(
    time: str, cycles: str, main: str, cores: int
) -> None:
    assert len(real_rows()) == 185
    found = total_time(column(cycles).astype(np.int64), blocks(main), cores, FREQUENCY)
    assert np.abs(found - column(time)).max() <= 0.001


def test_the_real_times_of_the_pipes_are_their_shares_of_the_total() -> None:
    shares = [name for name in rows_of("kernel_details")[0] if name.endswith("_ratio")]
    assert len(shares) == 9
    compared = 0
    for name in shares:
        total = column("aicore_time(us)" if name.startswith("aic_") else "aiv_time(us)")
        told = column(name.replace("_ratio", "_time(us)"))
        # The ratio is rounded to 0.0005, total and time to 0.0005 us.
        assert (np.abs(column(name) * total - told) <= 0.0005 * total + 0.001).all()
        compared += int((told > 0).sum())
    assert compared > 700


def test_the_real_cube_utilization_is_that_of_24_cores() -> None:
    ratio = column("aic_mac_ratio")
    found = cube_utilization(
        column("aic_total_cycles").astype(np.int64),
        ratio,
        column("Duration(us)"),
        cores=CUBE_CORES,
        frequency=FREQUENCY,
        engine="python",
    )
    assert np.abs(found - column("cube_utilization(%)")).max() <= 0.002
    assert (found[ratio == 0] == 0).all()
    assert (ratio == 0).sum() == 162


def test_tasks_of_more_blocks_than_cores_run_in_rounds() -> None:
    cycles, count = np.array([1800, 3600, 3600, 7]), np.array([1, 24, 25, 0])
    # 25 blocks take two rounds of a 25th of the cycles.
    assert total_time(cycles, count, 24, 1800).tolist() == [1.0, 2.0 / 24, 2.0 * 2 / 25, 0.0]
    assert total_time(cycles, count, 0, 1800).tolist() == [0.0] * 4
    assert total_time(cycles[:2], count[:2], 24, np.array([900, 0])).tolist() == [2.0, 0.0]


def test_the_clock_in_force_is_that_of_the_last_sample() -> None:
    time, end = np.array([10, 20]), np.array([5, 10, 15, 20, 99])
    found = frequencies_in_force(time, np.array([1000, 800]), end, 1800)
    assert found.tolist() == [1800, 1000, 1000, 800, 800]
    assert frequencies_in_force(time, np.array([1000, 0]), end, 1800).tolist() == [1800] * 5
    assert frequencies_in_force(time[:0], time[:0], end, 1800).tolist() == [1800] * 5


def values(name: str, counts: dict[int, int], convention: Convention = CPP) -> float:
    """The metric of one run: 3600 cycles, which at 1800 MHz are 2 us; total time 4 us."""
    runs = Runs(
        cycles=np.array([3600]),
        total_time=np.array([4.0]),
        frequency=1800,
        counts={event: np.array([count]) for event, count in counts.items()},
    )
    (found,) = metric_values(METRICS[name], runs, convention)
    return float(found)


def test_ratios_are_events_per_cycle_and_times_their_part_of_the_total() -> None:
    assert values("vec_ratio", {0x8: 900}) == 0.25
    assert values("mac_ratio_extra", {0x416: 300, 0x417: 600}) == 0.25
    assert values("mac_time_extra", {0x416: 300, 0x417: 600}) == 1.0
    assert values("vec_fp16_ratio", {0x4C: 36, 0x4D: 72}) == 0.03
    assert values("icache_miss_rate", {0x55: 3, 0x54: 12}) == 0.25
    assert values("icache_miss_rate", {0x55: 3, 0x54: 0}) == 0.0
    assert values("total_time", {}) == 4.0
    assert values("total_cycles", {}) == 3600.0


def test_operations_have_weights_by_family() -> None:
    assert values("cube_fops", {0x49: 2, 0x4A: 3}) == 2 * 8192 + 3 * 16384
    counts = {0x4C: 1, 0x4D: 10, 0x4B: 100, 0x4E: 1000, 0x4F: 10000}
    for family, weights in (
        ("A2", (128, 64, 64, 64, 32)),
        ("310P", (128, 64, 64, 16, 16)),
        ("310", (128, 64, 32, 64, 32)),
    ):
        expected = sum(
            weight * count for weight, count in zip(weights, counts.values(), strict=True)
        )
        assert values("vector_fops", counts, Convention("C", family)) == expected


@pytest.mark.parametrize(
    ("name", "event", "pipe_by_set"),
    [
        ("ub_read_bw", 0x15, {"C": 1024, "P": 1024, "S": 1024}),
        ("l1_write_bw", 0x32, {"C": 1024, "P": 2048, "S": 1024}),
        ("l0b_read_bw", 0x21, {"C": 4096, "P": 2048}),
        ("l0c_read_bw_cube", 0x28, {"C": 8192, "P": 2048}),
        ("main_mem_read_bw", 0x12, {"C": 64, "P": 64}),
        ("ub_write_bw_vector", 0x44, {"C": 256, "S": 128}),
    ],
)
def test_bandwidths_are_bytes_in_the_time_of_the_cycles(
    name: str, event: int, pipe_by_set: dict[str, int]
) -> None:
    for chosen, pipe in pipe_by_set.items():
        assert chosen in ("C", "P", "S")
        found = values(name, {event: 1 << 20}, Convention(chosen, "A2"))
        assert found == pytest.approx((1 << 20) * pipe / 2e-6 / 2**33, rel=1e-12)


def test_on_the_oldest_chip_bandwidths_take_the_total_time() -> None:
    found = values("main_mem_read_bw", {0x12: 1 << 20}, Convention("V1", "310"))
    assert found == pytest.approx((1 << 20) * 2048 / 4e-6 / 2**33, rel=1e-12)


def test_amounts_are_factors_of_differences() -> None:
    assert values("read_main_memory_datas", {0x50D: 8, 0x50E: 8}) == 2.0
    assert values("GM_to_L1_datas", {0x32: 12, 0x206: 4}) == 2.0
    assert values("L0C_to_GM_datas", {0x20C: 4, 0x206: 12}) == -1.0
    assert values("write_cache_hit", {0x500: 77}) == 77.0


@given(st.sampled_from(sorted(METRICS)), st.sampled_from(["A2", "310P", "310"]))
def test_a_run_without_cycles_has_no_metrics(name: str, family: str) -> None:
    metric = METRICS[name]
    zero = np.zeros(2, np.int64)
    events = (*metric.events, *metric.minus, *metric.over)
    runs = Runs(zero, np.zeros(2), 1800, dict.fromkeys(events, zero))
    if metric.kind == "register" or (metric.kind == "bandwidth" and not metric.coefficient("P")):
        with pytest.raises(ValueError, match=name):
            metric_values(metric, runs, Convention("P", family))
    else:
        assert metric_values(metric, runs, Convention("P", family)).tolist() == [0.0, 0.0]


def test_a_stopped_clock_moves_nothing() -> None:
    runs = Runs(np.array([5]), np.array([0.0]), 0, {0x15: np.array([7])})
    assert metric_values(METRICS["ub_read_bw"], runs, CPP).tolist() == [0.0]


def test_the_engines_judge_idle_pipes_differently() -> None:
    nothing = np.nan
    mac = np.array([0.5, 0.0, 0.0, nothing])
    vec = np.array([0.25, 0.2, 0.0, nothing])
    mte2 = np.array([1.0, 0.5, 0.5, nothing])
    np.testing.assert_equal(memory_bound(mac, vec, mte2, "python"), [2.0, 2.5, 0.0, nothing])
    np.testing.assert_equal(memory_bound(mac, vec, mte2, "cpp"), [2.0, nothing, nothing, nothing])
    cycles, duration = np.array([1800, 1800, 0, 1800]), np.array([1.0, 1.0, 1.0, 0.0])
    ratio = np.array([0.5, 0.0, 0.5, 0.5])
    for engine, expected in (("python", [4.0, 0.0, 0.0, 0.0]), ("cpp", [4.0, 4.0, 0.0, 0.0])):
        assert engine in ("python", "cpp")
        found = cube_utilization(cycles, ratio, duration, cores=25, frequency=1800, engine=engine)
        assert found.tolist() == expected
    unknown = np.full(1, nothing)
    found = cube_utilization(
        cycles[:1], unknown, duration[:1], cores=25, frequency=1800, engine="cpp"
    )
    assert np.isnan(found).all()
