"""AI CPU kernels, the queue they take from, and the engines that fill it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from record_rows import EVERYTHING, captured, everything, kernels, rows, scenario

from ascend_simulator.choices import ProductName
from ascend_simulator.scenario import parse

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
BATCH, IMAGE = 3, 64


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_ai_cpu_kernel_is_told_in_its_parts(product: ProductName) -> None:
    capture = everything(product)
    expected = [kernel for kernel in kernels(capture) if kernel["core"] == "AI_CPU"]
    found = rows(capture, "aicpu")
    assert len(found) == len(expected) >= 2
    for row, kernel in zip(found, expected, strict=True):
        named = row["stream"], row["number"], row["name"]
        assert named == (kernel["stream"], kernel["number"], kernel["name"])
        end = row["time"] + row["task"]
        assert row["total"] == end - kernel["start"]
        assert kernel["start"] < row["time"]
        assert 0 < kernel["end"] - end < 1_000  # the scheduler notices it
        assert min(row["compute"], row["memcpy"], row["dispatch"]) >= 0
        assert row["compute"] + row["memcpy"] <= row["task"]
        assert row["task"] + row["dispatch"] <= row["total"]


def test_kernels_of_other_networks_are_told_too() -> None:
    chosen = parse("model: {kind: recommendation, batch: 16, tables: 5, rows: 100, layers: 2}")
    capture = captured(chosen)
    types = {kernel["op_type"] for kernel in kernels(capture) if kernel["core"] == "AI_CPU"}
    assert types == {"Unique", "Bucketize"}
    assert len(rows(capture, "aicpu")) == 2 * (2 + 1)
    for record in ("aicpu_mi", "dp", "dvpp", "step_trace_get_next"):
        assert rows(capture, record) == []


@pytest.mark.parametrize("product", PRODUCTS)
def test_each_batch_is_taken_from_the_queue_once(product: ProductName) -> None:
    capture = everything(product)
    taking = [kernel for kernel in kernels(capture) if kernel["op_type"] == "GetNext"]
    waits = rows(capture, "aicpu_mi")
    assert len(taking) == len(waits) == len(capture.steps) == 2
    for wait, kernel in zip(waits, taking, strict=True):
        assert wait["name"] == "GetNext_dequeue_wait"
        assert kernel["start"] <= wait["start"] < wait["end"] <= kernel["end"]
        assert wait["size"] > 0
    left = rows(capture, "dp")
    assert len(left) == (2 if product == "910A" else 0)
    for one, wait in zip(left, waits, strict=False):
        assert (one["time"], one["buffered"]) == (wait["end"], wait["size"] - 1)
        assert (one["action"], one["source"]) == ("Last dequeue", "AnonymousIterator0")


@pytest.mark.parametrize("product", ["A2", "A3", "910A", "200I-500-A2"])
def test_the_engines_decode_every_picture(product: ProductName) -> None:
    capture = everything(product)
    found = rows(capture, "dvpp")
    by_type: dict[str, list[int]] = {}
    for row in found:
        by_type.setdefault(row["type"], []).append(row["frames"])
        assert row["busy"] == row["frames"] * IMAGE * IMAGE
        assert capture.origin.end is not None
        session = capture.origin.end - capture.origin.start
        assert row["busy"] / session * 100_000 - 1 <= row["utilization"] <= 100_000
    for kind, frames in by_type.items():
        busy = kind in ("JPEGD", "VPC")
        assert sum(frames) == (BATCH * len(capture.steps) if busy else 0)
        assert max(frames) - min(frames) <= 1
    engines = [(row["type"], row["engine"]) for row in found]
    assert len(set(engines)) == len(engines)


def test_a_host_that_prepares_leaves_nothing_to_the_engines() -> None:
    capture = captured(scenario("910A", preprocess="host"))
    for record in ("aicpu_mi", "dp", "dvpp", "step_trace_get_next"):
        assert rows(capture, record) == []
    assert rows(capture, "aicpu")


def test_the_engines_keep_up_however_large_the_pictures_are() -> None:
    """GetNext takes longer for a batch than one engine does for all of its pictures."""
    chosen = scenario("A2")
    large = replace(chosen, model=replace(chosen.model, image=512, batch=64))
    capture = captured(large, replace(EVERYTHING, instr=0))
    taking = [kernel for kernel in kernels(capture) if kernel["op_type"] == "GetNext"]
    busiest = max(row["busy"] for row in rows(capture, "dvpp"))
    assert 0 < busiest < sum(kernel["end"] - kernel["start"] for kernel in taking)
