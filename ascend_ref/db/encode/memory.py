"""Tables of the memory that operators take, and of what each component holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers, MemoryTotals, WorkspaceEvents
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import groups
from ascend_ref.derive.memory_blocks import memory_blocks

from .recording import Recording, Rows

FRAMEWORK, ENGINE, BOTH, WORKSPACE = "PTA", "GE", "PTA+GE", "WORKSPACE"


def workspace_events(recording: Recording) -> Rows:
    """NPU_OP_MEM."""
    batch = recording.capture.workspace_events
    take, give = recording.texts.number("allocate"), recording.texts.number("release")
    return {
        **recording.rows(batch),
        "kind": np.where(batch.allocate == 1, take, give),
        "component": recording.text(ENGINE, len(batch)),
    }


def blocks(recording: Recording) -> Rows:
    """OP_MEMORY, the blocks of the framework in order of time; without operators it knows none."""
    batch = recording.capture.memory_blocks
    kept = len(batch) if recording.capture.switches.cpu else 0
    batch = batch.take(np.argsort(batch.allocated, kind="stable")[:kept])
    return {
        **dict(batch.columns()),
        "held": length(batch.allocated, batch.released),
        "active": length(batch.allocated, batch.inactive),
    }


def engine_blocks(recording: Recording) -> Rows:
    """OP_MEMORY, the blocks of the graph engine: each allocation with the release after it.

    Blocks that were given back come first, in the order of that; the engine knows no streams and
    no active memory.
    """
    batch = recording.capture.workspace_events
    taken, given = pairs(batch)
    released = np.where(given == NONE, NONE, batch.time[given])
    start = batch.time[taken]
    return {
        "name": batch.name[taken],
        "size": batch.size[taken],
        "allocated": start,
        "released": released,
        "held": length(start, released),
        "total_allocated": batch.total_allocated[taken],
        "total_reserved": batch.total_reserved[taken],
        "release_total_allocated": np.where(given == NONE, NONE, batch.total_allocated[given]),
        "release_total_reserved": np.where(given == NONE, NONE, batch.total_reserved[given]),
        "device": batch.device[taken],
    }


def length(start: Integers, end: Integers) -> Integers:
    """From start to end, NONE where there is no end."""
    return np.where(end == NONE, NONE, end - start)


def pairs(batch: WorkspaceEvents) -> tuple[Integers, Integers]:
    """Rows of the allocations, and of the release that follows on each, NONE without one.

    Events belong together by name, address and device.
    """
    _, block = groups(batch.name, batch.address)
    found = memory_blocks(batch.device, block, batch.time, batch.allocate == 1)
    taken, given = (rows[found.taken != NONE] for rows in found)
    place = np.argsort(np.where(given == NONE, taken + len(batch), given))
    return taken[place], given[place]


class Amounts(NamedTuple):
    """What was held, row by row."""

    allocated: Integers
    reserved: Integers
    active: Integers
    stream: Integers


def totals(recording: Recording) -> Rows:
    """MEMORY_RECORD: each row of the framework or the engine is followed by the sum of both."""
    wanted = [FRAMEWORK, ENGINE, *([WORKSPACE] if recording.habits.workspace else [])]
    numbers = recording.texts.numbers(wanted)
    batch = recording.capture.memory_totals
    batch = batch.take(np.isin(batch.component, numbers))
    engine = batch.component == numbers[1]
    summed = (batch.component == numbers[0]) | engine
    own = Amounts(
        batch.allocated,
        batch.reserved,
        np.where(engine, 0, batch.active),
        np.where(engine, NONE, batch.stream),
    )
    both = _sums(own, batch, numbers)
    count = 1 + summed
    source = np.repeat(np.arange(len(batch)), count)
    follows = np.append(False, source[1:] == source[:-1])[: len(source)]

    def interleaved(values: Integers, of_both: Integers) -> Integers:
        return np.where(follows, of_both[source], values[source])

    return {
        "component": interleaved(batch.component, recording.text(BOTH, len(batch))),
        "time": batch.time[source],
        "device": batch.device[source],
        **{
            name: interleaved(*pair) for name, *pair in zip(Amounts._fields, own, both, strict=True)
        },
    }


def _sums(own: Amounts, batch: MemoryTotals, numbers: Integers) -> Amounts:
    """Each row plus the last row before it of the other component on the same device."""
    other = np.full(len(batch), NONE)
    for device in np.unique(batch.device).tolist():
        here = batch.device == device
        for component, counterpart in ((numbers[0], numbers[1]), (numbers[1], numbers[0])):
            seen = np.where(here & (batch.component == counterpart), np.arange(len(batch)), NONE)
            last = np.maximum.accumulate(seen)
            rows = here & (batch.component == component)
            other[rows] = last[rows]
    known = other != NONE

    def added(values: Integers) -> Integers:
        return values + np.where(known, values[other], 0)

    foreign = np.where(known, own.stream[other], NONE)
    return Amounts(
        added(own.allocated),
        added(own.reserved),
        added(own.active),
        np.where(own.stream == NONE, foreign, own.stream),
    )
