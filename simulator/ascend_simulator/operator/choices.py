"""A kernel's scenario: all that its file depends on, besides the seed. Nothing here computes.

Every field has a default. The JSON Schema next to this file states the ranges; :mod:`.load`
enforces both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

OperatorKind = Literal[
    "add", "gelu", "softmax", "matmul", "matmul-leakyrelu", "flash-attention", "gather"
]
DataType = Literal["float16", "bfloat16", "float32", "int8", "int16", "int32"]
Mode = Literal["device", "simulator", "everything"]


@dataclass(frozen=True, slots=True)
class Operator:
    """What is computed. shape: None takes the kind's own."""

    kind: OperatorKind = "add"
    shape: tuple[int, ...] | None = None
    data_type: DataType = "float16"


@dataclass(frozen=True, slots=True)
class Device:
    """Where it runs. block_dim: None is one block per core. frequency: MHz, None the rated one."""

    chip: str = "Ascend910B4"
    block_dim: int | None = None
    frequency: int | None = None


@dataclass(frozen=True, slots=True)
class Tiling:
    """How the work of a block is cut: elements of a vector tile; m, n, k of a matrix tile."""

    elements: int | None = None
    m: int | None = None
    n: int | None = None
    k: int | None = None
    buffers: int = 2


@dataclass(frozen=True, slots=True)
class Conditions:
    """What slows the kernel down, all in thousandths. l2_hit_rate: None asks the cache model."""

    imbalance: int = 1000
    slow_core: int = 1000
    l2_hit_rate: int | None = None
    bank_conflicts: int = 0


@dataclass(frozen=True, slots=True)
class Capture:
    """What is written. access_bytes: most Byte of one TraceRecord."""

    mode: Mode = "device"
    memory_detail: bool = False
    access_bytes: int = 512


@dataclass(frozen=True, slots=True)
class KernelScenario:
    """One kernel on one chip."""

    name: str = "unnamed"
    summary: str = ""
    operator: Operator = field(default_factory=Operator)
    device: Device = field(default_factory=Device)
    tiling: Tiling = field(default_factory=Tiling)
    conditions: Conditions = field(default_factory=Conditions)
    capture: Capture = field(default_factory=Capture)
