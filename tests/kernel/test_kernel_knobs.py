"""What each field of a scenario promises, seen in how long the kernel takes and where."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from kernel_bytes import scenario
from slices import some

from ascend_simulator.operator import simulate_kernel

MIX = "operator: {kind: matmul-leakyrelu, shape: [1024, 256, 768]}"
OPERATORS = (
    "operator: {kind: add, shape: [600000]}",
    "operator: {kind: gelu, shape: [600000]}",
    "operator: {kind: matmul, shape: [512, 512, 1024]}",
    MIX,
    "operator: {kind: flash-attention, shape: [1, 4, 384, 64]}",
)


def truth(text: str, **fields: str) -> dict[str, Any]:
    """``fields``: those of a section, by its name."""
    sections = [f"{name}: {{{values}}}" for name, values in fields.items()]
    return simulate_kernel(scenario("\n".join([text, *sections]))).truth


def cycles(text: str, **fields: str) -> int:
    found: int = truth(text, **fields)["task_cycles"]
    return found


def ratio(found: dict[str, Any]) -> float:
    return max(kind["ratio"] for kind in found["imbalance"].values())


@pytest.mark.parametrize("text", OPERATORS)
def test_unequal_shares_and_a_slow_core_show_in_the_imbalance(text: str) -> None:
    even = truth(text, device="block_dim: 4")
    uneven = truth(text, device="block_dim: 4", conditions="imbalance: 2000")
    slow = truth(text, device="block_dim: 4", conditions="slow_core: 2000")
    assert ratio(even) < 1.35
    assert 1.5 < ratio(uneven) <= 2.1
    # The first of four takes twice as long: 2 / ((2 + 1 + 1 + 1) / 4).
    assert ratio(slow) == pytest.approx(ratio(even) * 1.6, rel=0.12)
    assert max(even["task_cycles"], 1) < min(uneven["task_cycles"], slow["task_cycles"])


@pytest.mark.parametrize("text", OPERATORS)
def test_more_hits_are_not_slower(text: str) -> None:
    found = [
        truth(text, device="block_dim: 8", conditions=f"l2_hit_rate: {rate}")
        for rate in (0, 300, 700, 1000)
    ]
    for rate, one in zip((0, 300, 700, 1000), found, strict=True):
        share = one["cache"]["line_hits"] / one["cache"]["lines"]
        assert share == pytest.approx(rate / 1000, abs=1 / one["cache"]["lines"])
    for less, more in pairwise(one["task_cycles"] for one in found):
        assert more <= less * 1.01
    assert found[-1]["task_cycles"] < found[0]["task_cycles"]


@pytest.mark.parametrize("text", some(OPERATORS, every=2))
def test_more_work_takes_longer_and_more_blocks_do_not(text: str) -> None:
    head, _, last = text.rpartition(" ")
    number = last.rstrip("]}").lstrip("[")
    larger = f"{head} {last.replace(number, str(int(number) * 2))}"
    assert cycles(text, device="block_dim: 4") < cycles(larger, device="block_dim: 4")
    times = [cycles(larger, device=f"block_dim: {count}") for count in (1, 2, 4, 8, 24)]
    for fewer, more in pairwise(times):
        assert more < fewer * 1.3
    assert times[3] < times[0] / 3


@pytest.mark.parametrize("text", some(OPERATORS[:4], every=2))
def test_one_buffer_is_slower_than_two(text: str) -> None:
    tiles = "elements: 4096" if "mat" not in text else "m: 64, n: 64"
    one, two = (
        cycles(text, device="block_dim: 2", tiling=f"buffers: {count}, {tiles}") for count in (1, 2)
    )
    assert one > 1.05 * two


def test_banks_in_conflict_cost_cycles() -> None:
    some = [cycles(OPERATORS[1], conditions=f"bank_conflicts: {n}") for n in (0, 300, 1000)]
    assert some == sorted(set(some))


def test_a_clock_at_half_the_rate_doubles_the_time_of_what_is_computed() -> None:
    """What memory holds up takes as long as before."""
    for text, count, low, high in ((OPERATORS[2], 1, 1.9, 2.1), (OPERATORS[0], 48, 0.9, 1.7)):
        times = [
            cycles(text, device=f"block_dim: {count}, frequency: {clock}") / clock
            for clock in (1600, 800)
        ]
        assert low < times[1] / times[0] < high


def test_the_bottleneck_moves() -> None:
    assert truth(OPERATORS[0])["bottleneck"]["pipe"] == "MTE2"
    assert truth(OPERATORS[1], device="block_dim: 2")["bottleneck"]["pipe"] == "VECTOR"
    assert truth(OPERATORS[2], device="block_dim: 1")["bottleneck"]["pipe"] == "CUBE"
    little = "operator: {kind: matmul, shape: [512, 64, 1024]}"
    assert truth(little, device="block_dim: 8")["bottleneck"]["pipe"] in ("MTE2", "FIXP")


def test_small_tiles_load_more() -> None:
    paths = [
        truth(OPERATORS[2], tiling=f"m: {size}, n: {size}")["paths"]["L2_TO_L1"]
        for size in (32, 64, 128)
    ]
    assert paths[0] == 2 * paths[1] == 4 * paths[2]
