"""What the fields of a kernel's scenario must be to each other: nothing that a schema can say."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ascend_spec import catalog

from ..chip import KernelChip, chip
from ..choices import KernelScenario, OperatorKind
from ..program.estimate import estimate
from ..program.geometry import (
    LENGTHS,
    Problem,
    activation,
    attention_geometry,
    attention_misfits,
    matrix_geometry,
    misfits,
    part_elements,
    shape_of,
    vector_geometry,
    vector_misfits,
)
from ..program.recipes import element_bytes, recipe

_FLOATS = ("float16", "bfloat16", "float32")
TYPES = {
    "add": (*_FLOATS, "int16", "int32"),
    "gelu": _FLOATS,
    "softmax": _FLOATS,
    "matmul": (*_FLOATS, "int8"),
    "matmul-leakyrelu": _FLOATS,
    "flash-attention": ("float16", "bfloat16"),
    "gather": ("float16", "float32", "int32"),
}
"""Data types of each kind."""
MOST_BYTES = 1 << 36
"""Of one operand: it fits into the memory of any chip."""

MOST_STEPS = 200_000
MOST_EXECUTED = 5_000_000
MOST_LINES = 6_000_000
MOST_EVENTS = 300_000
MOST_RECORDS = 12_000_000


def problems(scenario: KernelScenario) -> Iterator[Problem]:
    """Everything that is impossible about a scenario whose fields are sound by themselves."""
    on = chip(scenario.device.chip)
    for check in (_operator, _device, _shape, _tiles, _mode, _size):
        found = list(check(scenario, on))
        if found:
            yield from found
            return


def needs(kind: OperatorKind, on: KernelChip) -> str | None:
    """What a kind of operator needs that a chip does not have."""
    if kind == "gather" and on.family != "950":
        return "of the 950 series for its SIMT threads"
    return "with separate vector cores" if kind == "flash-attention" and on.unified else None


def _operator(scenario: KernelScenario, on: KernelChip) -> Iterator[Problem]:
    kind, data_type = scenario.operator.kind, scenario.operator.data_type
    needed = needs(kind, on)
    if needed is not None:
        yield ("operator", "kind"), f"is {kind}; expected a chip {needed}, not {on.name}"
    if data_type not in TYPES[kind]:
        yield (
            ("operator", "data_type"),
            f"is {data_type}; expected one of {', '.join(TYPES[kind])} for {kind}",
        )
    elif data_type == "bfloat16" and not _computes_bf16(on):
        yield (
            ("operator", "data_type"),
            f"is bfloat16; expected float16 or float32, for {on.name} cannot compute with the "
            "former",
        )


def _computes_bf16(on: KernelChip) -> bool:
    product = catalog().products.of_chip(f"Ascend{on.family}")
    return product is not None and product.can("bf16")


def _device(scenario: KernelScenario, on: KernelChip) -> Iterator[Problem]:
    frequency = scenario.device.frequency
    if frequency is not None and frequency > on.frequency:
        yield (
            ("device", "frequency"),
            f"is {frequency}; expected at most the rated {on.frequency} MHz of {on.name}",
        )


def _shape(scenario: KernelScenario, _: KernelChip) -> Iterator[Problem]:
    kind, shape = scenario.operator.kind, shape_of(scenario)
    wanted = LENGTHS.get(kind)
    if wanted is not None and len(shape) != wanted:
        yield (
            ("operator", "shape"),
            f"has {len(shape)} lengths; expected {wanted} for {kind}",
        )
        return
    size = _largest(kind, shape) * element_bytes(scenario.operator.data_type)
    if size > MOST_BYTES:
        yield (
            ("operator", "shape"),
            f"makes an operand of {size:,} Byte; expected at most {MOST_BYTES:,}",
        )
    elif kind == "flash-attention":
        for place in (2, 3):
            if shape[place] % 16:
                yield ("operator", "shape", place), f"is {shape[place]}; expected a multiple of 16"


def _largest(kind: str, shape: tuple[int, ...]) -> int:
    """Elements of the largest operand."""
    if kind == "gather":
        return max(shape[0], shape[2]) * shape[1]
    if kind in ("matmul", "matmul-leakyrelu"):
        return prod(sorted(shape)[1:])
    return prod(shape)


def _tiles(scenario: KernelScenario, on: KernelChip) -> Iterator[Problem]:
    kind, data_type = scenario.operator.kind, scenario.operator.data_type
    if kind in ("add", "gelu", "softmax"):
        found = vector_geometry(scenario, on)
        yield from vector_misfits(scenario, on, recipe(kind, data_type), found.tile)
    elif kind in ("matmul", "matmul-leakyrelu"):
        for name in ("m", "n", "k"):
            value, by = getattr(scenario.tiling, name), 16 if name != "k" else 32
            if value is not None and value % by:
                yield ("tiling", name), f"is {value}; expected a multiple of {by}"
                return
        plan = matrix_geometry(scenario, on)
        yield from misfits(scenario, on, plan)
        one, elements = activation(scenario), plan.tile_m * plan.tile_n
        if on.unified:
            yield from vector_misfits(scenario, on, one, elements)
        elif kind == "matmul-leakyrelu":
            half = elements // on.vectors_per_cube
            yield from vector_misfits(scenario, on, one, part_elements(scenario, on, one, half))
    elif kind == "flash-attention":
        yield from attention_misfits(scenario, on, attention_geometry(scenario, on))


def _mode(scenario: KernelScenario, _: KernelChip) -> Iterator[Problem]:
    if scenario.operator.kind == "gather" and scenario.capture.mode == "simulator":
        yield (
            ("capture", "mode"),
            "is simulator; expected device or everything, for the threads of a gather are not "
            "modelled one by one",
        )


def _size(scenario: KernelScenario, on: KernelChip) -> Iterator[Problem]:
    about = estimate(scenario, on)
    limits = [
        ("steps of one block", about.steps, MOST_STEPS),
        ("executed instructions", about.executed, MOST_EXECUTED),
        ("lines of L2", about.lines, MOST_LINES),
    ]
    if scenario.capture.mode == "simulator":
        limits.append(("events of the timeline", about.executed, MOST_EVENTS))
    if scenario.capture.mode == "everything":
        limits.append(("records of memory accesses", about.records, MOST_RECORDS))
    for what, number, most in limits:
        if number > most:
            yield (
                ("operator", "shape"),
                f"makes about {number:,} {what}; expected at most {most:,}: a smaller shape, "
                "larger tiles or fewer blocks",
            )
            return
