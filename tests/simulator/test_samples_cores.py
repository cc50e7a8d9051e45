"""Clock, cycles and metrics of the cores."""

from __future__ import annotations

import numpy as np
import pytest
from program_cases import chip_of
from sampling import Table, sample
from tiny_timeline import kernel, operator, program, timeline

from ascend_ref.capture import Switches, Texts
from ascend_simulator.choices import FaultChoice
from ascend_simulator.program.counters import metric_names, metric_values
from ascend_simulator.program.model import Kernel, Launch
from ascend_simulator.samples import Traffic
from ascend_simulator.world.timeline import RankTimeline

A2 = chip_of("A2")
SAMPLED = Switches(aic_mode="sample-based")
MOVES = {"loaded": 1 << 34, "stored": 1 << 33, "read": 1 << 32, "written": 1 << 31}
CUBE = {"core": "AI_CORE", "task_type": "KERNEL_AICORE"}


def run_of(*kernels: Kernel, steps: int = 2, **changes: object) -> RankTimeline:
    operators = [operator() for _ in kernels]
    items = [Launch(place, (each,)) for place, each in enumerate(kernels)]
    settings = {"lead": 15_000_000, "pause": 12_000_000, **changes}
    return timeline(program(operators, items), steps, **settings)  # type: ignore[arg-type]


def cycles_of(table: Table, texts: Texts, kind: str) -> list[int]:
    """Cycles of every core of a type over the session."""
    own = table["coreType"] == texts.number(kind)
    cores = table["coreId"][own]
    return [int(table["totalCycle"][own][cores == core].sum()) for core in np.unique(cores)]


def test_vector_cores_are_numbered_after_the_cubes() -> None:
    """upstream-msprof ChipMaxCoreId: 24 is the last cube of chip 5, also where it has fewer."""
    tables, texts = sample(run_of(kernel()), Traffic(), SAMPLED)
    for name in ("SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"):
        table = tables[name]
        for kind, numbers in (("AIC", range(24)), ("AIV", range(25, 73))):
            own = table["coreType"] == texts.number(kind)
            assert np.unique(table["coreId"][own]).tolist() == list(numbers)


def test_cores_count_the_cycles_of_the_kernels_that_ran_on_them() -> None:
    run = run_of(kernel(blocks=48, duration=4_000_000, busy=32_768))
    tables, texts = sample(run, Traffic(), SAMPLED)
    table = tables["SAMPLE_PMU_TIMELINE"]
    assert cycles_of(table, texts, "AIV") == [2 * 2_000 * 1_800] * 48
    assert cycles_of(table, texts, "AIC") == [0] * 24


