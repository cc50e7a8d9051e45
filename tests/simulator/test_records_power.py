"""Voltages and the coarse load of links, against the clock and the traffic of the same run."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from record_rows import EVERYTHING, TRAINS, Row, captured, everything, rows

from ascend_ref.capture import Capture
from ascend_ref.derive.transit import task_rows
from ascend_simulator.choices import FaultChoice, ProductName
from ascend_simulator.scenario import parse

HCCS = 1
"""Of the types of links (raw-prof 4.5)."""
READ_NS = 100_000
"""After the start of the session the counters of simulated devices are read."""
SLOW = 900
"""MHz in the second of three steps, half of what the chip has."""


def throttled(seed: int = 3) -> Capture:
    chosen = parse("model: {kind: single-operator, shape: [512, 512, 512]}\nschedule: {active: 3}")
    fault = FaultChoice(kind="frequency-throttling", frequency=SLOW, steps=(1, 1))
    return captured(replace(chosen, faults=(fault,)), EVERYTHING, seed)


def of(capture: Capture, supply: str) -> list[Row]:
    return [row for row in rows(capture, "voltage") if row["supply"] == supply]


def test_the_voltage_of_the_cores_changes_with_their_clock() -> None:
    capture = throttled()
    table = capture.samples["AICORE_FREQ"]
    clock = dict(zip(table["timestampNs"].tolist(), table["freq"].tolist(), strict=True))
    own = {row["time"]: row["millivolts"] for row in of(capture, "Aicore Voltage")}
    first, *times = sorted(own)
    assert (first, own[first]) == (capture.origin.start + READ_NS, 900)
    assert set(times) <= set(clock)
    by_clock = {clock[time]: own[time] for time in times}
    assert set(by_clock) == {SLOW, 1_800}
    assert by_clock[SLOW] < by_clock[1_800]
    assert all(own[time] == by_clock[clock[time]] for time in times)
    assert times[-1] == capture.origin.end


def test_the_voltage_of_the_bus_stays() -> None:
    capture = throttled()
    first, *others = of(capture, "Bus Voltage")
    assert first["millivolts"] == 900
    assert len({row["millivolts"] for row in others}) == 1
    assert first["time"] == capture.origin.start + READ_NS
    assert others[-1]["time"] == capture.origin.end


def test_each_chip_has_voltages_of_its_own_and_the_same_seed_the_same() -> None:
    several = [rows(throttled(seed), "voltage") for seed in (1, 1, 2, 3, 4)]
    assert several[0] == several[1]
    assert len({str([row["millivolts"] for row in one]) for one in several}) > 2


def test_links_send_something_when_the_device_does_over_hccs() -> None:
    capture = everything("A2")
    links = rows(capture, "pa_link")
    times = sorted({row["time"] for row in links})
    assert {row["link"] for row in links} == set(range(8))
    task = task_rows(capture.tasks)[capture.transfers.task]
    over = task[(capture.transfers.link == HCCS) & (capture.transfers.size > 0)]
    assert len(over)
    for begin, end in pairwise([capture.origin.start, *times]):
        sends = (capture.tasks.start[over] < end) & (capture.tasks.end[over] > begin)
        levels = {row["sent"] for row in links if row["time"] == end}
        assert (levels != {0}) == bool(sends.any())
        assert levels <= set(range(8))
    assert any(row["received"] for row in links)


def test_devices_of_one_package_do_not_use_the_links_to_others() -> None:
    """Both ranks of A3 are dies of one package, which SIO joins."""
    found = rows(everything("A3"), "pa_link")
    assert found
    assert not any(row["sent"] or row["received"] for row in found)


def test_pcie_is_read_where_samples_are_copied_to_the_device() -> None:
    capture = everything("950")
    found = rows(capture, "pcie_link")
    assert {row["link"] for row in found} == {0, 1}
    assert any(row["read"] for row in found)
    times = sorted({row["time"] for row in found})
    copied = [capture.tasks.start[task_rows(capture.tasks)[one]] for one in capture.copies.task]
    for row in found:
        if row["read"] or row["written"]:
            before = [time for time in times if time < row["time"]]
            begin = before[-1] if before else capture.origin.start
            assert any(begin - 10**6 < one < row["time"] for one in copied)


@pytest.mark.parametrize("product", TRAINS)
def test_links_are_sampled_as_often_as_asked(product: ProductName) -> None:
    for name in ("pa_link", "pcie_link"):
        times = sorted({row["time"] for row in rows(everything(product), name)})
        gaps = np.diff(times)[:-1] / 1e6
        assert np.all(np.abs(gaps - 20) < 1)
