"""Timelines on disk: msprof_*.json, msprof_tx_*.json, step_trace_*.json and trace_view.json."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ascend_ref import names
from ascend_ref.atomic import Drafts
from ascend_ref.recorded import Output, Recorded
from ascend_spec import timeline_catalog

from .arrows import host_to_device, launches
from .events import Item, Metadata, Points
from .layers import (
    ccu,
    chip_links,
    communication,
    counters,
    framework,
    hardware,
    host,
    marks,
    mindspore,
    overlap,
    power,
    queue,
    steps,
    units,
)
from .session import CURRENT_ADAPTER, Session, engine_of
from .text import EventTexts

Source = Callable[[Session], Iterator[Item]]

MARKS: tuple[Source, ...] = (marks.host_marks, marks.device_marks)
OF_FRAMEWORK: tuple[Source, ...] = (
    framework.framework,
    queue.queue,
    queue.backward,
    framework.collections,
)
OF_MSPROF: tuple[Source, ...] = (
    marks.host_marks,
    host.calls,
    partial(counters.counters, names=("CPU Usage", "Memory Usage", "Network Usage", "Disk Usage")),
    host.system_calls,
    hardware.hardware,
    marks.device_marks,
    steps.steps,
    power.clock,
    power.voltages,
    communication.communication,
    host_to_device,
    # First of those without a fixed number: beyond 31 it would run into that of the unit.
    units.groups,
    units.cores,
    partial(
        counters.counters, names=("NPU MEM", "DDR", "HBM", "HCCS", "NIC", "RoCE", "PCIe", "LLC")
    ),
    partial(counters.counters, names=("Acc PMU", "Stars Soc Info", "SIO", "QoS")),
    chip_links.chip_links,
    partial(counters.counters, names=("AI Core Utilization", "Ub")),
    units.instructions,
    ccu.instructions,
    overlap.overlap_analysis,
)
FILES: Mapping[str, tuple[Source, ...]] = {
    "timeline": OF_MSPROF,
    "msprof_tx": MARKS,
    "step_trace_json": (steps.steps,),
    "trace_view": (*OF_FRAMEWORK, *OF_MSPROF, launches),
}
"""What the files of the spec consist of (timeline/files.yaml)."""
OF_MINDSPORE: tuple[Source, ...] = (
    mindspore.framework,
    *OF_MSPROF,
    mindspore.queue,
    mindspore.launches,
    mindspore.scopes,
)
"""What trace_view.json of MindSpore consists of."""
FILES_OF_OUTPUT = {
    "msprof": ("timeline", "msprof_tx", "step_trace_json"),
    "pytorch": ("trace_view",),
    "mindspore": ("trace_view",),
}
CURRENT = {"pytorch": CURRENT_ADAPTER, "mindspore": "viewer"}
"""The writer of an output of a framework where none is named."""


def write_timeline(
    recorded: Recorded,
    folder: Path,
    *,
    writer: str | None = None,
    timestamp: str | None = None,
    without_arrows: Collection[str] = (),
) -> list[Path]:
    """Write the timelines of a recording into ``folder``; returns their paths.

    writer: of the spec (timeline/forms.yaml): ``cpp`` or ``python`` for a recording of CANN's
    profiler, one of those of its profiler for one of a framework; None: the current one for
    the product family. timestamp: the 14 digits in the names; None: the end of the recording.
    without_arrows: categories of flows of which no event is written.

    A file appears complete or not at all; one without events does not. Equal recordings give equal
    bytes. Memory does not grow with the text: it is made some thousands of events at a time.

    Raises ``ValueError`` for a writer that does not write such files, ``OSError`` where ``folder``
    cannot be written.
    """
    writer = writer or _current(recorded)
    if timestamp is None:
        timestamp = names.stamp(recorded.origin.end or recorded.origin.start)[:14]
    recorded = recorded.kept()
    documents: list[Document] = []
    try:
        # Numbers of foreign recordings may exceed all bounds; the result is written as it is.
        with np.errstate(all="ignore"):
            for kind in FILES_OF_OUTPUT[recorded.output]:
                session = Session(recorded, writer, kind)
                name = session.spec.files[kind].name.of(timestamp=timestamp)
                documents.append(Document(folder, name, session.notation.item))
                _fill(documents[-1], session, without_arrows)
        return [path for document in documents for path in document.finish()]
    finally:
        for document in documents:
            document.discard()


def writes_timelines(output: Output, writer: str | None) -> bool:
    """Whether the forms of a writer's timelines are known; those of today's are."""
    files = timeline_catalog().files
    return writer is None or all(writer in files[kind].writers for kind in FILES_OF_OUTPUT[output])


def tables_in_timelines(recorded: Recorded, writer: str | None) -> set[str]:
    """The tables of which the timelines of a writer, by default today's, show something."""
    chosen = writer or _current(recorded)
    sessions = (Session(recorded, chosen, kind) for kind in FILES_OF_OUTPUT[recorded.output])
    return {
        table
        for session in sessions
        for layer in session.spec.layers.values()
        if session.layer(layer.name)
        for kind in layer.events_of(session.style_of(layer))
        for table in kind.tables or layer.tables
    }


def _current(recorded: Recorded) -> str:
    return CURRENT.get(recorded.output) or engine_of(recorded.origin.family)


class Document:
    """A JSON array of events on disk, which has a hidden name until the end; takes rows that each
    begin with the separator.
    """

    def __init__(self, folder: Path, name: str, separator: str) -> None:
        self._separator = separator.encode()
        self._drafts = Drafts(folder, lambda _: name)
        self._file: BinaryIO | None = None

    def append(self, rows: memoryview) -> None:
        """Append events."""
        if self._file is None:
            self._file = self._drafts.open()
            self._file.write(b"[")
            rows = rows[len(self._separator) :]
        self._file.write(rows)

    def finish(self) -> list[Path]:
        """Give the file its name; no file without rows."""
        if self._file is None:
            return []
        self._file.write(b"]")
        return self._drafts.keep([None])

    def discard(self) -> None:
        """Remove what has not been finished."""
        self._drafts.discard()


def _fill(document: Document, session: Session, without_arrows: Collection[str]) -> None:
    texts = EventTexts(session)
    of_mindspore = session.recorded.output == "mindspore"
    for source in OF_MINDSPORE if of_mindspore else FILES[session.file]:
        for item in source(session):
            if isinstance(item, Points) and item.flow.cat in without_arrows:
                continue
            if isinstance(item, Metadata):
                document.append(memoryview(texts.metadata(item).encode()))
            else:
                for block in texts.rows(item):
                    document.append(block)
            session.recorded.spill.release()
