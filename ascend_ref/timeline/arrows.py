"""Arrows from calls of CANN and operators of the framework to the work that they caused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers
from ascend_ref.spill import Spill, batches, first_equal
from ascend_spec.timeline import FlowId, FlowKind, Layer

from .communication import Communication
from .device_work import Calls
from .events import Item, Points
from .lookup import NONE, Lookup
from .session import Session

HOST, FRAMEWORK = "CANN", "Python"
"""Layers of the calls that arrows leave."""
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

    def taken(self, spill: Spill, places: Integers) -> Ends:
        """As :meth:`at`, of many."""
        return self._each(lambda column: spill.taken(column, places))

    def at(self, places: Integers | slice) -> Ends:
        """The work at these places."""
        return self._each(lambda column: column[places])

    def _each(self, chosen: Callable[[Integers], Integers]) -> Ends:
        return Ends(
            chosen(self.row),
            chosen(self.call),
            chosen(self.start),
            chosen(self.device),
            chosen(self.thread),
            {name: chosen(values) for name, values in self.ids.items()},
        )


def task_rows(session: Session, *, copies: bool) -> Integers:
    """Rows of TASK that calls launched: the copies, or all others."""
    work = session.work
    launched = work.launched(by_event_calls=session.engine not in WITHOUT_EVENTS)
    return session.spill.where(
        lambda launched, is_copy: launched & (is_copy == copies), launched, work.copies
    )


def task_ends(session: Session, *, copies: bool) -> Ends:
    """Tasks that calls launched: the copies, or all others."""
    work, spill = session.work, session.spill
    rows = task_rows(session, copies=copies)
    ids = {
        "connectionId": work.connection,
        "deviceId": work.device,
        "streamId": work.stream,
        "taskId": work.number,
        "batchId": work.batch,
        "contextId": work.context,
    }
    every = Ends(spill.rows(len(work)), work.call, work.start, work.device, work.stream, ids)
    return every.taken(spill, rows)


def operator_rows(found: Communication, calls: Calls, spill: Spill) -> tuple[Integers, Integers]:
    """Rows of COMMUNICATION_OP that calls launched; the call of every row, NONE without one."""
    call = calls.rows(found.connection)
    known = spill.where(lambda call: call != NONE, call)
    return spill.taken(known, spill.where(lambda row: calls.node[call[row]], known)), call


def operator_ends(found: Communication, calls: Calls, spill: Spill) -> Ends:
    """Communication operators that calls launched."""
    rows, call = operator_rows(found, calls, spill)
    first = np.array([group.first for group in found.groups], np.int64)
    thread = spill.taken(first, found.operator_group)
    ids = {"connectionId": found.connection}
    every = Ends(spill.rows(len(call)), call, found.start, found.device, thread, ids)
    return every.taken(spill, rows)


def shares_ids(session: Session) -> bool:
    """Whether all work of a call has one id, which is made of the call alone."""
    flow = session.flow("kernel")
    return flow is not None and _is_of_call(session.flow_id(flow))


def _is_of_call(form: FlowId) -> bool:
    return {part.of for part in form.parts} == CONNECTION_ALONE


class Linked(NamedTuple):
    """Arrows of one kind. starts: the first end of each arrow, which names its call."""

    flow: FlowKind
    layer: Layer
    starts: Ends
    ends: Ends


def linked(session: Session) -> Iterator[Linked]:
    """The work that HostToDevice leads to: tasks, then copies, then communication operators.

    A start and its ends have one call. Where an id is used again for another call, as in a graph
    that runs several times, only its first use gets arrows: readers do not expect two arrows of
    one id. Work that seems to begin before its call has its arrow, too: the clocks of host and
    device are never quite the same (erratum T101).
    """
    spill, calls = session.spill, session.calls
    started: list[Lookup] = []

    def is_new(call: Integers) -> Mask:
        new: Mask = np.all([known.rows(call) == NONE for known in started], axis=0)
        return new

    for name, home, launched in (
        ("kernel", "Ascend Hardware", task_ends(session, copies=False)),
        ("memcpy", "Ascend Hardware", task_ends(session, copies=True)),
        ("communication", "Communication", operator_ends(session.communication, calls, spill)),
    ):
        flow, layer = session.flow(name), session.layer(home)
        if flow is None or layer is None or not len(launched.row):
            continue
        form = session.flow_id(flow)
        ends, first = _unambiguous(spill, launched, form)
        starts = ends.taken(spill, first)
        if _is_of_call(form) and form.parts[0].shift:
            # Several kinds of arrows then share the ids, and with them their starts.
            if started:
                starts = starts.taken(spill, spill.where(is_new, starts.call))
            started.append(Lookup(starts.call, spill))
        yield Linked(flow, layer, starts, ends)


def host_to_device(session: Session) -> Iterator[Item]:
    """From the calls of CANN to what they caused."""
    host = session.layer(HOST)
    if host is not None and session.shows(host.event("call").levels):
        for found in linked(session):
            yield from _points(session, host, found)


def _unambiguous(spill: Spill, ends: Ends, form: FlowId) -> tuple[Ends, Integers]:
    """The ends whose id means one call, and where each id comes first."""
    ids = [ends.ids[part.of] for part in form.parts if part.of in ends.ids]
    leader = first_equal(spill, *ids)
    kept = spill.where(lambda call, first: call == ends.call[first], ends.call, leader)
    first = spill.where(np.equal, leader, spill.rows(len(leader)))
    return ends.taken(spill, kept), Lookup(kept, spill).rows(first)


def _points(session: Session, host: Layer, found: Linked) -> Iterator[Points]:
    calls, flow = session.calls, found.flow
    for batch in batches(len(found.starts.row)):
        some = found.starts.at(batch)
        start, thread = calls.start[some.call], calls.thread[some.call]
        yield Points(flow, host, False, some.ids, start, thread=thread)
    for batch in batches(len(found.ends.row)):
        some = found.ends.at(batch)
        yield Points(flow, found.layer, True, some.ids, some.start, some.device, some.thread)


def launches(session: Session) -> Iterator[Item]:
    """One arrow to the first end of each arrow of HostToDevice, as the exporter pairs them.

    The id is the start of the work, so where several start at once only the first has an arrow.
    torch_npu 2.14.0 gives each one, of the same id, which a trace processor calls a duplicate.
    """
    layer, flow = session.layer(FRAMEWORK), session.flow("framework")
    if layer is None or flow is None or not len(session.activity):
        return
    found, calls, spill = session.activity, session.calls, session.spill
    shown: list[Lookup] = []

    def has_arrow(operator: Integers, start: Integers) -> Mask:
        known: Mask = operator != NONE
        for moments in shown:
            known &= moments.rows(start) == NONE
        return known

    for _, target, ends, _ in linked(session):
        thread, moment = (spill.taken(column, ends.call) for column in (calls.thread, calls.start))
        operator = found.launching(ends.ids["connectionId"], thread, moment)
        rows = spill.where(has_arrow, operator, ends.start)
        moments = spill.taken(ends.start, rows)
        first = spill.where(np.equal, first_equal(spill, moments), spill.rows(len(rows)))
        shown.append(Lookup(spill.taken(moments, first), spill))
        rows = spill.taken(rows, first)
        for batch in batches(len(rows)):
            some, caller = ends.at(rows[batch]), operator[rows[batch]]
            ids = {"endNs": some.start}
            start, thread = found.start[caller], found.thread[caller]
            yield Points(flow, layer, False, ids, start, thread=thread)
            yield Points(flow, target, True, ids, some.start, some.device, some.thread)
