"""When each step of a kernel runs: what its accesses to global memory cost, and the scoreboard.

A scalar unit issues in order to pipes that run in order and await each other. Nothing that happens
later changes what was before: each step is placed once, by the latest of what it waits for. All
blocks of a tape are placed together, as columns.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ascend_ref.capture import Integers

from ..draws import Draws
from .choices import Conditions
from .memory import REQUEST_BYTES, Cached, Lines, Transfers
from .program.model import Program
from .program.tape import FlagKey, Quantity, Step

MISS_CYCLES = 200
"""From the request until the first Byte of main memory arrives."""
VARIATION = 15
"""Thousandths by which copies of one size differ (roofline_data.bin: blocks with equal work)."""
SLOWEST = Fraction(1, 1000)
"""Byte per cycle that any unit has of a memory."""

SCALAR = "SCALAR"
QUEUE_DEPTH = 16
"""Instructions that wait before a pipe at most; with more the scalar unit stops."""
ISSUE_CYCLES = 1
ICACHE_MISS_CYCLES = 120


@dataclass(frozen=True, slots=True)
class Traffic:
    """Of each transfer, in the order of the transfers.

    read_hits, read_misses: requests of 128 Byte by loads. write_hits, write_misses: lines of
    stores. requests: of 128 Byte. written: lines that it made L2 write back.
    """

    read_hits: Integers
    read_misses: Integers
    write_hits: Integers
    write_misses: Integers
    requests: Integers
    written: Integers


def traffic(transfers: Transfers, lines: Lines, fate: Cached) -> Traffic:
    """Sum the accesses to lines up to transfers."""
    count = len(transfers)
    stores = transfers.store[lines.transfer]

    def total(weight: Integers) -> Integers:
        summed = np.bincount(lines.transfer, weight, count)
        return summed.astype(np.int64)

    hit, one = fate.hit, np.ones(len(lines.line), np.int64)
    return Traffic(
        read_hits=total(lines.requests * (hit & ~stores)),
        read_misses=total(lines.requests * (~hit & ~stores)),
        write_hits=total(one * (hit & stores)),
        write_misses=total(one * (~hit & stores)),
        requests=total(lines.requests),
        written=total(one * fate.written),
    )


def step_cycles(
    program: Program,
    transfers: Transfers,
    moved: Traffic,
    conditions: Conditions,
    frequency: int,
    seed: int,
) -> list[Sequence[Quantity]]:
    """Cycles of every step of every tape, with what its transfers cost."""
    extra = _extra(program, transfers, moved, frequency, seed)
    found: list[Sequence[Quantity]] = []
    for number, tape in enumerate(program.tapes):
        own = np.flatnonzero(transfers.tape == number)
        width = len(tape.blocks)
        added = np.zeros((len(tape.steps), width), np.int64)
        np.add.at(added, (transfers.step[own], transfers.place[own]), extra[own])
        slow = np.where(tape.blocks % program.cores == 0, conditions.slow_core, 1000)
        found.append(
            [
                (step.cycles + added[place]) * slow // 1000 if step.works else step.cycles
                for place, step in enumerate(tape.steps)
            ]
        )
    return found


def _extra(
    program: Program, transfers: Transfers, moved: Traffic, frequency: int, seed: int
) -> Integers:
    """Cycles of each transfer for its bytes.

    Loads wait for L2, and for main memory where they miss. Stores wait for L2 alone, until changed
    lines have to leave it.
    """
    chip, store = program.chip, transfers.store
    cores = min(program.block_dim, program.cores)
    asked = moved.requests * REQUEST_BYTES
    read = moved.read_misses * REQUEST_BYTES
    far = np.where(store, moved.written * chip.cache.line, read)
    near_rate = chip.share(chip.l2_bandwidth, cores, frequency)
    far_rate = chip.share(chip.gm_bandwidth, cores, frequency)
    written = {False: int(asked[store].sum()), True: 0}
    left = {False: int(moved.written.sum()) * chip.cache.line, True: 0}
    bounds = {
        (step.instruction.index, step.unit): step.bound
        for tape in program.tapes
        for step in tape.steps
        if step.transfers
    }
    cycles = np.zeros(len(transfers), np.int64)
    for stores in (False, True):
        of = store == stores
        near = _shares(near_rate, asked * of, transfers.unit, written[stores])
        memory = _shares(far_rate, far * of, transfers.unit, left[stores])
        for (code, unit), path in bounds.items():
            own = np.flatnonzero(of & (transfers.code == code) & (transfers.unit == unit))
            port = chip.port(path)
            spent = _at(asked[own] - read[own], min(port, near[unit]))
            spent += _at(far[own], min(port, memory[unit]))
            cycles[own] = spent + np.where(read[own] > 0, MISS_CYCLES, 0)
    return Draws(seed, "memory").scaled(cycles, VARIATION)


def _shares(rate: Fraction, size: Integers, unit: Integers, others: int) -> dict[int, Fraction]:
    """What each unit of a core has of a rate: by its bytes, but not less than an equal share.

    ``others``: other bytes that the memory moves in the same time.
    """
    units = np.unique(unit).tolist()
    own = {one: int(size[unit == one].sum()) for one in units}
    total = max(sum(own.values()), 1)
    found = {
        one: rate * max(count * len(units), total) / (len(units) * (total + others))
        for one, count in own.items()
    }
    return {one: max(share.limit_denominator(1000), SLOWEST) for one, share in found.items()}


def _at(size: Integers, rate: Fraction) -> Integers:
    return -(-size * rate.denominator // rate.numerator)


@dataclass(frozen=True, slots=True)
class Timing:
    """Cycles from the start of the block, steps by blocks.

    fetched: the instruction was there; issued: it went to its pipe; start, end: it ran.
    """

    fetched: Integers
    issued: Integers
    start: Integers
    end: Integers


def schedule(steps: Sequence[Step], cycles: Sequence[Quantity], width: int) -> Timing:
    """Place the steps of ``width`` blocks; ``cycles``: how long each runs.

    Raises ``ValueError`` for a wait before whose place nobody sets the flag.
    """
    shape = (len(steps), width)
    timing = Timing(*(np.zeros(shape, np.int64) for _ in range(4)))
    clock: defaultdict[int, Integers] = defaultdict(lambda: np.zeros(width, np.int64))
    free: defaultdict[tuple[int, str], Integers] = defaultdict(lambda: np.zeros(width, np.int64))
    queue: defaultdict[tuple[int, str], deque[Integers]] = defaultdict(
        lambda: deque(maxlen=QUEUE_DEPTH)
    )
    flags: defaultdict[FlagKey, deque[Integers]] = defaultdict(deque)
    busy: defaultdict[int, set[str]] = defaultdict(set)
    for number, step in enumerate(steps):
        unit, pipe = step.unit, step.instruction.pipe
        lane = (unit, pipe)
        now: Integers = clock[unit] + (ICACHE_MISS_CYCLES if step.cold else 0)
        timing.fetched[number] = now
        now = now + ISSUE_CYCLES
        waiting = queue[lane]
        if pipe != SCALAR and len(waiting) == QUEUE_DEPTH:
            now = np.maximum(now, waiting[0])
        timing.issued[number] = now
        start: Integers = np.maximum(now, free[lane])
        if step.barrier:
            for other in busy[unit]:
                start = np.maximum(start, free[unit, other])
        end: Integers = start + np.asarray(cycles[number], np.int64)
        if step.waits is not None:
            if not flags[step.waits]:
                raise ValueError(f"step {number} waits for a flag that nobody sets: {step.waits}")
            end = np.maximum(end, flags[step.waits].popleft() + 1)
        timing.start[number], timing.end[number] = start, end
        if step.sets is not None:
            flags[step.sets].append(end)
        free[lane] = end
        busy[unit].add(pipe)
        waiting.append(start)
        # The scalar unit runs its own instructions before it issues the next one.
        clock[unit] = end if pipe == SCALAR or step.barrier else now
    return timing
