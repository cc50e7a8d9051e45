"""One kernel that ran: what every block of its file is derived from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers

from .chip import KernelChip
from .choices import KernelScenario
from .counters import Counters, count
from .memory import Cached, Lines, Transfers, cached, lines_of, transfers_of
from .program.build import build
from .program.model import Program
from .program.tape import Step
from .timing import Timing, Traffic, schedule, step_cycles, traffic

EPOCH = "E3"
"""The epoch of the files: that of the current exporter."""


class Ran(NamedTuple):
    """What a block executed, and at which cycles of the task; place: of the block on its tape."""

    steps: Sequence[Step]
    place: int
    start: Integers
    end: Integers


@dataclass(frozen=True)
class World:
    """A scenario, its program, its accesses to memory, and when each step ran.

    frequency: MHz during the run. timings: of each tape of the program.
    """

    scenario: KernelScenario
    seed: int
    program: Program
    frequency: int
    transfers: Transfers
    lines: Lines
    fate: Cached
    moved: Traffic
    timings: tuple[Timing, ...]

    @property
    def chip(self) -> KernelChip:
        """The chip that it ran on."""
        return self.program.chip

    @cached_property
    def counters(self) -> Counters:
        """What the counters of each sub-core say."""
        return count(self.program, self.timings, self.transfers, self.moved)

    @cached_property
    def starts(self) -> Integers:
        """Cycles from the start of the task until each block starts.

        They start one after the other, and not before their core is done with another block.
        """
        chip, blocks = self.chip, self.program.block_dim
        begin = chip.start * self.frequency // 1000
        step = chip.start_block * self.frequency
        found = begin + np.arange(blocks, dtype=np.int64) * step // 1000
        free = np.zeros(self.program.cores, np.int64)
        lengths = self.counters.total_cycles.max(axis=1)
        for block in range(blocks):
            core = block % self.program.cores
            found[block] = max(found[block], free[core])
            free[core] = found[block] + lengths[block]
        return found

    @cached_property
    def moments(self) -> tuple[Integers, Integers]:
        """Cycles of the task at which each transfer starts and ends."""
        transfers = self.transfers
        begin, end = np.zeros((2, len(transfers)), np.int64)
        for number, timing in enumerate(self.timings):
            own = np.flatnonzero(transfers.tape == number)
            place = (transfers.step[own], transfers.place[own])
            offset = self.starts[transfers.block[own]]
            begin[own], end[own] = offset + timing.start[place], offset + timing.end[place]
        return begin, end

    def ran(self, block: int) -> Ran:
        """The steps of a block."""
        for tape, timing in zip(self.program.tapes, self.timings, strict=True):
            for place in np.flatnonzero(tape.blocks == block).tolist():
                start, end = (
                    self.starts[block] + one[:, place] for one in (timing.start, timing.end)
                )
                return Ran(tape.steps, place, start, end)
        raise LookupError(f"there is no block {block}")

    def microseconds(self, cycles: int) -> float:
        """The duration of so many cycles, in single precision."""
        return float(np.float32(cycles / self.frequency))

    @property
    def task_cycles(self) -> int:
        """Cycles of the whole task."""
        return int((self.starts + self.counters.total_cycles.max(axis=1)).max())


def run(scenario: KernelScenario, seed: int) -> World:
    """Run the kernel of a scenario that is possible."""
    program = build(scenario, seed)
    frequency = scenario.device.frequency or program.chip.frequency
    transfers = transfers_of(program)
    lines = lines_of(transfers, program.chip.cache.line)
    fate = cached(
        lines.line,
        transfers.store[lines.transfer],
        program.chip.cache,
        scenario.conditions.l2_hit_rate,
    )
    moved = traffic(transfers, lines, fate)
    cycles = step_cycles(program, transfers, moved, scenario.conditions, frequency, seed)
    timings = tuple(
        schedule(tape.steps, own, len(tape.blocks))
        for tape, own in zip(program.tapes, cycles, strict=True)
    )
    return World(scenario, seed, program, frequency, transfers, lines, fate, moved, timings)
