"""Ascend Hardware: the tasks of the streams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

import numpy as np

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers
from ascend_ref.spill import batches
from ascend_spec.timeline import EventKind, Layer

from ..events import Events, Item
from ..lookup import NONE, Columns, Lookup, combinations, filled, taken
from ..notation import reals, wholes
from ..rows import Fragment
from ..session import Session

LAYER = "Ascend Hardware"
OTHER_DIRECTION = "other"
"""What the C++ engine shows where a copy has no row in MEMCPY_INFO (text-outputs.md 6)."""


def hardware(session: Session) -> Iterator[Item]:
    """Tasks and copies of all streams."""
    layer = session.layer(LAYER)
    if layer is not None and len(session.work):
        yield from streams(session, layer, session.work.shown)
        yield from _Tasks(session, layer).items()


def streams(session: Session, layer: Layer, shown: Mask) -> Iterator[Item]:
    """The processes of the devices with their streams."""
    work = session.work
    rows = session.spill.where(lambda mask: mask, shown)
    places = (session.spill.taken(column, rows) for column in (work.device, work.stream))
    for device, streams_of in groupby(combinations(session.spill, *places), itemgetter(0)):
        yield from session.process(layer, device)
        for _, stream in streams_of:
            yield from session.thread(
                layer, "stream", device, streamId=stream, logicStreamId=stream
            )


class _Tasks:
    def __init__(self, session: Session, layer: Layer) -> None:
        self.session = session
        self.layer = layer
        self.work = session.work
        self.kinds = {kind.kind: kind for kind in layer.events_of(session.style_of(layer))}
        copies = session.recorded.table("MEMCPY_INFO")
        self.copied = copies.num_rows > 0
        columns = Columns(copies, session.spill)
        self.copy_row = Lookup(columns.integers("globalTaskId"), session.spill)
        self.sizes = columns.integers("size", 0)
        self.directions = session.texts(copies, "memcpyOperation", OTHER_DIRECTION)

    def items(self) -> Iterator[Item]:
        work = self.work
        for part in batches(len(work)):
            shown = work.shown[part] & ~work.marks[part]
            copies, threads = shown & work.copies[part], shown & work.simt[part]
            threads &= "simt-task" in self.kinds
            for kind, rows in (
                ("task", shown & ~copies & ~threads),
                ("simt-task", threads),
                ("memcpy", copies),
            ):
                if rows.any():
                    yield self._events(self.kinds[kind], np.flatnonzero(rows) + part.start)

    def _events(self, kind: EventKind, rows: Integers) -> Events:
        work, kernel = self.work, self.work.kernel[rows]
        args: dict[str, Fragment] = {
            "Batch Id": wholes(work.batch[rows]),
        }
        if kind.kind == "memcpy" and self.copied:
            args |= self._copies(rows, work.end[rows] - work.start[rows])
        shown = {"TASK": rows, "COMPUTE_TASK_INFO": kernel}
        stream = work.stream[rows]
        return self.session.filling.events(self.layer, kind, shown, thread=stream, args=args)

    def _copies(self, rows: Integers, length: Integers) -> dict[str, Fragment]:
        """What the writers state about a copy, under the names of all of them."""
        row = self.copy_row.rows(self.work.identity[rows])
        size = np.where(row == NONE, 0, self.sizes[row])
        direction = filled(taken(self.directions, row), OTHER_DIRECTION)
        rate = np.where(length > 0, size / np.maximum(length, 1), 0.0)
        return {
            "size(B)": wholes(size),
            "bandwidth(GB/s)": reals(rate),
            "operation": direction,
            "data size(Byte)": wholes(size),
            "memcpy direction": direction,
        }
