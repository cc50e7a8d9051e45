"""What accesses to global memory cost, once it is known which of them hit L2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ascend_ref.capture import Integers

from ...draws import Draws
from ..memory import Cached, Lines, Transfers
from ..program.model import Program
from ..program.tape import Quantity
from ..scenario.model import Conditions

MISS_CYCLES = 200
"""From the request until the first Byte of main memory arrives."""
VARIATION = 15
"""Thousandths by which copies of one size differ (roofline_data.bin: blocks with equal work)."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Of each transfer, in the order of the transfers.

    read_hits, read_misses: requests of 128 Byte by loads. write_hits, write_misses: lines of
    stores. requests: of 128 Byte. hit_bytes, miss_bytes: by where they were found. written: lines
    that it made L2 write back.
    """

    read_hits: Integers
    read_misses: Integers
    write_hits: Integers
    write_misses: Integers
    requests: Integers
    hit_bytes: Integers
    miss_bytes: Integers
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
        hit_bytes=total(lines.size * hit),
        miss_bytes=total(lines.size * ~hit),
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
    """Cycles of each transfer for its bytes."""
    chip = program.chip
    active = min(program.block_dim, program.cores) * len(np.unique(transfers.unit))
    near = chip.share(chip.l2_bandwidth, max(active, 1), frequency)
    far = chip.share(chip.gm_bandwidth, max(active, 1), frequency)
    bounds = {
        step.instruction.index: step.bound
        for tape in program.tapes
        for step in tape.steps
        if step.transfers
    }
    cycles = np.zeros(len(transfers), np.int64)
    for code, path in bounds.items():
        own = np.flatnonzero(transfers.code == code)
        port = chip.port(path)
        spent = _at(moved.hit_bytes[own], min(port, near))
        spent += _at(moved.miss_bytes[own], min(port, far))
        spent += np.where(moved.miss_bytes[own] > 0, MISS_CYCLES, 0)
        cycles[own] = spent
    return Draws(seed, "memory").scaled(cycles, VARIATION)


def _at(size: Integers, rate: Fraction) -> Integers:
    return -(-size * rate.denominator // rate.numerator)
