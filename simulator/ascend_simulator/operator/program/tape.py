"""What the blocks of a kernel execute: steps in an order in which each could run alone.

Blocks that execute the same steps share one tape; where they differ, in addresses and in the size
of a rest, a quantity is an array with one value per block.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ascend_ref.capture import Integers

from .listing import Instruction

Quantity: TypeAlias = int | Integers
"""One number for all blocks of a tape, or one for each."""

FlagKey: TypeAlias = tuple[int, str, int, str, int]
"""From unit and pipe to unit and pipe, and the number of the flag."""

ICACHE_LINE = 128
FETCH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Transfer:
    """An access to global memory: ``rows`` pieces of ``row_bytes``, each ``pitch`` after the last.

    address: of the first byte. local: memory of the core at the other end. offsets: of the rows
    from the address, blocks by rows, where they do not follow a pitch.
    """

    address: Quantity
    rows: Quantity
    row_bytes: Quantity
    pitch: int
    store: bool
    local: str
    offsets: Integers | None = None

    @property
    def size(self) -> Quantity:
        """Byte in all."""
        return self.rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class Move:
    """A copy within a core, for the record of memory accesses."""

    source: str
    target: str
    size: Quantity


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of an instruction.

    unit: sub-core of the block. cycles: how long it runs, without what depends on L2. sets, waits:
    the flag of a SET or WAIT. stage: which part of the block's work it belongs to. cold: its line
    of code was not in the instruction cache. conflicts: cycles lost to banks of the Unified Buffer.
    lanes: elements of a vector instruction, and how many its repeats could hold. bound: the path
    whose width limits its transfers.
    """

    instruction: Instruction
    unit: int
    cycles: Quantity
    stage: int
    cold: bool
    transfers: tuple[Transfer, ...] = ()
    move: Move | None = None
    sets: FlagKey | None = None
    waits: FlagKey | None = None
    barrier: bool = False
    conflicts: Quantity = 0
    lanes: tuple[Quantity, Quantity] | None = None
    bound: str = ""

    @property
    def flag(self) -> FlagKey | None:
        """The flag of a SET or WAIT."""
        return self.sets or self.waits

    @property
    def works(self) -> bool:
        """Whether it does something, and not only synchronises."""
        return self.flag is None and not self.barrier


@dataclass(slots=True)
class Tape:
    """The steps of some blocks.

    blocks: their numbers. tallies: Byte and counts, by unit. stage: of the next steps. pending: how
    often each flag is set and not yet awaited. numbers: what a part of the kernel has done so
    often, by unit and name.
    """

    blocks: Integers
    steps: list[Step] = field(default_factory=list)
    tallies: list[dict[str, Integers]] = field(default_factory=list)
    stage: int = 0
    pending: Counter[FlagKey] = field(default_factory=Counter)
    numbers: Counter[tuple[int, str]] = field(default_factory=Counter)
    _lines: set[tuple[int, int]] = field(default_factory=set)
    _fetched: dict[int, int] = field(default_factory=dict)

    def unit(self) -> int:
        """Another sub-core; its number."""
        width = len(self.blocks)
        self.tallies.append(defaultdict(lambda: np.zeros(width, np.int64)))
        return len(self.tallies) - 1

    def run(
        self,
        unit: int,
        instruction: Instruction,
        cycles: Quantity = 1,
        counts: Mapping[str, Quantity] | None = None,
        *,
        transfers: tuple[Transfer, ...] = (),
        move: Move | None = None,
        conflicts: Quantity = 0,
        lanes: tuple[Quantity, Quantity] | None = None,
        bound: str = "",
    ) -> None:
        """Execute an instruction that works. counts: what it adds to the unit's tallies.

        bound: the path whose width limits a transfer.
        """
        self._append(
            unit,
            instruction,
            cycles + conflicts,
            transfers=transfers,
            move=move,
            conflicts=conflicts,
            lanes=lanes,
            bound=bound,
        )
        for name, count in (counts or {}).items():
            self.tallies[unit][name] += count

    def transfer(
        self, unit: int, instruction: Instruction, one: Transfer, path: str, cycles: Quantity
    ) -> None:
        """Execute a copy from or to global memory, which the width of its path limits."""
        self.run(unit, instruction, cycles, {path: one.size}, transfers=(one,), bound=path)

    def set_flag(self, unit: int, instruction: Instruction, key: FlagKey) -> None:
        """Signal another pipe once everything earlier on the instruction's pipe is done."""
        self.pending[key] += 1
        self._append(unit, instruction, 1, sets=key)

    def wait_flag(self, unit: int, instruction: Instruction, key: FlagKey) -> None:
        """Hold the instruction's pipe until the flag is set."""
        self.pending[key] -= 1
        self._append(unit, instruction, 1, waits=key)

    def barrier(self, unit: int, instruction: Instruction) -> None:
        """Hold the scalar unit until all pipes of the sub-core are idle."""
        self._append(unit, instruction, 1, barrier=True)

    def _append(
        self, unit: int, instruction: Instruction, cycles: Quantity, **given: object
    ) -> None:
        line = (unit, instruction.address // ICACHE_LINE)
        cold = line not in self._lines
        self._lines.add(line)
        tallies = self.tallies[unit]
        group = instruction.address // FETCH_BYTES
        if self._fetched.get(unit) != group or cold:
            self._fetched[unit] = group
            tallies["icache requests"] += 1
        tallies["icache misses"] += int(cold)
        tallies["executed"] += 1
        self.steps.append(
            Step(instruction, unit, cycles, self.stage, cold, **given)  # type: ignore[arg-type]
        )


def ceil_div(number: Quantity, by: int) -> Quantity:
    """A quotient, rounded up."""
    return -(-number // by)