def test_blocks_go_round_the_cores() -> None:
    run = run_of(kernel(blocks=60, duration=3_000_000, busy=65_536, **CUBE), steps=1)
    tables, texts = sample(run, Traffic(), SAMPLED)
    whole = 3_000 * 1_800
    assert (
        cycles_of(tables["SAMPLE_PMU_TIMELINE"], texts, "AIC")
        == [whole] * 12 + [whole * 2 // 3] * 12
    )


def test_a_mix_keeps_both_types_busy() -> None:
    run = run_of(kernel(core="MIX_AIC", blocks=24, mix_blocks=48, duration=1_000_000, busy=65_536))
    tables, texts = sample(run, Traffic(), SAMPLED)
    for kind, cores in (("AIC", 24), ("AIV", 48)):
        found = cycles_of(tables["SAMPLE_PMU_TIMELINE"], texts, kind)
        assert found == [2 * 1_000 * 1_800] * cores


def test_load_is_cycles_by_clock_and_interval() -> None:
    run = run_of(kernel(duration=9_000_000), kernel(duration=5_000_000, **CUBE), steps=4)
    table = sample(run, Traffic(), SAMPLED)[0]["SAMPLE_PMU_TIMELINE"]
    moments = np.unique(table["timestampNs"])
    for first in range(0, len(table["usage"]), len(moments)):
        rows = slice(first, first + len(moments))
        span = np.append(1, np.diff(moments))
        expected = 100_000 * table["totalCycle"][rows] / (table["freq"][rows] * span)
        assert np.allclose(table["usage"][rows], expected)
        assert (table["usage"][rows][1:] <= 100.01).all()
        assert table["timestampNs"][rows].tolist() == moments.tolist()


def test_cores_without_a_split_are_all_of_one_type() -> None:
    run = run_of(kernel(blocks=32, duration=2_000_000, **CUBE), frequency=[1000, 1000])
    tables, texts = sample(run, Traffic(), SAMPLED, product="910A")
    table = tables["SAMPLE_PMU_TIMELINE"]
    assert set(table["coreType"].tolist()) == {texts.number("AIC")}
    assert len(set(table["coreId"].tolist())) == 32
    metrics = {texts[number] for number in tables["SAMPLE_PMU_SUMMARY"]["metric"].tolist()}
    assert {"vec_ratio", "mac_ratio", "mte3_ratio"} <= metrics


def summary(table: Table, texts: Texts, kind: str, metric: str) -> list[float]:
    own = (table["coreType"] == texts.number(kind)) & (table["metric"] == texts.number(metric))
    return [float(value) for value in table["value"][own]]


def test_metrics_of_a_core_are_means_weighted_with_its_cycles() -> None:
    first = kernel("a", blocks=2, duration=3_000_000, pipes={"vec": 65_536 // 2}, busy=65_536)
    second = kernel("b", blocks=1, duration=1_000_000, pipes={"vec": 65_536}, busy=65_536)
    tables, texts = sample(run_of(first, second), Traffic(), SAMPLED)
    found = summary(tables["SAMPLE_PMU_SUMMARY"], texts, "AIV", "vec_ratio")
    assert found == [pytest.approx(0.625), pytest.approx(0.5)] + [0.0] * 46
    misses = summary(tables["SAMPLE_PMU_SUMMARY"], texts, "AIV", "icache_miss_rate")
    assert misses[:2] == [0.0625, 0.0625]
    idle = summary(tables["SAMPLE_PMU_SUMMARY"], texts, "AIC", "mac_ratio")
    assert idle == [0.0] * 24


def test_the_time_of_a_core_is_its_cycles_by_the_clock() -> None:
    tables, texts = sample(run_of(kernel(duration=3_000_000)), Traffic(), SAMPLED)
    cycles = cycles_of(tables["SAMPLE_PMU_TIMELINE"], texts, "AIV")
    times = summary(tables["SAMPLE_PMU_SUMMARY"], texts, "AIV", "total_time")
    assert times == [pytest.approx(one * 1000 / 1800) for one in cycles]
    assert max(times) > 0


@pytest.mark.parametrize("group", ["ArithmeticUtilization", "L2Cache", "MemoryAccess"])
def test_amounts_are_those_of_the_blocks_of_a_core(group: str) -> None:
    """Together the cores have what the kernels have (db-schema 7.9)."""
    own = kernel(blocks=60, duration=3_000_000, **CUBE, **MOVES)
    run = run_of(own, steps=3)
    switches = Switches(aic_mode="sample-based", aic_metrics=group)
    tables, texts = sample(run, Traffic(), switches)
    table = tables["SAMPLE_PMU_SUMMARY"]
    names = [one for one in metric_names(group, A2) if "ratio" not in one and "total" not in one]
    length, clock = np.array([3_000_000] * 3), np.array([1800] * 3)
    every = metric_values([own], np.zeros(3, np.int64), length, clock, group, A2)
    for name in names:
        kind, _, metric = name.partition("_")
        whole = float(every[:, metric_names(group, A2).index(name)].sum())
        assert sum(summary(table, texts, kind.upper(), metric.lower())) == pytest.approx(whole)
    assert every.sum() > 0


def test_bandwidths_are_in_bytes_on_every_product() -> None:
    """E55: sampled, the parser in Python names them with the unit, by which msprof makes Byte/s."""
    run = run_of(kernel(duration=9_000_000, **MOVES))
    switches = Switches(aic_mode="sample-based", aic_metrics="Memory")
    tables, texts = sample(run, Traffic(), switches)
    found = summary(tables["SAMPLE_PMU_SUMMARY"], texts, "AIV", "ub_read_bw")
    assert max(found) > 1 << 30


def clock(run: RankTimeline, *faults: FaultChoice) -> list[tuple[int, int]]:
    table = sample(run, Traffic(), Switches(), faults)[0]["AICORE_FREQ"]
    return list(zip(table["timestampNs"].tolist(), table["freq"].tolist(), strict=True))


def test_the_clock_is_told_at_both_ends_and_at_each_change() -> None:
    run = run_of(kernel(), steps=4, frequency=[1800, 900, 900, 1800])
    rows = clock(run)
    starts = run.step_starts.tolist()
    assert rows[0] == (run.session[0], 1800)
    assert run.session[0] < rows[1][0] < starts[0]
    assert rows[1:] == [rows[1], (starts[1], 900), (starts[3], 1800), (run.session[1], 1800)]
    assert rows[1][1] == 1800


def test_a_clock_that_is_low_from_the_first_step_was_not_before() -> None:
    run = run_of(kernel(), steps=2, frequency=[900, 900])
    rows = clock(run)
    assert [frequency for _, frequency in rows] == [1800, 1800, 900, 900]
    assert rows[2][0] == run.step_starts[0]


def test_a_session_without_an_end_has_no_clock_there() -> None:
    run = run_of(kernel(), steps=2)
    assert clock(run, FaultChoice("abnormal-end")) == clock(run)[:-1]


def test_lost_changes_of_the_clock_are_missing() -> None:
    run = run_of(kernel(), steps=4, frequency=[1800, 900, 900, 1800])
    lost = FaultChoice("lost-samples", sampler="AICORE_FREQ", steps=(1, 2))
    assert [time for time, _ in clock(run, lost)] == [
        time for time, _ in clock(run) if time != run.step_starts[1]
    ]
