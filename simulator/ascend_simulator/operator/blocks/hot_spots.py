"""What every instruction cost, on every core or on all of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from ..program.listing import Instruction
from ..timing import ICACHE_MISS_CYCLES, ISSUE_CYCLES
from ..world import World

ALL_CORES = "ALL"
NOT_APPLICABLE = -1
INT32_MAX = (1 << 31) - 1
"""Counts beyond this are cut: viewers read no more than 32 bits (bin-blocks.md 3.4)."""


def core_name(world: World, block: int, unit: int) -> str:
    """The name of the core that a sub-core of a block ran on."""
    program = world.program
    core = block % program.cores
    if program.op_type == "vector":
        return f"core{core // 2}.veccore{core % 2}"
    return f"core{core}.cubecore0" if unit == 0 else f"core{core}.veccore{unit - 1}"


@dataclass(frozen=True, slots=True)
class HotSpots:
    """Instructions by cores. What does not apply to an instruction is -1 in the last four.

    stalls: cycles between issue and start. fetch: of waiting for the instruction cache; queue: for
    a place before the pipe. bytes: moved to or from global memory. utilization: the least share of
    lanes in use, percent. conflicts: the most cycles that one execution lost to banks.
    hits, misses: lines of L2, on all cores together.
    """

    cores: list[str]
    instructions: list[Instruction]
    executed: Integers
    cycles: Integers
    stalls: Integers
    fetch: Integers
    queue: Integers
    bytes: Integers
    utilization: Integers
    read_conflicts: Integers
    write_conflicts: Integers
    hits: Integers
    misses: Integers

    def used(self) -> list[int]:
        """Places of the instructions that were executed at all."""
        return np.flatnonzero(self.executed.any(axis=1)).tolist()


def hot_spots(world: World, *, per_core: bool) -> HotSpots:
    """Sum up the steps of a kernel."""
    program = world.program
    names = [
        [
            core_name(world, block, unit) if per_core else ALL_CORES
            for unit, _ in enumerate(program.units)
        ]
        for block in range(program.block_dim)
    ]
    cores = sorted({name for own in names for name in own})
    column = np.array([[cores.index(name) for name in own] for own in names])
    instructions = program.code.instructions
    shape = (len(instructions), len(cores))
    sums = {name: np.zeros(shape, np.int64) for name in _SUMS}
    extremes = {name: np.full(shape, NOT_APPLICABLE, np.int64) for name in _EXTREMES}
    _steps(world, column, sums, extremes)
    code = world.transfers.code[world.lines.transfer]
    hits = np.bincount(code, world.fate.hit, len(instructions)).astype(np.int64)
    accesses = np.bincount(code, minlength=len(instructions)).astype(np.int64)
    return HotSpots(
        cores=cores,
        instructions=instructions,
        hits=hits,
        misses=accesses - hits,
        **{name: np.minimum(values, INT32_MAX) for name, values in (sums | extremes).items()},
    )


_SUMS = ("executed", "cycles", "stalls", "fetch", "queue")
_EXTREMES = ("bytes", "utilization", "read_conflicts", "write_conflicts")


def _steps(
    world: World,
    column: Integers,
    sums: dict[str, Integers],
    extremes: dict[str, Integers],
) -> None:
    for tape, timing in zip(world.program.tapes, world.timings, strict=True):
        lengths = timing.end - timing.start
        waits = timing.start - timing.issued
        queued = timing.issued - timing.fetched - ISSUE_CYCLES
        for number, step in enumerate(tape.steps):
            where = (step.instruction.index, column[tape.blocks, step.unit])
            values = {
                "executed": 1,
                "cycles": lengths[number],
                "stalls": waits[number],
                "fetch": ICACHE_MISS_CYCLES if step.cold else 0,
                "queue": queued[number],
            }
            for name, value in values.items():
                np.add.at(sums[name], where, value)
            if step.transfers:
                found = extremes["bytes"]
                found[where] = np.maximum(found[where], 0)
                np.add.at(found, where, sum(one.size for one in step.transfers))
            if step.lanes is not None:
                elements, held = step.lanes
                share = elements * 100 // np.maximum(held, 1)
                used = np.broadcast_to(share, len(tape.blocks))
                old = extremes["utilization"][where]
                extremes["utilization"][where] = np.where(old < 0, used, np.minimum(old, used))
                for name, lost in (
                    ("read_conflicts", step.conflicts - step.conflicts // 2),
                    ("write_conflicts", step.conflicts // 2),
                ):
                    np.maximum.at(extremes[name], where, lost)
    simt = world.program.simt
    if simt is not None:
        for one in simt.body:
            sums["executed"][one.index] += int(simt.rounds.sum()) * simt.warps
