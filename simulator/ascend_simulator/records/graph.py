"""What a compiled graph consists of: its operators, and the memory that each takes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import TOTAL, WHOLE_GRAPH
from ascend_ref.names import stamp
from ascend_spec.core import packaged

from ..memory.blocks import rounded
from ..program.kernels import NOT_COLLECTED, WIDTHS
from ..program.model import Kernel, Launch, Operator
from ..samples.scene import Columns
from .scene import RecordScene, rows

WEIGHTED = ("Conv2D", "MatMulV2", "MatMulV3", "GroupedMatmul")
"""Kernels whose second operand is a weight, where they run forward."""


def fusion_op(scene: RecordScene) -> Columns:
    """Each operator of the graph once, with its operands' sizes; a weight is no input."""
    program = scene.timeline.program
    nodes: dict[str, tuple[Kernel, Operator, Launch]] = {}
    for item in program.items:
        if isinstance(item, Launch):
            kernel = item.variants[0]
            nodes.setdefault(kernel.name, (kernel, program.operators[item.operator], item))
    started = stamp(scene.timeline.session[0])[:14]
    sizes = [_sizes(*node) for node in nodes.values()]
    return {
        "model_name": scene.texts.numbers([f"ge_default_{started}_{scene.model}"] * len(nodes)),
        "model": np.full(len(nodes), scene.model),
        "name": scene.texts.numbers(nodes),
        "originals": scene.texts.numbers(_originals(kernel) for kernel, _, _ in nodes.values()),
        **rows({name: [size[name] for size in sizes] for name in SIZES}),
    }


SIZES = ("input", "output", "weight", "workspace")


def _originals(kernel: Kernel) -> str:
    parts: list[str] | None = packaged(__package__, "fused.yaml").get(kernel.op_type)
    alone = kernel.op_type in WEIGHTED and kernel.input_data_types.count(";") < 2  # without a bias
    if parts is None or alone:
        return kernel.name
    return ";".join(f"{kernel.name}/{part}_{place}" for place, part in enumerate(parts))


def _sizes(kernel: Kernel, operator: Operator, launch: Launch) -> dict[str, int]:
    inputs = _operands(kernel.input_shapes, kernel.input_data_types)
    forward = operator.forward is None and operator.thread == "main"
    weight = inputs[1] if kernel.op_type in WEIGHTED and forward else 0
    return {
        "input": sum(inputs) - weight,
        "output": sum(_operands(kernel.output_shapes, kernel.output_data_types)),
        "weight": weight,
        "workspace": launch.workspace or operator.workspace,
    }


def _operands(shapes: str, data_types: str) -> list[int]:
    """Byte of each operand."""
    if shapes == NOT_COLLECTED:
        return []
    return [
        prod(int(length) for length in shape.split(",") if length) * WIDTHS[data_type]
        for shape, data_type in zip(
            shapes.strip('"').split(";"), data_types.split(";"), strict=True
        )
    ]


def static_op_mem(scene: RecordScene) -> Columns:
    """The tensors of the graph's nodes, each from its node until the last one that uses it, and
    workspaces as long as their node; then the total.
    """
    found = list(_memory(scene))
    sizes = rounded(np.array([size for *_, size in found], np.int64))
    columns = rows(
        {
            "start": [*(start for _, start, _, _ in found), 0],
            "end": [*(end for _, _, end, _ in found), NONE],
            "size": [*sizes.tolist(), int(sizes.sum())],
        }
    )
    count = len(columns["size"])
    return {
        "name": scene.texts.numbers([*(name for name, *_ in found), TOTAL]),
        "model_name": scene.texts.numbers([WHOLE_GRAPH] * count),
        "graph": np.full(count, scene.model),
        **columns,
    }


def _memory(scene: RecordScene) -> Iterator[tuple[str, int, int, int]]:
    """Name, first and last node (NONE: kept), and Byte of everything that nodes take."""
    program = scene.timeline.program
    launched: dict[int, Launch] = {}
    for item in program.items:
        if isinstance(item, Launch):
            launched.setdefault(item.operator, item)
    places = np.array(list(launched), np.int64)
    for node, (place, launch) in enumerate(launched.items()):
        operator, name = program.operators[place], launch.variants[0].name
        for tensor in operator.tensors:
            last = NONE
            if tensor.last_use is not None:
                last = int(np.searchsorted(places, tensor.last_use, "right")) - 1
            yield name, node, last, tensor.size
        if operator.workspace:
            yield name, node, node, operator.workspace
