"""The counters of every sub-core, as the monitoring unit of a chip would hold them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from .memory import REQUEST_BYTES, Transfers
from .program.model import Program
from .program.tape import Tape
from .timing import ICACHE_MISS_CYCLES, ISSUE_CYCLES, SCALAR, Timing, Traffic

GM_READ, GM_WRITE = "GM_READ", "GM_WRITE"


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
    GM_READ and GM_WRITE. pipes: by name. read_hits to write_misses: of L2. internuclear: cycles in
    which the scalar unit waited for another sub-core, by number of the flag.
    """

    total_cycles: Integers
    amounts: Mapping[str, Integers]
    pipes: Mapping[str, Pipe]
    read_hits: Integers
    read_misses: Integers
    write_hits: Integers
    write_misses: Integers
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
        _count_steps(tape, timing, totals, pipes, internuclear)
    memory = _memory(program, transfers, moved)
    amounts[GM_READ] = memory.pop(GM_READ)
    amounts[GM_WRITE] = memory.pop(GM_WRITE)
    return Counters(
        total_cycles=totals,
        amounts=_shared(dict(amounts)),
        pipes=dict(pipes),
        written_lines=int(moved.written.sum()),
        internuclear=dict(sorted(internuclear.items())),
        **memory,
    )


def _count_steps(
    tape: Tape,
    timing: Timing,
    totals: Integers,
    pipes: Mapping[str, Pipe],
    internuclear: Mapping[int, Integers],
) -> None:
    lengths, blocks = timing.end - timing.start, tape.blocks
    stalls = timing.issued - timing.fetched - ISSUE_CYCLES
    for number, step in enumerate(tape.steps):
        place = (blocks, step.unit)
        pipe = pipes[step.instruction.pipe]
        totals[place] = np.maximum(totals[place], timing.end[number])
        pipe.stall[place] += stalls[number]
        if step.works:
            pipe.instructions[place] += 1
            pipe.busy[place] += lengths[number]
        elif step.sets is None:
            pipe.wait[place] += lengths[number]
        crosses = step.waits is not None and step.waits[0] != step.waits[2]
        if crosses and step.instruction.pipe == SCALAR and step.waits is not None:
            internuclear[step.waits[4]][place] += lengths[number]


def _memory(program: Program, transfers: Transfers, moved: Traffic) -> dict[str, Integers]:
    """What L2 and main memory saw."""
    blocks, units = program.block_dim, len(program.units)

    def total(values: Integers) -> Integers:
        place = transfers.block * units + transfers.unit
        summed = np.bincount(place, values, blocks * units)
        return summed.astype(np.int64).reshape(blocks, units)

    return {
        "read_hits": total(moved.read_hits),
        "read_misses": total(moved.read_misses),
        "write_hits": total(moved.write_hits),
        "write_misses": total(moved.write_misses),
        GM_READ: total(moved.requests * ~transfers.store) * REQUEST_BYTES,
        GM_WRITE: total(moved.requests * transfers.store) * REQUEST_BYTES,
    }


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
