"""What networks compute and tell each other, against closed formulas."""

from __future__ import annotations

import pytest
from program_cases import kernels, launches, stages

from ascend_simulator.choices import HardwareChoice, ModelChoice, Parallelism
from ascend_simulator.hardware import machine
from ascend_simulator.program import build
from ascend_simulator.program.model import Collective, Copy, Program

MACHINE = machine(HardwareChoice())
HIDDEN, HEADS, SEQUENCE, BATCH, LAYERS, VOCABULARY = 256, 4, 128, 2, 3, 1024
DENSE = ModelChoice(
    layers=LAYERS,
    hidden=HIDDEN,
    heads=HEADS,
    sequence=SEQUENCE,
    vocabulary=VOCABULARY,
    batch=BATCH,
    expand=30,
    microbatches=2,
)


def counted(program: Program, kind: str, dimension: str) -> list[int]:
    return [
        item.count
        for item in program.items
        if isinstance(item, Collective) and (item.kind, item.dimension) == (kind, dimension)
    ]


def transformer_flops(layers: int, *, forward: int = 1, head: bool = True) -> int:
    """Training of so many layers and the head, multiply-adds counted twice, attention causal."""
    tokens, width = SEQUENCE * BATCH, 3 * HIDDEN
    weights = 4 * HIDDEN**2 + 3 * HIDDEN * width
    attention = 2 * BATCH * SEQUENCE**2 // 2 * HIDDEN  # scores or their use, 2 per multiply-add
    per_layer = 3 * 2 * tokens * weights + (2 + 5) * attention
    return layers * per_layer + head * 3 * 2 * tokens * HIDDEN * VOCABULARY


@pytest.mark.parametrize("tensor", [1, 2, 4])
@pytest.mark.parametrize("pipeline", [1, 3])
def test_flops_of_a_transformer(tensor: int, pipeline: int) -> None:
    parallelism = Parallelism(tensor * pipeline, tensor, pipeline)
    programs = [build(DENSE, MACHINE, parallelism, stage) for stage in range(pipeline)]
    whole = DENSE.microbatches * transformer_flops(LAYERS)
    assert tensor * sum(program.flops for program in programs) == whole


def test_flops_of_a_mixture_of_experts() -> None:
    choice = ModelChoice(
        kind="moe", layers=1, hidden=HIDDEN, heads=HEADS, sequence=SEQUENCE, batch=BATCH,
        vocabulary=VOCABULARY, expand=20, experts=8, top_k=2,
    )  # fmt: skip
    program = build(choice, MACHINE, Parallelism(4, 1, 1, 4), 0)
    tokens, width = SEQUENCE * BATCH, 2 * HIDDEN
    experts = 3 * 2 * (2 * tokens) * 3 * HIDDEN * width
    gate = 3 * 2 * tokens * HIDDEN * 8
    attention = 3 * 2 * tokens * 4 * HIDDEN**2 + 7 * BATCH * SEQUENCE**2 * HIDDEN
    head = 3 * 2 * tokens * HIDDEN * VOCABULARY
    assert program.flops == experts + gate + attention + head


def parameters(layers: int, tensor: int) -> int:
    matrices = (4 * HIDDEN**2 + 3 * HIDDEN * 3 * HIDDEN) // tensor
    return layers * (matrices + 2 * HIDDEN) + 2 * VOCABULARY * HIDDEN // tensor + HIDDEN


@pytest.mark.parametrize("tensor", [1, 2])
def test_is_every_gradient_summed_once(tensor: int) -> None:
    program = build(DENSE, MACHINE, Parallelism(4 * tensor, tensor), 0)
    assert sum(counted(program, "allReduce", "dp")) == parameters(LAYERS, tensor)
    assert not counted(build(DENSE, MACHINE, Parallelism(tensor, tensor), 0), "allReduce", "dp")


def test_do_sums_of_gradients_overlap_the_backward_pass() -> None:
    choice = ModelChoice(layers=4, hidden=2048, heads=16, sequence=512)
    program = build(choice, MACHINE, Parallelism(2), 0)
    sums = [
        place
        for place, item in enumerate(program.items)
        if isinstance(item, Collective) and item.dimension == "dp"
    ]
    last = max(
        place
        for place, item in enumerate(program.items)
        if program.operators[item.operator].name.endswith("_grad")
    )
    assert len(sums) > 2
    assert sum(place < last for place in sums) >= len(sums) - 2


def test_tensor_parallel_layers_sum_twice_each_way() -> None:
    program = build(DENSE, MACHINE, Parallelism(2, 2), 0)
    activations = [
        count for count in counted(program, "allReduce", "tp") if count == SEQUENCE * BATCH * HIDDEN
    ]
    # Attention and feed-forward part each way; the embedding forward, the head backward.
    assert len(activations) == DENSE.microbatches * (4 * LAYERS + 2)


