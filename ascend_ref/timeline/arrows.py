"""Arrows from calls on the host to the work on the devices that they caused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_spec.text.timeline import FlowId, FlowKind, Layer

from .communication import Communication
from .device_work import Calls
from .events import Item, Points
from .flow_ids import flow_ids
from .lookup import NONE, packed
from .session import Session

HOST = "CANN"
ROWS_AT_ONCE = 1 << 15
CONNECTION_ALONE = {"connectionId"}
WITHOUT_EVENTS = ("adapter-2025-01",)
"""Writers that draw no arrow from calls about events: none of the 215 in the real timeline."""


class Ends(NamedTuple):
    """Work that arrows lead to. row: in TASK or COMMUNICATION_OP. call: row of CANN_API.

    ids: what flow ids are made of.
    """

    row: Integers
    call: Integers
    start: Integers
    device: Integers
    thread: Integers
    ids: Mapping[str, Integers]

    def at(self, places: Integers) -> Ends:
        """The work at these places."""
        return Ends(
            self.row[places],
            self.call[places],
            self.start[places],
            self.device[places],
            self.thread[places],
            {name: values[places] for name, values in self.ids.items()},
        )


def task_ends(session: Session, *, copies: bool) -> Ends:
    """Tasks that calls launched: the copies, or all others."""
    work = session.work
    launched = work.launched(by_event_calls=session.engine not in WITHOUT_EVENTS)
    rows = np.flatnonzero(launched & (work.copies == copies))
    ids = {
        "connectionId": work.connection[rows],
        "deviceId": work.device[rows],
        "streamId": work.stream[rows],
        "taskId": work.number[rows],
        "batchId": work.batch[rows],
        "contextId": work.context[rows],
    }
    return Ends(rows, work.call[rows], work.start[rows], work.device[rows], work.stream[rows], ids)


def operator_ends(found: Communication, calls: Calls) -> Ends:
    """Communication operators that calls launched."""
    call = calls.rows(found.connection)
    rows = np.flatnonzero(call != NONE)
    rows = rows[calls.node[call[rows]]]
    first = np.array([group.first for group in found.groups], np.int64)
    thread = first[found.operator_group[rows]] if len(first) else rows
    ids = {"connectionId": found.connection[rows]}
    return Ends(rows, call[rows], found.start[rows], found.device[rows], thread, ids)


class Linked(NamedTuple):
    """Arrows of one kind. starts: the first end of each arrow, which tells of its call."""

    flow: FlowKind
    form: FlowId
    layer: Layer
    starts: Ends
    ends: Ends


def linked(session: Session, *, forward: bool) -> Iterator[Linked]:
    """The work that HostToDevice leads to: tasks, then copies, then communication operators.

    A start and its ends have one call. Where an id comes again for another call, as in a graph that
    runs several times, its first use alone is told: readers know no two arrows of one id.
    forward: without work that seems to begin before its call, since the clocks of host and device
    are never quite the same.
    """
    host = session.spec.layers[HOST]
    started = np.empty(0, np.int64)
    for name, home, launched in (
        ("kernel", "Ascend Hardware", task_ends(session, copies=False)),
        ("memcpy", "Ascend Hardware", task_ends(session, copies=True)),
        ("communication", "Communication", operator_ends(session.communication, session.calls)),
    ):
        flow, layer = session.flow(name), session.layer(home)
        form = flow.id_of(session.style_of(host)) if flow is not None else None
        later = session.calls.start[launched.call] <= launched.start
        work = launched.at(np.flatnonzero(later)) if forward else launched
        if flow is None or form is None or layer is None or not len(work.row):
            continue
        ends, first = _unambiguous(work, form)
        starts = ends.at(first)
        if {part.of for part in form.parts} == CONNECTION_ALONE and form.parts[0].shift:
            # Several kinds of arrows then share the ids, and with them their starts.
            starts = starts.at(np.flatnonzero(~np.isin(starts.call, started)))
            started = np.concatenate([started, starts.call])
        yield Linked(flow, form, layer, starts, ends)


def host_to_device(session: Session) -> Iterator[Item]:
    """From the calls of CANN to what they caused."""
    host = session.layer(HOST)
    if host is not None and session.shows(host.event("call").levels):
        for found in linked(session, forward=True):
            yield from _points(session, host, found)


def _unambiguous(ends: Ends, form: FlowId) -> tuple[Ends, Integers]:
    """The ends whose id means one call, and where each id comes first."""
    parts = [ends.ids[part.of] for part in form.parts if part.of in ends.ids]
    _, first, place = np.unique(packed(*parts), return_index=True, return_inverse=True)
    kept = np.flatnonzero(ends.call == ends.call[first][place])
    first = np.sort(first)
    return ends.at(kept), np.searchsorted(kept, first)


def _points(session: Session, host: Layer, found: Linked) -> Iterator[Points]:
    calls, flow, form = session.calls, found.flow, found.form
    for part in _parts(len(found.starts.row)):
        some = found.starts.at(part)
        identity = flow_ids(form, some.ids)
        start, thread = calls.start[some.call], calls.thread[some.call]
        yield Points(flow, host, False, identity, start, thread=thread)
    for part in _parts(len(found.ends.row)):
        some = found.ends.at(part)
        identity = flow_ids(form, some.ids)
        yield Points(flow, found.layer, True, identity, some.start, some.device, some.thread)


def _parts(rows: int) -> Iterator[Integers]:
    for first in range(0, rows, ROWS_AT_ONCE):
        yield np.arange(first, min(first + ROWS_AT_ONCE, rows))
