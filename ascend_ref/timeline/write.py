"""Timelines on disk: msprof_*.json, msprof_tx_*.json, step_trace_*.json and trace_view.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from ascend_ref import names
from ascend_ref.recorded import Recorded

from .arrows import host_to_device
from .document import Document, SlicedDocument
from .events import Item, Metadata
from .layers import (
    chip,
    communication,
    counters,
    framework,
    hardware,
    host,
    launches,
    marks,
    overlap,
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
    chip.frequency,
    communication.communication,
    host_to_device,
    # First of those without a fixed number: beyond 31 it would run into that of the unit.
    units.groups,
    units.cores,
    partial(counters.counters, names=("NPU MEM", "DDR", "HBM", "HCCS", "NIC", "RoCE")),
    partial(counters.counters, names=("PCIe", "LLC")),
    chip.accelerators,
    partial(counters.counters, names=("Stars Soc Info",)),
    chip.between_dies,
    chip.service,
    chip.cores,
    partial(counters.counters, names=("Ub",)),
    overlap.overlap_analysis,
)
FILES: Mapping[str, tuple[Source, ...]] = {
    "timeline": OF_MSPROF,
    "msprof_tx": MARKS,
    "step_trace_json": (steps.steps,),
    "trace_view": (*OF_FRAMEWORK, *OF_MSPROF, launches.launches),
}
"""What the files of the spec consist of (timeline/files.yaml)."""
FILES_OF_OUTPUT = {
    "msprof": ("timeline", "msprof_tx", "step_trace_json"),
    "pytorch": ("trace_view",),
}
SLICING_ENGINE = "python"
"""The only one that cuts a timeline into slices (text-outputs.md 2.3)."""


def write_timeline(
    recorded: Recorded,
    folder: Path,
    *,
    writer: str | None = None,
    timestamp: str | None = None,
    slice_bytes: int | None = None,
) -> list[Path]:
    """Write the timelines of a recording into ``folder``; returns their paths.

    writer: of the spec (timeline/forms.yaml): ``cpp`` or ``python`` for a recording of CANN's
    profiler, ``adapter`` or ``adapter-2025-01`` for one of the framework; None: the current one for
    the product family. timestamp: the 14 digits in the names; None: the end of the recording.
    slice_bytes: about how many bytes a file of the Python engine may have; the others never slice.

    A file appears complete or not at all; one without events does not. Equal recordings give equal
    bytes. Memory does not grow with the text: it is made some thousands of events at a time.

    Raises ``ValueError`` for a writer that does not write such files, ``OSError`` where ``folder``
    cannot be written.
    """
    if writer is None:
        family = recorded.origin.family
        writer = CURRENT_ADAPTER if recorded.output == "pytorch" else engine_of(family)
    if timestamp is None:
        timestamp = names.stamp(recorded.origin.end or recorded.origin.start)[:14]
    recorded = recorded.kept()
    documents: list[Document] = []
    try:
        # Numbers of foreign recordings may exceed all bounds; the result is written as it is.
        with np.errstate(all="ignore"):
            for kind in FILES_OF_OUTPUT[recorded.output]:
                session = Session(recorded, writer, kind)
                documents.append(_document(session, folder, timestamp, slice_bytes))
                _fill(documents[-1], session)
        return [path for document in documents for path in document.finish()]
    finally:
        for document in documents:
            document.discard()


def _document(session: Session, folder: Path, timestamp: str, slice_bytes: int | None) -> Document:
    file = session.spec.files[session.file]
    separator = session.notation.item

    def name(number: int | None) -> str:
        form = file.name if number is None or file.sliced is None else file.sliced
        return form.of(timestamp=timestamp, slice=number)

    if slice_bytes is None or file.sliced is None or session.engine != SLICING_ENGINE:
        return Document(folder, name, separator)
    return SlicedDocument(folder, name, separator, slice_bytes)


def _fill(document: Document, session: Session) -> None:
    texts = EventTexts(session)
    for source in FILES[session.file]:
        for item in source(session):
            if isinstance(item, Metadata):
                document.metadata(texts.metadata(item).encode())
            else:
                for block in texts.rows(item):
                    document.events(block)
            session.recorded.spill.release()
