"""Marks that the program sets itself: on the host, and the points that they reach on a device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.capture.model import FIRST_MARK_CONNECTION
from ascend_ref.forms import LOW_WORD
from ascend_ref.spill import batches
from ascend_spec.timeline import Layer

from ..events import Item, Points
from ..lookup import NONE, Lookup
from ..session import WHOLE, Session
from .hardware import LAYER as HARDWARE
from .hardware import streams

HOST_LAYER = "MsTx"
FLOW = "mark"
PROGRAM = "python"
"""Name of the process: recordings do not hold it; the profiler of a Python program sees this."""
UNCONNECTED = FIRST_MARK_CONNECTION - 1
"""Connection of a mark of the older interface, whose args are others (text-outputs.md 6)."""


def host_marks(session: Session) -> Iterator[Item]:
    """Marks and ranges on the threads of the program."""
    layer = session.layer(HOST_LAYER)
    table = session.recorded.table("MSTX_EVENTS")
    if layer is None or not table.num_rows:
        return
    found = _Marks(session)
    yield from session.process(layer, processName=PROGRAM)
    for thread in np.unique(found.thread).tolist():
        yield from session.thread(layer, "calls", threadId=thread)
    newer = found.connection != UNCONNECTED
    for part in batches(table.num_rows):
        for kind, chosen in (("mark", ~newer[part]), ("domain-mark", newer[part])):
            rows = np.flatnonzero(chosen) + part.start
            shown = {"MSTX_EVENTS": rows}
            yield session.filling.events(layer, layer.event(kind), shown)


def device_marks(session: Session) -> Iterator[Item]:
    """The points that marks reach on a device, and the arrows to them."""
    layer, work = session.layer(HARDWARE), session.work
    if layer is None or not work.marks.any():
        return
    if session.file not in WHOLE:
        yield from streams(session, layer, work.marks)
    found = _Marks(session)
    rows = np.flatnonzero(work.marks)
    mark = Lookup(found.connection, session.spill).rows(work.connection[rows])
    for part in batches(len(rows)):
        own = rows[part]
        yield session.filling.events(
            layer,
            layer.event("mark"),
            {"TASK": own, "MSTX_EVENTS": mark[part]},
            start=work.start[own],
            device=work.device[own],
            thread=work.stream[own],
            length=work.end[own] - work.start[own],
        )
    yield from _arrows(session, layer, found, rows, mark)


def _arrows(
    session: Session, layer: Layer, found: _Marks, rows: Integers, mark: Integers
) -> Iterator[Item]:
    """One from each mark to the first of its points that is not earlier."""
    flow, host, work = session.flow(FLOW), session.layer(HOST_LAYER), session.work
    if flow is None or host is None or not len(found.start):
        return
    reached = (mark != NONE) & (found.start[mark] <= work.start[rows])
    mark, first = np.unique(mark[reached], return_index=True)
    rows = rows[reached][first]
    if len(rows):
        ids = {"markId": found.connection[mark]}
        yield Points(flow, host, False, ids, found.start[mark], thread=found.thread[mark])
        yield Points(flow, layer, True, ids, work.start[rows], work.device[rows], work.stream[rows])


class _Marks:
    def __init__(self, session: Session) -> None:
        table = session.recorded.table("MSTX_EVENTS")
        self.start = integers(table["startNs"], 0)
        self.thread = integers(table["globalTid"], 0) & LOW_WORD
        self.connection = integers(table["connectionId"], UNCONNECTED)
