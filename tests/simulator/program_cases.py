"""Programs for the tests, and what is counted in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ascend_simulator.choices import (
    HardwareChoice,
    ModelChoice,
    ModelKind,
    Parallelism,
    ProductName,
)
from ascend_simulator.hardware import machine
from ascend_simulator.hardware.model import Chip
from ascend_simulator.program import build
from ascend_simulator.program.model import Kernel, Launch, Program

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
SMALL = {"layers": 2, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 1000}
CASES: dict[str, tuple[ModelKind, dict[str, int], Parallelism]] = {
    "dense": ("dense-transformer", SMALL, Parallelism()),
    "dense-tensor": ("dense-transformer", SMALL, Parallelism(4, 2)),
    "dense-pipeline": (
        "dense-transformer",
        {**SMALL, "layers": 4, "microbatches": 6},
        Parallelism(8, 1, 4),
    ),
    "dense-both": ("dense-transformer", {**SMALL, "microbatches": 2}, Parallelism(8, 2, 2)),
    "moe": ("moe", SMALL, Parallelism(4, 1, 1, 4)),
    "moe-both": ("moe", {**SMALL, "microbatches": 2}, Parallelism(16, 2, 2, 2)),
    "moe-alone": ("moe", SMALL, Parallelism()),
    "cnn": ("cnn", {"batch": 8}, Parallelism(8)),
    "cnn-alone": ("cnn", {"batch": 1}, Parallelism()),
    "recommendation": ("recommendation", {"batch": 256, "tables": 6}, Parallelism(4)),
    "inference": ("llm-inference", {**SMALL, "prompt": 64, "generate": 3}, Parallelism(2, 2)),
    "inference-pipeline": (
        "llm-inference",
        {**SMALL, "prompt": 64, "generate": 3},
        Parallelism(4, 2, 2),
    ),
    "single": ("single-operator", {}, Parallelism()),
}


def chip_of(product: ProductName) -> Chip:
    return machine(HardwareChoice(product)).chip


@cache
def stages(case: str, product: ProductName = "A2") -> tuple[Program, ...]:
    kind, fields, parallelism = CASES[case]
    choice = ModelChoice(kind=kind, **fields)  # type: ignore[arg-type]
    found = machine(HardwareChoice(product))
    return tuple(build(choice, found, parallelism, stage) for stage in range(parallelism.pipeline))


def launches(program: Program) -> Iterator[Launch]:
    return (item for item in program.items if isinstance(item, Launch))


def kernels(program: Program) -> list[Kernel]:
    """Every kernel that the program may run, each object once."""
    found = {id(kernel): kernel for item in launches(program) for kernel in item.variants}
    return list(found.values())
