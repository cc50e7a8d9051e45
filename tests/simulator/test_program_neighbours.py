"""What one kernel writes is what the next one reads: shapes, types and blocks that fit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from program_cases import CASES, PRODUCTS, chip_of, kernels, launches, stages

from ascend_simulator.choices import HardwareChoice, ModelChoice, Parallelism, ProductName
from ascend_simulator.hardware import machine
from ascend_simulator.program import build
from ascend_simulator.program.cost import kinds
from ascend_simulator.program.counters import metric_names, metric_values
from ascend_simulator.program.model import MODULE, Copy, Kernel, Program
from ascend_simulator.program.single import least_lengths, single_operator


def shapes(text: str) -> list[tuple[int, ...]]:
    parts = text.strip('"').split(";")
    return [tuple(map(int, part.split(","))) if part else () for part in parts]


def of_type(program: Program, *types: str) -> list[Kernel]:
    return [kernel for kernel in kernels(program) if kernel.op_type in types]


def network(data_type: str, batch: int = 32, product: ProductName = "A2") -> Program:
    choice = ModelChoice(kind="cnn", data_type=data_type, batch=batch)  # type: ignore[arg-type]
    return build(choice, machine(HardwareChoice(product)), Parallelism(8), 0)


@pytest.mark.parametrize("case", CASES)
def test_does_a_scaled_gradient_have_the_type_of_its_parameter(case: str) -> None:
    for program in stages(case):
        for kernel in of_type(program, "Mul", "Add", "RealDiv"):
            types = {*kernel.input_data_types.split(";"), *kernel.output_data_types.split(";")}
            assert len(types) == 1, kernel


@pytest.mark.parametrize("case", CASES)
def test_does_a_gradient_have_the_shape_of_what_it_is_of(case: str) -> None:
    for program in stages(case):
        for kernel in of_type(program, "RmsNormGrad", "LogSoftmaxGrad", "ReluGrad"):
            first, second, *_ = shapes(kernel.input_shapes)
            assert first == second, kernel


def test_are_products_of_batches_those_of_three_axes() -> None:
    (program,) = stages("recommendation")
    found = of_type(program, "BatchMatMulV2")
    assert found
    for kernel in found:
        left, right = shapes(kernel.input_shapes)
        (made,) = shapes(kernel.output_shapes)
        assert len(left) == len(right) == len(made) == 3
        assert left[:2] == made[:2]


@pytest.mark.parametrize("product", ["A2", "910A"])
def test_is_the_gradient_of_a_weight_rounded_to_its_type(product: ProductName) -> None:
    order = [item.variants[0] for item in launches(network("FLOAT16", product=product))]
    sums = [place for place, one in enumerate(order) if one.op_type == "Conv2DBackpropFilter"]
    assert len(sums) == 5
    for place in sums:
        product_, change, rounding = order[place : place + 3]
        assert product_.output_data_types == change.input_data_types == "FLOAT"
        assert change.output_shapes == rounding.input_shapes == rounding.output_shapes
        assert (rounding.op_type, rounding.output_data_types) == ("Cast", "FLOAT16")
        assert rounding.name.startswith("trans_Cast_")
    assert not any(kernel.name.startswith("trans_Cast_") for kernel in kernels(network("FLOAT")))


@pytest.mark.parametrize("case", ["inference", "inference-pipeline"])
def test_does_inference_keep_the_requests_first(case: str) -> None:
    choice = ModelChoice(
        kind="llm-inference", layers=2, hidden=256, heads=4, vocabulary=1000, batch=3, prompt=64
    )
    parallelism = CASES[case][2]
    program = build(choice, machine(HardwareChoice()), parallelism, parallelism.pipeline - 1)
    attended = of_type(program, "PromptFlashAttention", "IncreFlashAttention")
    keys = []
    for kernel in attended:
        query, key, value = shapes(kernel.input_shapes)
        assert query[0] == key[0] == 3
        assert query[2] == key[2] == 128
        assert key == value
        keys.append(key[1])
    assert sorted(set(keys)) == list(range(64, 64 + 1 + choice.generate))
    chosen = of_type(program, "ArgMaxV2")
    assert [(k.input_shapes, k.output_shapes) for k in chosen] == [('"3,1,1000"', '"3,1"')]


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("case", CASES)
def test_are_there_no_more_blocks_than_cores(case: str, product: ProductName) -> None:
    chip = chip_of(product)
    most = max(chip.cube_cores, chip.vector_cores)
    for program in stages(case, product):
        assert all(kernel.blocks <= most for kernel in kernels(program))


def test_do_more_blocks_than_cores_run_in_waves() -> None:
    """The real task with 256 blocks (db-schema.md 4.12): an image that no core can hold."""
    chip = chip_of("A2")
    found = of_type(network("FLOAT"), "MaxPoolGradWithArgmaxV1")
    assert sorted(kernel.blocks for kernel in found) == [32, 32, 256]
    cut = next(kernel for kernel in found if kernel.blocks == 256)
    duration, clock = np.array([cut.duration]), np.array([chip.frequency])
    values = metric_values([cut], np.zeros(1, np.int64), duration, clock, "PipeUtilization", chip)
    named = dict(zip(metric_names("PipeUtilization", chip), values[0].tolist(), strict=True))
    waves = named["aiv_total_cycles"] / (named["aiv_total_time"] * chip.frequency / 1000)
    assert waves == pytest.approx(256 / 6)


@pytest.mark.parametrize("product", ["310P", "200I-500-A2"])
def test_does_a_chip_for_inference_only_answer(product: ProductName) -> None:
    program = network("FLOAT16", batch=4, product=product)
    types = {kernel.op_type for kernel in kernels(program)}
    assert {"Conv2D", "MatMulV2", "ArgMaxV2"} <= types
    assert not any("Grad" in name or "Backprop" in name or "Drop" in name for name in types)
    assert {operator.thread for operator in program.operators} == {"main"}
    copies = [item.operation for item in program.items if isinstance(item, Copy)]
    assert copies == ["host to device", "device to host"]


def modules(program: Program) -> Counter[str]:
    """Modules of operators, without their numbers."""
    named = {
        entry.removeprefix(MODULE)
        for operator in program.operators
        for entry in operator.module
        if entry.startswith(MODULE)
    }
    return Counter(name.rpartition("_")[0] for name in named)


def test_has_every_module_a_number_of_its_own() -> None:
    """As in the real step (nn.Module: ReLU_0 to ReLU_6), whichever micro-batch runs through it."""
    found = modules(network("FLOAT"))
    assert found["ReLU"] == 7
    assert found["Conv2d"] == 5
    assert found["Linear"] == found["MaxPool2d"] == 3
    assert found["Sequential"] == found["Dropout"] == 2
    assert found["AlexNet"] == found["AdaptiveAvgPool2d"] == 1
    choice = ModelChoice(layers=3, hidden=256, heads=4, microbatches=2)
    found = modules(build(choice, machine(HardwareChoice()), Parallelism(), 0))
    assert found["TransformerLayer"] == found["SelfAttention"] == found["MLP"] == 3
    assert found["RMSNorm"] == 2 * 3 + 1


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("operator", sorted(kinds()))
def test_does_no_kernel_move_more_than_the_memory_can(operator: str, product: ProductName) -> None:
    found = machine(HardwareChoice(product))
    shape = {1: (4096, 8192), 3: (4096, 4096, 4096), 4: (8, 32, 2048, 128)}[least_lengths(operator)]
    choice = ModelChoice(kind="single-operator", operator=operator, shape=shape)
    (kernel,) = kernels(single_operator(choice, found, Parallelism()))
    if kernel.blocks:
        assert kernel.read + kernel.written <= kernel.duration * found.chip.hbm_bandwidth // 1000
        assert kernel.loaded + kernel.stored <= kernel.duration * found.chip.l2_bandwidth // 1000
        peak = found.chip.cube_cores * found.chip.cube_flops * found.chip.frequency
        assert kernel.flops * 1000 <= kernel.duration * peak


@pytest.mark.parametrize("case", ["moe", "moe-both"])
def test_are_the_loads_of_experts_even_on_average(case: str) -> None:
    for program in stages(case):
        found = [item for item in launches(program) if item.load]
        assert found
        assert {len(item.variants) for item in found} == {12}
        for item in found:
            if item.variants[0].op_type != "SwiGlu":
                continue
            tokens = [shapes(kernel.input_shapes)[0][0] for kernel in item.variants]
            assert {low + high for low, high in zip(tokens, tokens[::-1], strict=True)} == {
                2 * tokens[0]
            }
            assert min(tokens) < tokens[0] < max(tokens)
