"""Kernels of a chip: each combination of operator, operands and where these lie is made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from math import prod

from ..hardware.model import Chip
from .cost import (
    Cost,
    Heads,
    Kind,
    Traffic,
    attention_cost,
    convolution_cost,
    kinds,
    matmul_cost,
    unit_cost,
    vector_cost,
)
from .model import Core, Kernel

WIDTHS = {
    "FLOAT": 4,
    "FLOAT16": 2,
    "DT_BF16": 2,
    "INT32": 4,
    "INT64": 8,
    "UINT8": 1,
    "UINT16": 2,
    "BOOL": 1,
}
"""Byte per element of the data types of COMPUTE_TASK_INFO."""
ND = "FORMAT_ND"
NOT_COLLECTED = "N/A"
LEAST_CLEARED = 4096
"""A MemSet takes every vector core, however little it clears."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor as a kernel sees it. cold: it must come from memory, not from L2.

    moved: Byte that the kernel touches where that is not all of it.
    """

    shape: tuple[int, ...]
    data_type: str
    layout: str = ND
    cold: bool = False
    moved: int | None = None

    @property
    def elements(self) -> int:
        """Number of elements; 1 of a scalar."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Byte that are read or written."""
        return self.elements * WIDTHS[self.data_type] if self.moved is None else self.moved


