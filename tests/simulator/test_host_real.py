"""The calls of the real step (Ascend910B, 2025-01; db-schema.md 7.6), counted."""

from __future__ import annotations

from collections import Counter
from functools import cache

from ascend_simulator.choices import HardwareChoice, ModelChoice, Parallelism
from ascend_simulator.hardware import machine
from ascend_simulator.host import HostScript
from ascend_simulator.host.calls import CallScript
from ascend_simulator.host.clock import CREATION, CREATION_END, PARTS
from ascend_simulator.host.operators import Row, operator_rows
from ascend_simulator.host.trace import trace_rows
from ascend_simulator.program import build
from ascend_simulator.program.model import Collective, Copy

SMALL_COPIES = 9
"""Sums copied back without a kernel; the real step has one copy more."""


@cache
def script() -> HostScript:
    chosen = machine(HardwareChoice())
    choice = ModelChoice(kind="cnn", data_type="FLOAT", batch=32)
    return HostScript(build(choice, chosen, Parallelism(8), 0), chosen.chip)


def counted() -> Counter[str]:
    calls = CallScript(script())
    every = calls.names.all
    return Counter(
        every[number]
        for rows in (calls.framework, calls.consumer, calls.release)
        for number in rows.name.tolist()
    )


def test_are_operands_described_as_often_as_in_the_real_step() -> None:
    found = counted()
    for name in ("aclCreateTensorDesc", "aclCreateDataBuffer", "aclDestroyTensorDesc"):
        assert found[name] == 71
    assert found["aclopCreateAttr"] == found["aclopDestroyAttr"] == 19


def test_are_the_operators_sized_that_the_real_step_sizes() -> None:
    found = counted()
    sized = {
        name.removesuffix("GetWorkspaceSize"): count
        for name, count in found.items()
        if name.endswith("GetWorkspaceSize")
    }
    assert sized == {
        "aclnnInplaceCopy": SMALL_COPIES,
        "aclnnMaxPool2dWithMask": 3,
        "aclnnMaxPool2dWithMaskBackward": 3,
        "aclnnDropoutGenMaskV2": 2,
    }


def test_do_copies_point_to_the_calls_of_the_real_step() -> None:
    found: Counter[str] = Counter()
    for run in script().runs:
        for place, item in enumerate(script().program.items[run.first : run.last + 1]):
            if isinstance(item, Copy) and run.passage is not None:
                found[run.passage.calls[run.passage.carriers[place]].name] += 1
    assert found == {
        "aclnnInplaceCopy": SMALL_COPIES,
        "aclopCompileAndExecute": 10,
        "aclnnDropoutGenMaskV2": 2,
        "aclrtMemcpyAsync": 2,
    }


def test_does_a_collective_keep_the_framework_as_long_as_a_real_one() -> None:
    """Real ones took 73 to 159 us, and the creation of their events 1 to 6 us."""
    lengths = [
        run.share
        for run in script().runs
        if isinstance(script().program.items[run.first], Collective)
    ]
    assert len(lengths) == 4
    assert all(70_000 <= length <= 160_000 for length in lengths)
    assert 1_000 <= lengths[0] * (CREATION_END - CREATION) // PARTS <= 6_000


@cache
def operators() -> list[Row]:
    return operator_rows(script(), CallScript(script())).operators


def test_are_autograd_nodes_named_as_in_the_real_step() -> None:
    found = Counter(row.name for row in operators() if row.name.endswith("Backward0"))
    nodes = {name: count for name, count in found.items() if ":" not in name}
    # The real step has nodes of views next to them, which launch nothing.
    assert nodes == {
        "AdaptiveAvgPool2DBackward0": 1,
        "AddmmBackward0": 3,
        "ConvolutionBackward0": 5,
        "LogSoftmaxBackward0": 1,
        "MaxPool2DWithIndicesBackward0": 3,
        "NllLossBackward0": 1,
        "NpuDropoutBackward0": 2,
        "ReluBackward0": 7,
    }


def test_do_operators_inside_of_others_show_their_operands() -> None:
    shown = {row.name: (row.data_types, row.shapes) for row in operators()[::-1]}
    assert shown["aten::_convolution"] == ("float;float;float", "32,3,224,224;64,3,11,11;64")
    assert shown["aten::_to_copy"] == ("float", "32,3,224,224")
    assert shown["torch::autograd::AccumulateGrad"] == ("float", "1000")
    assert shown["aten::as_strided"][1].count(";") == 0
    assert shown["aten::_foreach_mul_"] == ("TensorList;Scalar", ";")
    assert shown["aten::_foreach_add"] == ("TensorList;TensorList;Scalar", ";;")
    assert shown["AddmmBackward0"] == ("float", "32,1000")
    assert shown["aten::empty"] == shown["autograd::engine::evaluate_function: ReluBackward0"]
    share = sum(bool(row.shapes) for row in operators()) / len(operators())
    assert share > 0.4  # 0.64 in the real step


def test_is_the_trace_that_of_the_functions_that_python_has() -> None:
    names = Counter(row.name for row in trace_rows(script()))
    wrapped = {name: count for name, count in names.items() if "nn/functional.py" in name}
    assert wrapped == {
        "torch/nn/functional.py(1460): relu": 7,
        "torch/nn/functional.py(769): _max_pool2d": 3,
        "torch/nn/functional.py(1249): dropout": 2,
        "torch/nn/functional.py(1214): adaptive_avg_pool2d": 1,
        "torch/nn/functional.py(1907): log_softmax": 1,
        "torch/nn/functional.py(2963): cross_entropy": 1,
    }
    assert names["<built-in method conv2d of type object at 0xffffb386cf10>"] == 5
    items = [name for name in names if name.startswith("<built-in method item of Tensor object")]
    assert len(items) == 5


def test_do_releases_differ_in_length() -> None:
    calls = CallScript(script())
    assert len(set((calls.release.end.offset - calls.release.start.offset).tolist())) > 20


def test_does_a_call_stack_end_in_the_function_that_python_has() -> None:
    """As PYTORCH_CALLCHAINS of fixtures-2025-01: ``aten::relu_`` and the leaf inside of it come
    from ``functional.py(…): relu``, ``aten::topk`` from the function that called the method."""
    innermost = {row.name: row.stack[-1] for row in operators() if row.stack}
    relu = "torch/nn/functional.py(1460): relu"
    assert innermost["aten::relu_"] == innermost["aclnnInplaceRelu"] == relu
    assert "functional.py" not in innermost["aten::topk"]
