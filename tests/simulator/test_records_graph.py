"""The graph of a step: its operators, their memory, and its iterations."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any, Literal

import numpy as np
import pytest
from record_rows import EVERYTHING, TRAINS, captured, everything, kernels, rows, scenario, table

from ascend_ref.capture import Capture
from ascend_simulator.choices import ProductName
from ascend_simulator.scenario import parse

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
WIDTH = {"FLOAT": 4, "FLOAT16": 2, "INT32": 4, "INT64": 8, "UINT8": 1, "UINT16": 2, "BOOL": 1}


def operand_bytes(shapes: str, types: str) -> int:
    if shapes == "N/A":
        return 0
    return sum(
        prod([int(length) for length in shape.split(",") if length]) * WIDTH[kind]
        for shape, kind in zip(shapes.strip('"').split(";"), types.split(";"), strict=True)
    )


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_kernel_of_the_step_is_a_node_with_its_operands(product: ProductName) -> None:
    capture = everything(product)
    first: dict[str, dict[str, Any]] = {}
    for kernel in kernels(capture):
        first.setdefault(kernel["name"], kernel)
    found = rows(capture, "fusion_op")
    assert {row["name"] for row in found} == first.keys()
    assert len({row["name"] for row in found}) == len(found)
    assert {(row["model"], row["model_name"]) for row in found} == {
        (1, "ge_default_20260101170000_1")
    }
    for row in found:
        # In the first step kernels of one name may have several shapes; one of them is told.
        alike = [one for one in kernels(capture) if one["name"] == row["name"]]
        inputs = {operand_bytes(one["input_shapes"], one["input_data_types"]) for one in alike}
        outputs = {operand_bytes(one["output_shapes"], one["output_data_types"]) for one in alike}
        assert row["input"] + row["weight"] in inputs
        assert row["output"] in outputs
        assert row["workspace"] >= 0
        assert row["name"] in row["originals"]
    weights = {row["name"] for row in found if row["weight"]}
    assert {"Conv2D1", "Conv2D2", "Conv2D3", "Conv2D4", "Conv2D5"} <= weights


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_memory_of_the_graph_adds_up(product: ProductName) -> None:
    found = rows(everything(product), "static_op_mem")
    *nodes, total = found
    assert total["name"] == "TOTAL"
    assert total["size"] == sum(row["size"] for row in nodes) > 0
    assert {row["model_name"] for row in found} == {"0"}
    assert {row["graph"] for row in found} == {1}
    for row in nodes:
        assert row["name"] != "TOTAL"
        assert row["size"] % 512 == 0
        assert row["size"] > 0
        assert row["end"] is None or 0 <= row["start"] <= row["end"]
    assert [row["start"] for row in nodes] == sorted(row["start"] for row in nodes)


def test_two_devices_of_a_process_have_graphs_of_their_own() -> None:
    chosen = parse(
        """
