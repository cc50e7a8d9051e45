"""What the host launched: tracks of tasks, each with the call that it lies in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers
from ascend_ref.spill import Spill, sorted_rows
from ascend_spec import raw_catalog

from ..clocks import LIMIT
from ..fields import numbers, whole
from ..task_kinds import FLIP, has_whole_numbers
from ..vocabulary import level, named
from .calls import Calls
from .origins import NO_PLACE, Source
from .session import Rows, Session
from .times import state_timeless


@dataclass(frozen=True)
class Launches:
    """Launches in order of time, without those that only note that numbers begin again.

    moment: ticks. batch: how often the numbers of its stream had begun again. kind: the runtime's
    number; names: what they are called. call: the row of the tree of calls that it lies in, NONE
    for none. kernel: the number of a kernel's name. records: all tracks that have a time; record:
    the row of each. place: as of :class:`.Origins`, where somebody asks for it.
    """

    device: Integers
    stream: Integers
    number: Integers
    batch: Integers
    moment: Integers
    thread: Integers
    kind: Integers
    call: Integers
    kernel: npt.NDArray[np.uint64]
    record: Integers
    place: Integers
    records: Rows
    names: dict[int, str]


def read_launches(session: Session, calls: Calls, chip: int | None) -> Launches:
    """The launches of a host."""
    spill = session.spill
    rows = session.rows(session.host, "task_track")
    declaration = session.declaration("task_track")
    every = len(rows)
    kept = spill.where(lambda time: time < LIMIT, rows["timeStamp"])
    rows = rows if len(kept) == every else session.taken(rows, kept)
    state_timeless(session, session.host, "task_track", every - len(rows))
    order = sorted_rows(spill, spill.made(whole, rows["timeStamp"]))

    def column(name: str) -> Integers:
        return spill.made(lambda row: whole(spill.gathered(rows[name], row)), order)

    def part(name: str) -> Integers:
        return spill.made(lambda row: numbers(declaration, name, spill.gathered(rows, row)), order)

    moment, stream, thread = (column(name) for name in ("timeStamp", "streamId", "threadId"))
    device, kind = part("deviceId"), column("taskType")
    number = column("taskId") if has_whole_numbers(chip) else part("taskId")
    names = _names(session, kind)
    flips = [one for one, name in names.items() if name == FLIP]
    batch = spill.made(np.zeros_like, number)
    if not has_whole_numbers(chip):
        lane = spill.made(lambda one, other: one << 16 | other, device, stream)
        flip = spill.where(lambda of: np.isin(of, flips), kind)
        batch = flips_before(spill, lane[flip], moment[flip], lane, moment)
    own = spill.where(lambda of: ~np.isin(of, flips), kind)
    record = spill.taken(order, own)
    thread, moment = spill.taken(thread, own), spill.taken(moment, own)
    return Launches(
        device=spill.taken(device, own),
        stream=spill.taken(stream, own),
        number=spill.taken(number, own),
        batch=spill.taken(batch, own),
        moment=moment,
        thread=thread,
        kind=spill.taken(kind, own),
        call=calls.holding(thread, moment),
        kernel=spill.taken(rows["kernelName"], record),
        record=record,
        place=_places(session, spill.taken(kept, record)),
        records=rows,
        names=names,
    )


def _places(session: Session, record: Integers) -> Integers:
    """The places of tracks, of which the host has these records."""
    if session.origins is None or session.host is None:
        return session.spill.made(lambda one: np.full(len(one), NO_PLACE), record)
    name = raw_catalog().files["task_track"].members[0].record
    source = Source(session.host, "task_track", name)
    return session.origins.places(session.spill, source, record)


def flips_before(
    spill: Spill, flip_lane: Integers, flip: Integers, lane: Integers, moment: Integers
) -> Integers:
    """How many flips of its lane each moment comes after, or comes with.

    There is one flip for many thousands of tasks, so they are in memory.
    """
    if not len(flip):
        return spill.made(np.zeros_like, lane)
    order = np.lexsort((flip, flip_lane))
    lanes, times = flip_lane[order], flip[order]
    # Ranks of moments among the times of all flips, so that one search serves every lane.
    every, known = np.unique(times), np.unique(lanes)
    size = len(every) + 1
    keys = np.searchsorted(known, lanes) * size + np.searchsorted(every, times)

    def found(lane: Integers, moment: Integers) -> Integers:
        place = np.searchsorted(known, lane)
        asked = place * size + np.searchsorted(every, moment, side="right")
        before = np.searchsorted(keys, asked, side="left")
        before -= np.searchsorted(lanes, lane, side="left")
        return np.where(np.isin(lane, known), before, 0)

    return spill.made(found, lane, moment)


def _names(session: Session, kind: Integers) -> dict[int, str]:
    known = named("runtime_task_types")
    runtime = level("RUNTIME")
    kinds = (np.unique(kind[batch]).tolist() for batch in session.spill.batches(len(kind)))
    return {
        one: session.names.types.get((runtime, one), known.get(one, str(one)))
        for one in dict.fromkeys(chain.from_iterable(kinds))
    }
