"""A kernel as it was compiled and divided: code, tensors, and what each block executes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .frame import Frame
from .listing import Code, Instruction, source
from .recipes import c_type, element_bytes
from .tape import Quantity, Tape

FIRST_TENSOR = 0x12C0_4120_0000
TENSOR_ALIGNMENT = 512

VECTORS = (1, 2)
"""Units of the vector cores of a mix block; its cube core is unit 0."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An operand in global memory; address and size in Byte."""

    name: str
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class SimtCode:
    """Threads that a vector core runs in addition to its pipes (950).

    launch: the instruction that starts them, whose executions are those of the whole. warps: of one
    launch. body: the instructions of a thread. rounds: how often a warp runs them, by block.
    """

    launch: Instruction
    warps: int
    body: tuple[Instruction, ...]
    rounds: Integers


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel.

    op_type: as 0x05 names it. units: sub-cores of a block, as 0x06 names them. block_dim: blocks.
    cores: physical cores that they run on in turns. kernel: its name in the binary.
    """

    chip: KernelChip
    op_type: str
    units: tuple[str, ...]
    block_dim: int
    cores: int
    kernel: str
    code: Code
    tapes: tuple[Tape, ...]
    tensors: tuple[Tensor, ...]
    simt: SimtCode | None = None

    def core_name(self, block: int, unit: int) -> str:
        """The name of the core that a sub-core of a block ran on."""
        core = block % self.cores
        if self.op_type == "vector":
            return f"core{core // 2}.veccore{core % 2}"
        return f"core{core}.cubecore0" if unit == 0 else f"core{core}.veccore{unit - 1}"


Work = Callable[[Tape, Integers, int], None]
"""Executes one piece of work of each block: the numbers of the pieces, and which of its block's."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A kernel that is being written: its code and its tensors grow part by part."""

    scenario: KernelScenario
    chip: KernelChip
    code: Code
    tensors: list[Tensor] = field(default_factory=list)

    @classmethod
    def of(cls, scenario: KernelScenario, chip: KernelChip, **values: object) -> Draft:
        """A kernel of which there is only the source, with these values filled in."""
        values["buffers"] = scenario.tiling.buffers
        values["type"] = c_type(scenario.operator.data_type)
        return cls(scenario, chip, Code(source(scenario.operator.kind, values)))

    @property
    def size(self) -> int:
        """Byte of an element of the operands."""
        return element_bytes(self.scenario.operator.data_type)

    def tensor(self, name: str, size: int) -> int:
        """Place a tensor behind the others in global memory; its address."""
        end = self.tensors[-1].address + self.tensors[-1].size if self.tensors else FIRST_TENSOR
        address = -(-end // TENSOR_ALIGNMENT) * TENSOR_ALIGNMENT
        self.tensors.append(Tensor(name, address, size))
        return address

    def program(
        self,
        frames: Mapping[str, Frame],
        work: Work,
        blocks: int,
        pieces: int,
        simt: SimtCode | None = None,
    ) -> Program:
        """The program whose blocks share out so many pieces of work; frames: by unit."""
        starts, counts = divide(pieces, blocks, self.scenario.conditions.imbalance)
        on_vectors = "vector" in frames
        units = ("AiCore",) if self.chip.unified else tuple(frames)
        return Program(
            chip=self.chip,
            op_type=units[0] if len(units) == 1 else "mix",
            units=units,
            block_dim=blocks,
            cores=self.chip.vector_cores if on_vectors else self.chip.cube_cores,
            kernel=f"{self.scenario.operator.kind.replace('-', '_')}_custom",
            code=self.code,
            tapes=tuple(
                _tape(tuple(frames.values()), work, own, starts[own], count)
                for count in np.unique(counts).tolist()
                for own in [np.flatnonzero(counts == count)]
            ),
            tensors=tuple(self.tensors),
            simt=simt,
        )


def _tape(
    frames: Sequence[Frame], work: Work, blocks: Integers, starts: Integers, count: int
) -> Tape:
    """What some blocks execute that have so many pieces of work each, from their first on."""
    tape = Tape(blocks)
    for frame in frames:
        frame.begin(tape, tape.unit())
    for number in range(count):
        tape.stage = number
        for unit, frame in enumerate(frames):
            frame.round(tape, unit)
        work(tape, starts + number, number)
    for unit, frame in enumerate(frames):
        frame.finish(tape, unit)
    return tape


def divide(work: int, blocks: int, imbalance: int) -> tuple[Integers, Integers]:
    """First piece of work and number of pieces of each block.

    Shares differ by at most one; the first block has ``imbalance`` thousandths of an equal share.
    """
    first = min(work, work * imbalance // (1000 * blocks)) if imbalance > 1000 else 0
    others = blocks - (imbalance > 1000)
    counts = np.zeros(blocks, np.int64)
    counts[0] = first
    rest = work - first
    if others:
        shares = np.full(others, rest // others, np.int64)
        shares[: rest % others] += 1
        counts[blocks - others :] = shares
    else:
        counts[0] = work
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    return starts, counts


def same(values: Integers) -> Quantity:
    """One number where all values are equal."""
    first = int(values[0])
    return first if bool((values == first).all()) else values
