"""Programs: what must be true of every one of them."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise
from typing import get_args

import pytest
from program_cases import CASES, PRODUCTS, chip_of, kernels, launches, stages

from ascend_simulator.choices import (
    HardwareChoice,
    ModelChoice,
    ModelKind,
    Parallelism,
    ProductName,
)
from ascend_simulator.hardware import machine
from ascend_simulator.program import build
from ascend_simulator.program.framework import INNER
from ascend_simulator.program.model import (
    Annotate,
    Await,
    Collective,
    Kernel,
    Launch,
    Program,
    Synchronize,
)
from ascend_simulator.program.single import lone_operators
from ascend_spec import catalog

each_case = pytest.mark.parametrize("case", CASES)
EVERYTHING = [(case, product) for case in CASES for product in PRODUCTS]
SHAPES = re.compile(r'^"[0-9,;]*"$')


def merits(kernel: Kernel) -> tuple[object, ...]:
    return tuple(repr(getattr(kernel, field.name)) for field in fields(kernel))


SMALLEST = {
    "layers": 1, "hidden": 1, "heads": 1, "sequence": 1, "vocabulary": 1, "expand": 1, "batch": 1,
    "experts": 1, "top_k": 1, "image": 16, "channels": 1, "tables": 1, "rows": 1, "width": 1,
    "prompt": 1, "generate": 1,
}  # fmt: skip


@pytest.mark.parametrize("kind", get_args(ModelKind))
@pytest.mark.parametrize("product", PRODUCTS)
def test_does_the_smallest_network_run(kind: ModelKind, product: ProductName) -> None:
    choice = ModelChoice(kind=kind, **SMALLEST, shape=(1, 1, 1))  # type: ignore[arg-type]
    program = build(choice, machine(HardwareChoice(product)), Parallelism(), 0)
    assert all(tensor.size for operator in program.operators for tensor in operator.tensors)


@pytest.mark.parametrize(("case", "product"), EVERYTHING)
def test_does_every_network_run_on_every_product(case: str, product: ProductName) -> None:
    can = catalog().products[product].can
    for program in stages(case, product):
        assert isinstance(program.items[-1], Synchronize)
        assert program.flops > 0
        cores = {kernel.core for kernel in kernels(program)}
        assert can("split-cores") or not cores & {"AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV"}
        assert chip_of(product).random_unit or "DSA_SQE" not in cores


@each_case
def test_is_a_program_the_same_every_time(case: str) -> None:
    kind, values, parallelism = CASES[case]
    choice = ModelChoice(kind=kind, **values)  # type: ignore[arg-type]
    for stage, program in enumerate(stages(case)):
        again = build(choice, machine(HardwareChoice()), parallelism, stage)
        assert again.operators == program.operators
        assert again.items == program.items
        assert again.persistent == program.persistent


@each_case
def test_are_equal_kernels_one_object(case: str) -> None:
    for program in stages(case):
        found = kernels(program)
        assert len({merits(kernel) for kernel in found}) == len(found)


@each_case
def test_do_items_follow_their_operators(case: str) -> None:
    for program in stages(case):
        places = [item.operator for item in program.items]
        assert places == sorted(places)
        assert set(places) == set(range(len(program.operators)))


@each_case
def test_does_every_wait_name_a_collective_that_nobody_else_waits_for(case: str) -> None:
    for program in stages(case):
        awaited = []
        for place, item in enumerate(program.items):
            if isinstance(item, Await):
                assert isinstance(program.items[item.item], Collective)
                assert item.item < place
                awaited.append(item.item)
        collectives = [
            place for place, item in enumerate(program.items) if isinstance(item, Collective)
        ]
        assert sorted(awaited) == collectives


@each_case
def test_do_collectives_have_someone_to_talk_to(case: str) -> None:
    *_, parallelism = CASES[case]
    sizes = {
        "dp": parallelism.data,
        "tp": parallelism.tensor,
        "pp": parallelism.pipeline,
        "ep": parallelism.expert,
        "edp": parallelism.data // parallelism.expert,
    }
    for program in stages(case):
        for item in program.items:
            if isinstance(item, Collective):
                assert sizes[item.dimension] > 1
                assert item.count > 0
                assert (item.peer != 0) == (item.kind in ("send", "receive"))


@each_case
def test_is_memory_used_after_it_is_taken(case: str) -> None:
    for program in stages(case):
        for place, operator in enumerate(program.operators):
            for tensor in operator.tensors:
                assert tensor.size > 0
                assert tensor.last_use is None or place <= tensor.last_use < len(program.operators)


@each_case
def test_do_activations_die_in_the_backward_pass(case: str) -> None:
    for program in stages(case):
        backward = [
            place
            for place, operator in enumerate(program.operators)
            if operator.thread == "backward"
        ]
        if not backward:
            continue
        live = [0] * (len(program.operators) + 1)
        for place, operator in enumerate(program.operators):
            for tensor in operator.tensors:
                live[place] += tensor.size
                live[(tensor.last_use or place) + 1] -= tensor.size
        held, total = [], 0
        for change in live:
            total += change
            held.append(total)
        assert min(held) >= 0
        # What the backward pass leaves is gradients: no more than the parameters.
        assert held[backward[-1]] < max(held) or max(held) <= program.persistent


@each_case
def test_do_backward_operators_point_at_forward_ones(case: str) -> None:
    for program in stages(case):
        for place, operator in enumerate(program.operators):
            if operator.forward is None:
                continue
            forward = program.operators[operator.forward]
            assert operator.thread == "backward"
            assert operator.forward < place
            assert forward.thread == "main"
            assert forward.sequence == operator.sequence


@each_case
def test_are_sequence_numbers_of_forward_operators_unique_and_ascending(case: str) -> None:
    for program in stages(case):
        found = [
            operator.sequence
            for operator in program.operators
            if operator.thread == "main" and operator.sequence >= 0
        ]
        assert found == sorted(set(found))


@each_case
def test_do_ranges_nest_and_hold_something(case: str) -> None:
    for program in stages(case):
        open_ends: list[int] = []
        for place, item in enumerate(program.items):
            while open_ends and open_ends[-1] < place:
                open_ends.pop()
            if isinstance(item, Annotate):
                assert place < item.last < len(program.items)
                assert not open_ends or item.last <= open_ends[-1]
                open_ends.append(item.last)
                following = program.items[item.last + 1 :][:1]
                ends = program.items[item.last].operator
                assert not following or following[0].operator != ends


@each_case
def test_do_ranges_of_operations_state_those_of_their_one_kernel(case: str) -> None:
    for program in stages(case):
        for place, item in enumerate(program.items):
            if isinstance(item, Annotate) and item.domain == "mfu_flops":
                inside = [
                    other
                    for other in program.items[place + 1 : item.last + 1]
                    if not isinstance(other, Annotate)
                ]
                (launch,) = inside
                assert isinstance(launch, Launch)
                (kernel,) = launch.variants
                amount, _, label = item.message.partition("-")
                assert int(amount) == kernel.flops > 0
                assert label
                first = kernel.input_data_types.partition(";")[0]
                assert first in ("FLOAT", "FLOAT16", "DT_BF16")


@each_case
def test_are_the_texts_of_kernels_as_exporters_write_them(case: str) -> None:
    for program in stages(case):
        for kernel in kernels(program):
            for shapes, types, formats in (
                (kernel.input_shapes, kernel.input_data_types, kernel.input_formats),
                (kernel.output_shapes, kernel.output_data_types, kernel.output_formats),
            ):
                if shapes == "N/A":
                    assert types == formats == "N/A"
                    continue
                assert SHAPES.match(shapes)
                assert len({text.count(";") for text in (shapes, types, formats)}) == 1
            assert not kernel.name.endswith("AicpuKernel")
            assert kernel.duration % 20 == 0
            assert kernel.duration > 0


@each_case
def test_do_variants_share_their_load(case: str) -> None:
    for program in stages(case):
        by_load: dict[int, set[int]] = {}
        for item in launches(program):
            assert (item.load > 0) == (len(item.variants) > 1)
            by_load.setdefault(item.load, set()).add(len(item.variants))
        assert all(len(counts) == 1 for counts in by_load.values())


def test_does_every_pipeline_step_have_its_ranges_on_the_device() -> None:
    for program in stages("dense-pipeline"):
        messages = [
            item.message
            for item in program.items
            if isinstance(item, Annotate) and item.domain == "default" and item.on_device
        ]
        assert (
            sorted(messages) == ["{'name': 'backward_step'}"] * 6 + ["{'name': 'forward_step'}"] * 6
        )


def test_does_every_operator_that_shows_others_inside_occur() -> None:
    found = {
        operator.name
        for case in CASES
        for program in stages(case)
        for operator in program.operators
    }
    assert set(INNER) <= found


@each_case
def test_do_operators_inside_stand_below_one_another(case: str) -> None:
    for program in stages(case):
        for operator in program.operators:
            depths = [depth for depth, _ in operator.inner]
            assert all(after <= before + 1 for before, after in pairwise(depths))
            assert not depths or depths[0] <= 1


def live_modules(program: Program) -> set[str]:
    return {
        item.message
        for item in program.items
        if isinstance(item, Annotate) and item.domain == "Module"
    }


def test_are_modules_named_as_in_the_network() -> None:
    assert {"TransformerLayer", "SelfAttention", "MLP"} <= live_modules(stages("dense")[0])
    assert {"AlexNet", "Conv2d", "Linear"} <= live_modules(stages("cnn")[0])
    assert {"TransformerLayer", "MoELayer"} <= live_modules(stages("moe")[0])


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("operator", lone_operators())
def test_a_lone_operator_launches_its_own_kernels(operator: str, product: ProductName) -> None:
    """Not the range around it, which has no function of the library."""
    choice = ModelChoice("single-operator", operator=operator, shape=(4, 4, 16, 16))
    program = build(choice, machine(HardwareChoice(product)), Parallelism(2), 0)
    for launch in launches(program):
        assert program.operators[launch.operator].api
