"""L2 requests, translations and page faults, against the kernels' own traffic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from record_rows import EVERYTHING, captured, everything, kernels, rows, scenario

from ascend_simulator.choices import FaultChoice, ProductName, Schedule
from ascend_simulator.program.model import Kernel, Launch
from ascend_simulator.session.setting import setting

MISSES_FIRST = {
    "A2": True,
    "A3": True,
    "200I-500-A2": True,
    "310P": False,
    "910A": False,
    "950": True,
}
"""Seed 001, l2_cache: which products have no row of the first operator."""
LINE, PAGE, LARGE = 128, 4_096, 2 << 20


def launched(product: ProductName) -> list[Kernel]:
    """The kernels on cores of one step."""
    items = setting(scenario(product), 3).of(0).program.items
    found = [item.variants[0] for item in items if isinstance(item, Launch)]
    return [kernel for kernel in found if kernel.blocks]


def up(size: int, unit: int) -> int:
    return (size + unit - 1) // unit


@pytest.mark.parametrize("product", MISSES_FIRST)
def test_every_counted_kernel_has_its_requests(product: ProductName) -> None:
    capture = everything(product)
    counted = [kernel for kernel in kernels(capture) if kernel["blocks"]]
    found = rows(capture, "l2_cache")
    named = [(row["stream"], row["number"], row["name"]) for row in found]
    expected = [(one["stream"], one["number"], one["name"]) for one in counted]
    assert named == expected[MISSES_FIRST[product] :]
    assert {row["device"] for row in found} == {0}
    for row in found:
        assert 0 <= row["victim"] <= row["request"] - row["hit"] <= row["request"]


def test_requests_are_the_traffic_in_lines() -> None:
    capture = everything("910A")
    expected = [
        (
            up(kernel.loaded, LINE) + up(kernel.stored, LINE),
            up(kernel.read, LINE) + up(kernel.written, LINE),
            up(kernel.written, LINE),
        )
        for kernel in launched("910A")
    ]
    found = [
        (row["request"], row["request"] - row["hit"], row["victim"])
        for row in rows(capture, "l2_cache")
    ]
    assert sorted(found) == sorted(expected * len(capture.steps))


@pytest.mark.parametrize("product", ["A2", "A3"])
def test_translations_are_found_or_missed(product: ProductName) -> None:
    capture = everything(product)
    expected = [
        (up(kernel.loaded + kernel.stored, PAGE), up(kernel.read + kernel.written, LARGE))
        for kernel in launched(product)
    ]
    found = rows(capture, "soc_pmu")
    assert sorted((row["request"], row["miss"]) for row in found) == sorted(
        expected * len(capture.steps)
    )
    for row in found:
        assert row["hit"] + row["miss"] == row["request"]
        assert row["hit"] >= 0


def test_pages_fault_once_when_the_process_grows() -> None:
    leaking = replace(
        scenario("A2"),
        schedule=Schedule(active=3),
        faults=(FaultChoice("memory-leak", megabytes=64),),
    )
    capture = captured(leaking, replace(EVERYTHING, sys_hardware_mem=0))
    faults = [row["faults"] for row in rows(capture, "page_fault")]
    reserved = capture.memory_totals
    framework = [
        size
        for size, component in zip(
            reserved.reserved.tolist(), reserved.component.tolist(), strict=True
        )
        if capture.texts[component] == "PTA"
    ]
    assert min(faults) >= 0
    # What grows after the last kernel faults no more.
    assert 0 < sum(faults) * LARGE <= max(framework) - framework[0] + 64 * (1 << 20)
    assert sum(faults) * LARGE >= 2 * 64 * (1 << 20)
