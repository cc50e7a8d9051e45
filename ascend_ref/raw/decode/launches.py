"""What the host launched: tracks of tasks, each with the call that it lies in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.derive.matching import distinct

from ..clocks import LIMIT
from ..fields import numbers
from ..task_kinds import FLIP, has_whole_numbers
from ..vocabulary import level, named
from .calls import Calls
from .session import Rows, Session


@dataclass(frozen=True)
class Launches:
    """Launches in order of time, without those that only note that numbers begin again.

    moment: ticks. batch: how often the numbers of its stream had begun again. kind: the runtime's
    number; names: what they are called. call: the row of the tree of calls that it lies in, NONE
    for none. records: the tracks themselves.
    """

    device: Integers
    stream: Integers
    number: Integers
    batch: Integers
    moment: Integers
    thread: Integers
    kind: Integers
    call: Integers
    records: Rows
    names: dict[int, str]


def read_launches(session: Session, calls: Calls, chip: int | None) -> Launches:
    """The launches of a host."""
    rows = session.rows(session.host, "task_track")
    declaration = session.declaration("task_track")
    rows = rows[rows["timeStamp"] < LIMIT]
    rows = rows[np.argsort(rows["timeStamp"], kind="stable")]
    moment = rows["timeStamp"].astype(np.int64)
    device = numbers(declaration, "deviceId", rows)
    stream = rows["streamId"].astype(np.int64)
    kind = rows["taskType"].astype(np.int64)
    names = _names(session, kind)
    is_flip = np.isin(kind, [one for one, name in names.items() if name == FLIP])
    if has_whole_numbers(chip):
        number, batch = rows["taskId"].astype(np.int64), np.zeros(len(rows), np.int64)
    else:
        number = numbers(declaration, "taskId", rows)
        lane = device << 16 | stream
        batch = flips_before(lane[is_flip], moment[is_flip], lane, moment)
    own = np.flatnonzero(~is_flip)
    thread = rows["threadId"].astype(np.int64)
    return Launches(
        device[own],
        stream[own],
        number[own],
        batch[own],
        moment[own],
        thread[own],
        kind[own],
        calls.holding(thread[own], moment[own]),
        rows[own],
        names,
    )


def flips_before(flip_lane: Integers, flip: Integers, lane: Integers, moment: Integers) -> Integers:
    """How many flips of its lane each moment comes after, or comes with."""
    if not len(flip):
        return np.zeros(len(lane), np.int64)
    order = np.lexsort((flip, flip_lane))
    lanes, times = flip_lane[order], flip[order]
    first = np.searchsorted(lanes, lane, side="left")
    # Ranks of moments among the times of all flips, so that one search serves every lane.
    every = np.unique(times)
    size = len(every) + 1
    keys = np.searchsorted(np.unique(lanes), lanes) * size + np.searchsorted(every, times)
    place = np.searchsorted(np.unique(lanes), lane)
    known = np.isin(lane, lanes)
    asked = place * size + np.searchsorted(every, moment, side="right")
    found = np.searchsorted(keys, asked, side="left") - first
    return np.where(known, found, 0)


def _names(session: Session, kind: Integers) -> dict[int, str]:
    known = named("runtime_task_types")
    runtime = level("RUNTIME")
    return {
        one: session.names.types.get((runtime, one), known.get(one, str(one)))
        for (one,) in distinct(kind)[0]
    }
