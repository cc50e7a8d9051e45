"""What accesses to global memory cost, once it is known which of them hit L2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ascend_ref.capture import Integers

from ...draws import Draws
from ..choices import Conditions
from ..memory import Cached, Lines, Transfers
from ..memory.accesses import REQUEST_BYTES
from ..program.model import Program
from ..program.tape import Quantity

MISS_CYCLES = 200
"""From the request until the first Byte of main memory arrives."""
VARIATION = 15
"""Thousandths by which copies of one size differ (roofline_data.bin: blocks with equal work)."""
SLOWEST = Fraction(1, 1000)
"""Byte per cycle that any unit has of a memory."""


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


def _shares(rate: Fraction, size: Integers, unit: Integers, beside: int) -> dict[int, Fraction]:
    """What each unit of a core has of a rate: by its bytes, but not less than an equal share.

    ``beside``: other bytes that the memory moves in the same time.
    """
    units = np.unique(unit).tolist()
    own = {one: int(size[unit == one].sum()) for one in units}
    total = max(sum(own.values()), 1)
    found = {
        one: rate * max(count * len(units), total) / (len(units) * (total + beside))
        for one, count in own.items()
    }
    return {one: max(share.limit_denominator(1000), SLOWEST) for one, share in found.items()}


def _at(size: Integers, rate: Fraction) -> Integers:
    return -(-size * rate.denominator // rate.numerator)
