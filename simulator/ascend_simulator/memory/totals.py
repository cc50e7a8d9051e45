"""What the framework's allocator holds after each event, and what it reserved for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE

from ..choices import FaultChoice
from .blocks import MEBI, PAGE, Blocks

SMALL = 1 * MEBI
LARGE = 10 * MEBI
SEGMENT = 2 * MEBI
SHARED_SEGMENT = 20 * MEBI
"""Blocks up to SMALL share segments of SEGMENT, those below LARGE such of SHARED_SEGMENT; larger
ones get a segment of their own, rounded up to SEGMENT. Each stream has segments of its own."""
SIZES = 3
SHARED, OWN = 1, 2
"""Kinds of blocks by size: small ones are kind 0."""


@dataclass(frozen=True, slots=True)
class History:
    """Totals after every event, in order of time; Byte.

    block: which block the event changed. of_allocation, of_release: places of the events of the
    blocks, negative for one that did not happen. before: reserved when the session starts.
    """

    time: Integers
    block: Integers
    allocated: Integers
    reserved: Integers
    active: Integers
    of_allocation: Integers
    of_release: Integers
    before: int


def history(
    blocks: Blocks, persistent: int, warm_until: int, fragments: Integers, step_starts: Integers
) -> History:
    """Play all events. ``fragments``: Byte of segments that each step makes useless.

    persistent: Byte of blocks taken before the session starts. warm_until: what is reserved for the
    events before this moment was so before, since steps like the captured ones went before.
    At equal times a return comes before a release, and a release before an allocation. Blocks that
    were taken before are there from the first event on.
    """
    returned = np.flatnonzero(blocks.inactive != NONE)
    released = np.flatnonzero(blocks.released != NONE)
    earlier = int(np.sum(blocks.allocated == NONE))
    block = np.concatenate([returned, released, np.arange(len(blocks))])
    size = blocks.size
    late = size * blocks.shared
    allocated = np.concatenate([(late - size)[returned], -late[released], size])
    active = np.concatenate([-size[returned], np.zeros(len(released), np.int64), size])
    times = np.concatenate([blocks.inactive[returned], blocks.released[released], blocks.allocated])
    order = np.argsort(times, kind="stable")
    time, block, active = times[order], block[order], active[order]
    held = rounded_up(persistent, PAGE)
    reserved = rounded_up(persistent, SEGMENT) + _segments(blocks, block, active)
    totals = np.stack([np.cumsum(allocated[order]) + held, reserved, np.cumsum(active) + held])
    totals, time, block = totals[:, earlier:], time[earlier:], block[earlier:]
    reserved = totals[1]
    warm = int(np.searchsorted(time, warm_until, "left"))
    before = int(reserved[warm - 1]) if warm else rounded_up(persistent, SEGMENT)
    reserved[:warm] = before
    if fragments.any():
        lost = np.append(0, np.cumsum(fragments))
        reserved += lost[np.searchsorted(step_starts, time, "right")]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - earlier
    of_release = np.full(len(blocks), NONE, np.int64)
    of_release[released] = place[len(returned) : len(returned) + len(released)]
    return History(
        time,
        block,
        totals[0],
        reserved,
        totals[2],
        place[len(returned) + len(released) :],
        of_release,
        before,
    )


Number = TypeVar("Number", int, Integers)


def rounded_up(value: Number, unit: int) -> Number:
    """The next whole multiple of a unit."""
    return -(-value // unit) * unit


def lost_bytes(fault: FaultChoice) -> int:
    """Byte that a leak or a fragmentation costs a step; the latter makes whole segments useless."""
    size = fault.megabytes * MEBI
    return rounded_up(size, SEGMENT) if fault.kind == "fragmentation" else size


def _segments(blocks: Blocks, block: Integers, active: Integers) -> Integers:
    """Byte of all segments after each event: as many as the most that were needed at once."""
    sizes = (blocks.size > SMALL).astype(np.int8) + (blocks.size >= LARGE)
    pools = (blocks.other.astype(np.int8) * SIZES + sizes)[block]
    growth = np.zeros(len(block), np.int64)
    for pool in range(2 * SIZES):
        events = np.flatnonzero(pools == pool)
        change = active[events]
        if pool % SIZES == OWN:
            change = np.sign(change) * rounded_up(np.abs(change), SEGMENT)
        most = np.maximum.accumulate(np.cumsum(change))
        higher = np.flatnonzero(np.diff(most, prepend=0))
        unit = SHARED_SEGMENT if pool % SIZES == SHARED else SEGMENT
        growth[events[higher]] = np.diff(rounded_up(most[higher], unit), prepend=0)
    return np.cumsum(growth)