model: {layers: 2, hidden: 256, heads: 4, sequence: 64, vocabulary: 512, graph: true}
parallelism: {ranks: 4, pipeline: 2, devices_per_process: 2}
schedule: {active: 1}
"""
    )
    from ascend_ref.capture.merge import merged
    from ascend_simulator import simulate

    parts = list(simulate(chosen, 1).captures())
    whole = merged(parts[2:])
    assert [row["model"] for row in rows(whole, "step_trace")] == [1, 2]
    assert [row["device"] for row in rows(whole, "step_trace")] == [2, 3]
    counts = [len(rows(part, "fusion_op")) for part in parts[2:]]
    assert [row["model"] for row in rows(whole, "fusion_op")] == [1] * counts[0] + [2] * counts[1]
    names = [row["name"] for part in parts[2:] for row in rows(part, "fusion_op")]
    assert [row["name"] for row in rows(whole, "fusion_op")] == names


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_iteration_is_what_the_device_did_in_a_step(product: ProductName) -> None:
    capture = everything(product)
    found = rows(capture, "step_trace")
    steps = list(zip(capture.steps.start.tolist(), capture.steps.end.tolist(), strict=True))
    assert len(found) == len(steps)
    operators = table(capture, "COMMUNICATION_OP")
    for number, (row, (begin, end)) in enumerate(zip(found, steps, strict=True), start=1):
        assert (row["iteration"], row["model"], row["device"]) == (number, 1, 0)
        own = [one for one in kernels(capture) if begin <= one["start"] < end]
        talk = [one for one in operators if begin <= one["startNs"] < end]
        starts = [one["start"] for one in own] + [one["startNs"] for one in talk]
        ends = [one["end"] for one in own] + [one["endNs"] for one in talk]
        assert begin <= row["start"] == min(starts)
        assert row["end"] == max(ends) <= end
        computing = [one for one in own if one["op_type"] != "GetNext"]
        if product in TRAINS:
            assert row["fp_start"] == min(one["start"] for one in computing)
            last = [one["end"] for one in own if one["op_type"] == "Conv2DBackpropFilter"]
            assert max(last) <= row["bp_end"] < row["end"]
            assert row["bp_end"] in {one["end"] for one in own}
        else:
            assert row["fp_start"] is row["bp_end"] is None
    for before, after in pairwise(found):
        assert before["end"] < after["start"]
    models = {one["model"] for one in kernels(capture)}
    assert models == {1}


@pytest.mark.parametrize("product", TRAINS)
def test_reductions_are_the_gradient_sums_of_the_step(product: ProductName) -> None:
    capture = everything(product)  # type: ignore[arg-type]
    texts = capture.texts.all
    found = rows(capture, "step_trace_reduce")
    operators = table(capture, "COMMUNICATION_OP")
    sums = sorted((one["startNs"], one["endNs"]) for one in operators)
    assert {texts[kind] for kind in capture.collectives.kind.tolist()} == {"allReduce"}
    assert [(row["start"], row["end"]) for row in found] == sums
    for row in found:
        (iteration,) = (
            one for one in rows(capture, "step_trace") if one["iteration"] == row["iteration"]
        )
        assert iteration["fp_start"] < row["start"]
        assert row["end"] <= iteration["end"]


def test_transformers_reduce_gradients_and_not_activations() -> None:
    chosen = parse(
        """
model: {layers: 1, hidden: 256, heads: 4, sequence: 64, vocabulary: 512, graph: true}
parallelism: {ranks: 4, tensor: 2}
schedule: {active: 2}
"""
    )
    capture = captured(chosen)
    texts, groups = capture.texts.all, capture.groups
    purpose = [texts[groups.purpose[row]] for row in capture.collectives.group.tolist()]
    assert {"dp", "tp"} <= set(purpose)
    assert len(rows(capture, "step_trace_reduce")) == purpose.count("dp")


@pytest.mark.parametrize("product", PRODUCTS)
def test_data_is_read_within_its_iteration(product: ProductName) -> None:
    capture = everything(product)
    taking = [one for one in kernels(capture) if one["op_type"] == "GetNext"]
    found = rows(capture, "step_trace_get_next")
    assert [(row["start"], row["end"]) for row in found] == [
        (one["start"], one["end"]) for one in taking
    ]
    for row, iteration in zip(found, rows(capture, "step_trace"), strict=True):
        assert row["iteration"] == iteration["iteration"]
        assert iteration["start"] <= row["start"] < row["end"] <= iteration["end"]


def test_operators_by_themselves_are_no_graph() -> None:
    capture = captured(scenario("A2", graph=False))
    assert not [name for name in capture.records if "step_trace" in name]
    assert "fusion_op" not in capture.records
    assert "static_op_mem" not in capture.records
    assert set(np.unique(capture.tasks.model).tolist()) == {-1}


@pytest.mark.parametrize("level", [0, 2])
def test_a_call_of_the_model_holds_all_launches_of_an_iteration(level: Literal[0, 2]) -> None:
    """Its tasks have their model by this call alone (raw-prof 5)."""
    capture = captured(scenario("A2"), replace(EVERYTHING, level=level))
    calls, models = capture.calls, model_calls(capture)
    assert len(models) == len(capture.steps)
    place = {connection: at for at, connection in enumerate(calls.connection.tolist())}
    of_model = [place[one] for one in capture.tasks.connection[capture.tasks.model == 1].tolist()]
    assert len(of_model) > 0
    for at in of_model:
        assert any(
            calls.thread[one] == calls.thread[at]
            and calls.start[one] <= calls.start[at] <= calls.end[at] <= calls.end[one]
            for one in models
        )


def model_calls(capture: Capture) -> list[int]:
    """The calls that execute a graph."""
    every = capture.texts.all
    names = [every[one] for one in capture.calls.name.tolist()]
    return [at for at, name in enumerate(names) if name == "ModelExecute"]


def test_operators_that_run_one_by_one_have_no_call_of_a_model() -> None:
    assert model_calls(captured(scenario("A2", graph=False))) == []
