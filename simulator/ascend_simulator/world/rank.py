"""One rank in full: from the meetings that the coupled pass found to every moment of its items."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ascend_ref.capture import Integers

from .clocks import GAP_NS, NEVER, SEEN_NS, RankClocks, ends_on_other
from .compiled import Compiled
from .coupled import Encounters
from .network import FamilyRuns
from .timeline import HostTimes

MOMENTS = ("bases", "ready", "ended", "step_starts", "step_ends")


@dataclass(frozen=True, slots=True)
class RankMeetings:
    """The part of the encounters that one rank needs; shapes as there, without the last axis."""

    bases: Integers
    ready: Integers
    ended: Integers
    families: list[FamilyRuns]
    step_starts: Integers
    step_ends: Integers

    @classmethod
    def of(cls, found: Encounters, compiled: Compiled, place: int) -> RankMeetings:
        """Those of the rank at a place of its stage."""
        families = [
            FamilyRuns(
                numbers,
                np.ascontiguousarray(found.ready[:, numbers, place]),
                np.ascontiguousarray(waits[..., place]),
            )
            for (_, numbers), waits in zip(compiled.families, found.waits, strict=True)
        ]
        own = {name: np.ascontiguousarray(getattr(found, name)[..., place]) for name in MOMENTS}
        return cls(families=families, **own)

    def ahead(self, skew: int) -> RankMeetings:
        """The same meetings by a clock that runs so many ns ahead."""
        if not skew:
            return self
        families = [
            replace(family, ready=family.ready + skew, waits=family.waits + skew)
            for family in self.families
        ]
        moments = {name: getattr(self, name) + skew for name in MOMENTS}
        return RankMeetings(families=families, **moments)


@dataclass(frozen=True, slots=True)
class DeviceTimes:
    """The device's side of every item, shape (steps, items); -1 where an item has none.

    slot_start, slot_end: what an item takes of its stream (for an enclosed kernel its FFTS+ task).
    start, end: the kernel, the copy, the wait, the mark; for a collective the record of its event.
    """

    slot_start: Integers
    slot_end: Integers
    start: Integers
    end: Integers


def host_times(clocks: RankClocks, meetings: RankMeetings) -> HostTimes:
    """Absolute host times."""
    base, own = meetings.bases[:, clocks.base], clocks.host
    begin, left = own.begin + base, own.left + base
    synchronizes = np.flatnonzero(np.diff(clocks.base, append=clocks.base[-1] + 1))
    following = np.concatenate([meetings.bases[:, 1:], meetings.step_ends[:, None]], axis=1)
    left[:, synchronizes] = following
    queued = own.taken >= 0
    paused = np.flatnonzero(clocks.pause.reshape(-1))
    pauses = begin.reshape(-1)[paused]
    return HostTimes(
        begin=begin,
        handed=own.handed + base,
        left=left,
        **{
            name: np.where(queued, getattr(own, name) + base, -1)
            for name in ("taken", "done", "seen")
        },
        collections=np.stack([pauses - clocks.pause.reshape(-1)[paused], pauses], axis=1),
    )


def closed(compiled: Compiled, host: HostTimes, meetings: RankMeetings) -> Integers:
    """When the streams of collectives report the end of each, shape (steps, collectives).

    The task that reports it is launched last.
    """
    places = [place for place, _ in compiled.collectives]
    return np.maximum(meetings.ended, host.done[:, places] + SEEN_NS)


def device_times(
    compiled: Compiled, clocks: RankClocks, host: HostTimes, meetings: RankMeetings
) -> DeviceTimes:
    """The compute stream and the other one, in one sweep each."""
    shape = clocks.slot.shape
    slots = clocks.slot.reshape(-1)
    until = np.cumsum(slots)
    seen = host.seen.copy()
    awaited = compiled.awaited
    places = np.flatnonzero(awaited >= 0)
    if len(places):
        closed_at = closed(compiled, host, meetings)[:, awaited[places]]
        seen[:, places] = np.maximum(seen[:, places], closed_at)
    on_stream = np.broadcast_to(compiled.on_compute, shape).reshape(-1)
    earliest = np.where(on_stream, seen.reshape(-1) + slots - GAP_NS - until, NEVER)
    earliest[0] = max(int(earliest[0]), int(meetings.step_starts[0]) - int(until[0]))
    ends = np.maximum.accumulate(earliest) + until
    slot_start = ends - slots + GAP_NS
    waits = np.zeros(shape, bool)
    waits[:, places] = True
    waiting = np.flatnonzero(waits)
    before = np.where(waiting > 0, ends[waiting - 1], meetings.step_starts[0])
    slot_start[waiting] = np.maximum(before + GAP_NS, host.seen.reshape(-1)[waiting])
    slot_start, ends = slot_start.reshape(shape), ends.reshape(shape)

    other = np.flatnonzero(compiled.on_other)
    if len(other):
        ends[:, other] = ends_on_other(compiled, clocks, host.seen.reshape(shape), axis=1)[:, other]
        whole = clocks.head + clocks.length + clocks.tail
        slot_start[:, other] = (ends - whole)[:, other]
    ends -= clocks.rest
    start, end = slot_start + clocks.head, ends - clocks.tail
    off = ~(compiled.on_compute | compiled.on_other)
    for moments in (slot_start, ends, start, end):
        moments[:, off] = -1
    return DeviceTimes(slot_start, ends, start, end)