def test_experts_exchange_tokens_twice_each_way() -> None:
    (program,) = stages("moe")
    tokens = 128 * 2 * 256
    assert counted(program, "alltoallv", "ep") == [tokens] * 2 * 4


def test_gradients_of_experts_are_summed_among_those_that_hold_them() -> None:
    first, second = stages("moe-both")
    local, hidden, width = 4, 256, 4 * 256
    experts = local * 3 * hidden * width
    for program, layers in ((first, 1), (second, 1)):
        assert sum(counted(program, "allReduce", "edp")) == layers * experts


def tokens_of(shapes: str) -> int:
    """As ep_load_balance reads a GroupedMatmul: the last two operands are weights and lists."""
    parts = [part for part in shapes.strip('"').split(";") if part]
    return sum(int(part.partition(",")[0]) for part in parts[:-2])


def test_do_experts_get_different_loads_of_the_right_mean() -> None:
    (program,) = stages("moe")
    found = [item for item in launches(program) if item.variants[0].op_type == "GroupedMatmul"]
    assert found
    for item in found:
        tokens = [tokens_of(kernel.input_shapes) for kernel in item.variants]
        even = 128 * 2
        assert tokens[0] == even
        assert len(set(tokens)) > 6
        assert abs(sum(tokens) / len(tokens) / even - 1) < 0.06
        busiest = item.variants[tokens.index(max(tokens))]
        idlest = item.variants[tokens.index(min(tokens))]
        assert busiest.flops > idlest.flops


def test_does_the_cache_grow_with_every_token() -> None:
    (program,) = stages("inference")
    keys = [
        int(kernel.input_shapes.split(";")[1].split(",")[1])
        for kernel in (item.variants[0] for item in launches(program))
        if kernel.op_type == "IncreFlashAttention"
    ]
    assert keys == [65, 65, 66, 66, 67, 67]


def test_does_inference_leave_autograd_alone() -> None:
    for program in stages("inference-pipeline"):
        assert {operator.thread for operator in program.operators} == {"main"}
        assert {operator.sequence for operator in program.operators} == {-1}


def test_which_operators_of_a_recommendation_network_run_on_the_ai_cpu() -> None:
    (program,) = stages("recommendation")
    found = {kernel.op_type for kernel in kernels(program) if kernel.core == "AI_CPU"}
    assert found == {"Unique", "Bucketize"}


@pytest.mark.parametrize(
    ("operator", "shape"),
    [
        ("MatMulV2", (64, 128, 256)),
        ("BatchMatMulV2", (4, 64, 128, 256)),
        ("Add", (32, 1024)),
        ("Relu", (1000,)),
        ("FlashAttentionScore", (1, 8, 512, 128)),
        ("Conv2D", (8, 64, 56, 56)),
        ("ReduceSum", (32, 1024)),
        ("TopK", (32, 1024)),
        ("MemSet", (4096,)),
    ],
)
def test_operators_that_run_alone(operator: str, shape: tuple[int, ...]) -> None:
    choice = ModelChoice(kind="single-operator", operator=operator, shape=shape)
    program = build(choice, MACHINE, Parallelism(), 0)
    (kernel,) = kernels(program)
    assert kernel.op_type == operator


def test_an_attention_alone_takes_the_workspace_of_one_in_a_network() -> None:
    alone = ModelChoice("single-operator", operator="FlashAttentionScore", shape=(1, 8, 512, 128))
    taken = {
        one.workspace
        for choice in (alone, ModelChoice())
        for one in build(choice, MACHINE, Parallelism(), 0).operators
        if one.api == "aclnnFlashAttentionScore"
    }
    assert len(taken) == 1
    assert taken.pop() > 0


@pytest.mark.parametrize("operator", ["allReduce", "allGather"])
def test_collectives_that_run_alone(operator: str) -> None:
    choice = ModelChoice(kind="single-operator", operator=operator, shape=(32, 8))
    program = build(choice, MACHINE, Parallelism(2), 0)
    assert counted(program, operator, "dp") == [32 * 8]
    assert list(kernels(program)) == []


def test_a_copy_that_runs_alone() -> None:
    choice = ModelChoice(kind="single-operator", operator="memcpy", shape=(32, 8))
    program = build(choice, MACHINE, Parallelism(), 0)
    assert [one.op_type for one in kernels(program)] == ["TensorMove"]
    copies = [one for one in program.items if isinstance(one, Copy)]
    assert [(one.operation, one.size) for one in copies] == [
        ("host to device", 32 * 8 * 2),
        ("device to host", 32 * 8 * 2),
    ]


@pytest.mark.parametrize(("operator", "shape"), [("Nonsense", (1,)), ("MatMulV2", (64, 64))])
def test_operators_that_cannot_run(operator: str, shape: tuple[int, ...]) -> None:
    choice = ModelChoice(kind="single-operator", operator=operator, shape=shape)
    with pytest.raises(ValueError, match=operator):
        build(choice, MACHINE, Parallelism(), 0)
