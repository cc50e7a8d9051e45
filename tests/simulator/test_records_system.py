"""What is told of the device's and the host's systems agrees with what is sampled of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby, pairwise

import pytest
from record_rows import Row, everything, kernels, rows, table

from ascend_ref.capture import Capture
from ascend_simulator.choices import HardwareChoice, ProductName
from ascend_simulator.hardware import machine

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
HOST = -1
PAGE = 4096
STATES = (
    "user", "nice", "sys", "idle", "iowait", "irq", "soft", "steal", "guest", "guest_nice",
)  # fmt: skip


TICK = 10_000_000
"""ns."""


def increments(found: list[Row]) -> Iterator[tuple[Row, Row]]:
    """Neighbouring samples of each processor."""
    order = sorted(found, key=lambda row: (row["cpu"], row["time"]))
    return ((one, two) for one, two in pairwise(order) if one["cpu"] == two["cpu"])


def passed(before: Row, row: Row) -> int:
    """Ticks in all states from one sample to another."""
    return sum(row[state] - before[state] for state in STATES)


def of(capture: Capture, record: str, device: int) -> list[Row]:
    return [row for row in rows(capture, record) if row["device"] == device]


def used(row: Row) -> int:
    left: int = row["total"] - row["free"] - row["buffers"] - row["cached"]
    return left


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_memory_of_the_host_is_that_of_its_samples(product: ProductName) -> None:
    capture = everything(product)
    (fact,) = rows(capture, "host_mem_usage")
    samples = table(capture, "HOST_MEM_USAGE")
    found = of(capture, "sys_mem", HOST)
    assert [row["time"] for row in found] == [one["timestampNs"] for one in samples]
    for row, one in zip(found, samples, strict=True):
        assert row["total"] == fact["total"]
        assert abs(used(row) - one["usage"] / 100 * row["total"]) <= PAGE
    resident: Counter[int] = Counter()
    for row in of(capture, "process_mem", HOST):
        assert 0 <= row["shared"] <= row["resident"] <= row["size"]
        resident[row["time"]] += row["resident"] * PAGE
    assert resident.keys() == {row["time"] for row in found}
    for row in found:
        assert 0 < resident[row["time"]] <= used(row)


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_memory_of_the_device_holds_the_process(product: ProductName) -> None:
    capture = everything(product)
    chip = machine(HardwareChoice(product)).chip
    held = [one["hbm"] + one["ddr"] for one in table(capture, "NPU_MEM")]
    found = of(capture, "sys_mem", 0)
    assert len(found) >= 2
    for row in found:
        assert row["total"] == chip.memory
        assert min(row["free"], row["buffers"], row["cached"]) >= 0
        # Of the process alone, and with the system's own, which NPU_MEM varies a little.
        assert min(held) < used(row) < max(held)
        assert row["huge_free"] <= row["huge_total"]
    for row in of(capture, "process_mem", 0):
        assert 0 <= row["shared"] <= row["resident"] <= row["size"]


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_processors_of_the_host_work_as_sampled(product: ProductName) -> None:
    capture = everything(product)
    samples = table(capture, "CPU_USAGE")
    found = of(capture, "cpu_usage", HOST)
    (fact,) = rows(capture, "host_cpu_usage")
    assert {row["type"] for row in found} == {"host"}
    assert {row["cpu"] for row in found} == set(range(fact["processors"]))
    assert [(row["time"], row["cpu"]) for row in found] == [
        (one["timestampNs"], one["cpuId"]) for one in samples
    ]
    load = {(one["timestampNs"], one["cpuId"]): one["usage"] / 100 for one in samples}
    for before, row in increments(found):
        length = row["time"] - before["time"]
        assert abs(passed(before, row) * TICK - length) <= len(STATES) * TICK
        worked = passed(before, row) - (row["idle"] - before["idle"])
        assert abs(worked * TICK - load[row["time"], row["cpu"]] * length) <= len(STATES) * TICK


@pytest.mark.parametrize("product", PRODUCTS)
def test_ai_cpu_and_ctrl_cpu_are_other_processors_of_the_device(product: ProductName) -> None:
    capture = everything(product)
    found = of(capture, "cpu_usage", 0)
    cores: defaultdict[str, set[int]] = defaultdict(set)
    for row in found:
        cores[row["type"]].add(row["cpu"])
        assert min(row[state] for state in STATES) >= 0
    for before, row in increments(found):
        assert abs(passed(before, row) * TICK - (row["time"] - before["time"])) <= 10 * TICK
    chip = machine(HardwareChoice(product)).chip
    assert len(cores["aicpu"]) == chip.ai_cpu_cores
    assert cores["ctrlcpu"]
    assert not cores["aicpu"] & cores["ctrlcpu"]


@pytest.mark.parametrize("device", [0, HOST])
@pytest.mark.parametrize("product", PRODUCTS)
def test_processes_work_on_the_processors(product: ProductName, device: int) -> None:
    capture = everything(product)
    found = of(capture, "process_cpu_usage", device)
    assert len({row["pid"] for row in found}) == len({row["name"] for row in found}) == 4
    parts = ("user", "sys", "children_user", "children_sys")
    by_time: Counter[int] = Counter()
    for row in found:
        assert min(row[part] for part in parts) >= 0
        by_time[row["time"]] += sum(row[part] for part in parts)
        assert by_time[row["time"]] <= row["system"]
    if device == HOST:
        assert found[0]["pid"] == capture.origin.pid
        load: Counter[int] = Counter()
        for row in of(capture, "cpu_usage", HOST):
            load[row["time"]] += sum(row[state] for state in STATES) - row["idle"]
        assert by_time.keys() == load.keys()
        assert all(by_time[time] <= load[time] for time in load)
        # The profiled process began with the session.
        session = found[-1]["time"] - capture.origin.start
        own = [row["user"] + row["sys"] for row in found if row["pid"] == capture.origin.pid]
        assert own == sorted(own)
        assert own[-1] * TICK <= session * 64


@pytest.mark.parametrize(
    ("product", "processor"),
    [
        (product, processor)
        for product in PRODUCTS
        for processor in ("ai_cpu", "ctrl_cpu", "ts_cpu")
        if (product, processor) != ("950", "ts_cpu")
    ],
)
def test_events_count_the_cycles_of_all_functions(product: ProductName, processor: str) -> None:
    capture = everything(product)
    found = rows(capture, f"{processor}_top_function")
    cycles = [row["cycles"] for row in found]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[-1] > 0
    assert all((row["module"] is None) is (processor == "ts_cpu") for row in found)
    events = {row["event"]: row for row in rows(capture, f"{processor}_pmu_events")}
    assert {number: row["name"] for number, row in events.items()} == {
        0x11: "CPU_CYCLES",
        0x08: "INST_RETIRED",
    }
    assert events[0x11]["count"] == sum(cycles)
    assert events[0x08]["count"] > 0


def test_nobody_samples_ts_cpu_of_a_950() -> None:
    """The documents of ts_cpu_top_function leave it out, as does upstream's ParsingTSData."""
    assert not [name for name in everything("950").records if name.startswith("ts_cpu")]


def test_functions_of_ai_cpu_are_its_kernels() -> None:
    capture = everything("910A")
    length: Counter[str] = Counter()
    for one in kernels(capture):
        if one["core"] == "AI_CPU":
            length[one["op_type"]] += one["end"] - one["start"]
    found = {row["function"]: row["cycles"] for row in rows(capture, "ai_cpu_top_function")}
    for kind, worked in length.items():
        assert found[f"aicpu::{kind}CpuKernel::Compute"] == worked * 2


def test_samples_of_a_record_are_in_order_of_time() -> None:
    capture = everything("A2")
    for record in ("sys_mem", "process_mem", "cpu_usage", "process_cpu_usage", "aicpu"):
        for _, group in groupby(rows(capture, record), key=lambda row: row["device"]):
            times = [row["time"] for row in group]
            assert times == sorted(times)
            assert capture.origin.start <= times[0]
            assert times[-1] <= capture.origin.end  # type: ignore[operator]
