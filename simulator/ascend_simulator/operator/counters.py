"""The counters of every sub-core, as the monitoring unit of a chip would hold them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from .memory import REQUEST_BYTES, Transfers
from .program.model import Program
from .timing import ICACHE_MISS_CYCLES, ISSUE_CYCLES, SCALAR, Timing, Traffic

GM_READ, GM_WRITE = "GM_READ", "GM_WRITE"
CACHE = ("read_hits", "read_misses", "write_hits", "write_misses")
"""Amounts of L2, and of requests to it in Byte."""


@dataclass(slots=True)
class Pipe:
    """Of one pipe, blocks by sub-cores.

    wait: cycles in which it waited for a flag. stall: cycles in which the scalar unit stood still
    because the queue of the pipe was full.
    """

    instructions: Integers
    busy: Integers
    wait: Integers
    stall: Integers


@dataclass(slots=True)
class Counters:
    """All counters, blocks by sub-cores.

    total_cycles: from the first to the last. amounts: Byte and other counts by name, among them
    GM_READ, GM_WRITE and those of L2. pipes: by name. internuclear: cycles in which the scalar unit
    waited for another sub-core, by number of the flag.
    """

    total_cycles: Integers
    amounts: Mapping[str, Integers]
    pipes: Mapping[str, Pipe]
    written_lines: int
    internuclear: Mapping[int, Integers]

    @property
    def shape(self) -> tuple[int, int]:
        """Blocks and sub-cores."""
        blocks, units = self.total_cycles.shape
        return blocks, units

    def amount(self, name: str) -> Integers:
        """An amount; 0 where nothing was counted."""
        return self.amounts.get(name, np.zeros(self.shape, np.int64))

    def pipe(self, name: str) -> Pipe:
        """A pipe; 0 in all where nothing ran on it."""
        nothing = np.zeros(self.shape, np.int64)
        return self.pipes.get(name) or Pipe(nothing, nothing, nothing, nothing)

    @property
    def fetch_cycles(self) -> Integers:
        """Cycles in which the scalar unit waited for instructions."""
        return self.amount("icache misses") * ICACHE_MISS_CYCLES

    @property
    def scalar_cycles(self) -> Integers:
        """Cycles in which the scalar unit issued, computed or stood still, but did not wait."""
        stalls = sum((one.stall for one in self.pipes.values()), np.zeros(self.shape, np.int64))
        issued = self.amount("executed") * ISSUE_CYCLES
        return issued + self.pipe(SCALAR).busy + stalls + self.fetch_cycles


def count(
    program: Program, timings: Sequence[Timing], transfers: Transfers, moved: Traffic
) -> Counters:
    """Count what happened."""
    shape = (program.block_dim, len(program.units))
    totals = np.zeros(shape, np.int64)
    amounts: defaultdict[str, Integers] = defaultdict(lambda: np.zeros(shape, np.int64))
    pipes: defaultdict[str, Pipe] = defaultdict(
        lambda: Pipe(*(np.zeros(shape, np.int64) for _ in range(4)))
    )
    internuclear: defaultdict[int, Integers] = defaultdict(lambda: np.zeros(shape, np.int64))
    for tape, timing in zip(program.tapes, timings, strict=True):
        for unit, tally in enumerate(tape.tallies):
            for name, values in tally.items():
                amounts[name][tape.blocks, unit] += values
        lengths = timing.end - timing.start
        stalls = timing.issued - timing.fetched - ISSUE_CYCLES
        for number, step in enumerate(tape.steps):
            place = (tape.blocks, step.unit)
            pipe = pipes[step.instruction.pipe]
            totals[place] = np.maximum(totals[place], timing.end[number])
            pipe.stall[place] += stalls[number]
            if step.works:
                pipe.instructions[place] += 1
                pipe.busy[place] += lengths[number]
            elif step.sets is None:
                pipe.wait[place] += lengths[number]
            if step.waits is not None and step.instruction.pipe == SCALAR:
                source, _, target, _, flag = step.waits
                if source != target:
                    internuclear[flag][place] += lengths[number]
    owner = transfers.block * shape[1] + transfers.unit
    for name, moves in (
        *((name, getattr(moved, name)) for name in CACHE),
        (GM_READ, moved.requests * ~transfers.store * REQUEST_BYTES),
        (GM_WRITE, moved.requests * transfers.store * REQUEST_BYTES),
    ):
        amounts[name] = np.bincount(owner, moves, totals.size).astype(np.int64).reshape(shape)
    return Counters(
        total_cycles=totals,
        amounts=_shared(dict(amounts)),
        pipes=dict(pipes),
        written_lines=int(moved.written.sum()),
        internuclear=dict(sorted(internuclear.items())),
    )


def _shared(amounts: dict[str, Integers]) -> dict[str, Integers]:
    """Copies between the cores of a block (950), on both sides: cube core first."""
    if "FIXP_TO_UB" in amounts:
        given = amounts["FIXP_TO_UB"]
        vectors = given.shape[1] - 1
        received = np.zeros_like(given)
        for unit in range(1, vectors + 1):
            received[:, unit] = given[:, 0] * unit // vectors - given[:, 0] * (unit - 1) // vectors
        amounts["UB_FROM_FIXP"] = received
    if "UB_TO_L1" in amounts:
        given = amounts["UB_TO_L1"]
        received = np.zeros_like(given)
        received[:, 0] = given[:, 1:].sum(axis=1)
        amounts["L1_FROM_UB"] = received
    return amounts