@dataclass(slots=True)
class Kernels:
    """Makes the kernels of a chip; equal ones are the same object."""

    chip: Chip
    _made: dict[object, Kernel] = field(default_factory=dict)
    _known: dict[str, Kernel] = field(default_factory=dict)

    def vector(
        self,
        kind: str,
        api: str,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        name: str | None = None,
        blocks: int = 0,
    ) -> Kernel:
        """An operator of the vector unit (or the AI CPU, or the random unit, as its kind says).

        api: the CANN call, which begins the kernel's name. It is empty in a compiled graph, where
        ``name`` is the whole name. blocks: as :func:`.cost.vector_cost` takes them.
        """
        key = (kind, api, name, tuple(inputs), tuple(outputs), blocks)
        if key in self._made:
            return self._made[key]
        entry = kinds()[kind]
        traffic = _traffic(inputs, outputs)
        if entry.unit in ("ai_cpu", "random"):
            cost = unit_cost(entry, traffic)
        else:
            whole = [operand for operand in (*inputs, *outputs) if operand.moved is None]
            largest = max(whole, key=lambda operand: operand.elements)
            cost = vector_cost(
                self.chip, entry, largest.elements, WIDTHS[largest.data_type], traffic, blocks
            )
        return self._keep(key, entry, api, inputs, outputs, cost, 0, name)

    def matmul(
        self,
        kind: str,
        api: str,
        inputs: Sequence[Operand],
        output: Operand,
        size: tuple[int, int, int, int],
    ) -> Kernel:
        """A product of matrices; size: batch, m, n, k. Further inputs are bias and lists."""
        key = (kind, api, tuple(inputs), output, size)
        if key in self._made:
            return self._made[key]
        entry = kinds()[kind]
        widths = WIDTHS[inputs[0].data_type], WIDTHS[output.data_type]
        cost = matmul_cost(self.chip, entry, size, widths, _traffic(inputs, [output]))
        return self._keep(key, entry, api, inputs, [output], cost, 2 * prod(size), None)

    def convolution(
        self,
        kind: str,
        name: str,
        inputs: Sequence[Operand],
        output: Operand,
        products: int,
        padded: int,
        batch: int,
    ) -> Kernel:
        """A convolution of a compiled graph: so many multiply-adds, ``padded`` to whole blocks."""
        key = (kind, name, tuple(inputs), output, products)
        if key in self._made:
            return self._made[key]
        entry = kinds()[kind]
        blocks = self.chip.cube_cores
        if kind == "Conv2D":
            blocks = max(cores for cores in range(1, blocks + 1) if batch % cores == 0)
        wide = max(WIDTHS[operand.data_type] for operand in inputs if operand.layout != "NCHW") // 2
        thin = any(operand.layout == "NC1HWC0" and operand.shape[1] == 1 for operand in inputs)
        cost = convolution_cost(
            self.chip, entry, padded * wide, blocks, thin, _traffic(inputs, [output])
        )
        hf32 = "YES" if wide == 2 else "NO"
        return self._keep(key, entry, "", inputs, [output], cost, 2 * products, name, hf32)

    def attention(
        self,
        kind: str,
        api: str,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        heads: Heads,
    ) -> Kernel:
        """Fused attention of the first input, the queries."""
        key = (kind, api, tuple(inputs), tuple(outputs), heads)
        if key in self._made:
            return self._made[key]
        entry = kinds()[kind]
        products = heads.scores * heads.width * (5 if kind.endswith("Grad") else 2)
        element, traffic = WIDTHS[inputs[0].data_type], _traffic(inputs, outputs)
        cost = attention_cost(self.chip, entry, heads, products, element, traffic)
        return self._keep(key, entry, api, inputs, outputs, cost, 2 * products, None)

    def clear(self, api: str, kernel: str, size: int) -> Kernel:
        """The MemSet of so many Byte before ``kernel``; none of its operands are collected.

        api: empty in a compiled graph, where the name is the operator's.
        """
        key = ("MemSet", api, kernel, size)
        if key in self._made:
            return self._made[key]
        entry = kinds()["MemSet"]
        least = LEAST_CLEARED * self.chip.vector_cores
        cost = vector_cost(self.chip, entry, max(size, least) // 4, 4, Traffic(0, 0, size))
        name = f"{api}_{kernel}_MemSet" if api else f"{kernel}_MemSet"
        return self._keep(key, entry, api, [], [], cost, 0, name)

    def _keep(
        self,
        key: object,
        kind: Kind,
        api: str,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        cost: Cost,
        flops: int,
        name: str | None,
        hf32: str = "NO",
    ) -> Kernel:
        core, task_type, subtask = self._engine(kind, bool(api))
        kernel = Kernel(
            name=name or f"{api}_{kind.kernel}_{kind.type}",
            op_type=kind.type,
            core=core,
            task_type=task_type,
            input_formats=_joined([operand.layout for operand in inputs]),
            input_data_types=_joined([operand.data_type for operand in inputs]),
            input_shapes=_shapes(inputs),
            output_formats=_joined([operand.layout for operand in outputs]),
            output_data_types=_joined([operand.data_type for operand in outputs]),
            output_shapes=_shapes(outputs),
            op_state="dynamic" if name is None else "static",
            hf32=hf32,
            flops=flops,
            subtask=subtask,
            **{figure.name: getattr(cost, figure.name) for figure in fields(cost)},
        )
        # Operands that lie elsewhere may make no difference.
        known = self._known.setdefault(repr(kernel), kernel)
        return self._made.setdefault(key, known)

    def _engine(self, kind: Kind, from_library: bool) -> tuple[Core, str, bool]:
        """COMPUTE_TASK_INFO.taskType, TASK.taskType, and whether an FFTS+ task encloses it."""
        if kind.unit == "ai_cpu":
            return "AI_CPU", "KERNEL_AICPU", False
        if kind.unit == "random":
            return "DSA_SQE", "STARS_COMMON", False
        if not self.chip.split or kind.unit == "cube":
            return "AI_CORE", "KERNEL_AICORE", False
        if kind.unit == "vector":
            return "AI_VECTOR_CORE", "KERNEL_AIVEC", False
        core: Core = "MIX_AIV" if kind.unit == "mix_vector" else "MIX_AIC"
        if not self.chip.ffts:
            return core, f"KERNEL_{core}", False
        return core, "KERNEL_AICORE" if from_library else core, True


def _traffic(inputs: Sequence[Operand], outputs: Sequence[Operand]) -> Traffic:
    return Traffic(
        cold=sum(operand.size for operand in inputs if operand.cold),
        warm=sum(operand.size for operand in inputs if not operand.cold),
        written=sum(operand.size for operand in outputs),
    )


def _joined(texts: Sequence[str]) -> str:
    return ";".join(texts) if texts else NOT_COLLECTED


@cache
def shape_text(shape: tuple[int, ...]) -> str:
    """Lengths, joined by commas."""
    return ",".join(map(str, shape))


def _shapes(operands: Sequence[Operand]) -> str:
    if not operands:
        return NOT_COLLECTED
    return '"' + ";".join(shape_text(operand.shape) for operand in operands) + '"'
