"""``torch.gc_record``: runs of Python's garbage collector."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ascend_ref.capture import Capture, Collections, Integers, Texts

from ..clocks import Clock
from ..view import nearest
from .files import Files, write_records

RECORD = "GC_RECORD"


def write_collections(capture: Capture, folder: Path, clock: Clock) -> None:
    """Write the runs, of which :func:`collections_view` states what is held. Raises ``OSError``."""
    runs = capture.collections
    columns: dict[str, Integers | int] = {
        "process_id": capture.origin.pid,
        "start_ns": clock.ticks(runs.start),
        "end_ns": clock.ticks(runs.end),
    }
    write_records(folder, RECORD, columns, Texts())


def read_collections(files: Files) -> Collections:
    """The runs of a folder, in its order.

    A record has no thread: the process stands for it, as for its main thread
    (upstream-torch-npu GCRecordBean).
    """
    records, (start, end) = files.times(files.read(RECORD), "start_ns", "end_ns")
    return Collections(start=start, end=end, thread=records.numbers("process_id"))


def collections_view(capture: Capture, clock: Clock) -> tuple[Collections, list[str]]:
    """The runs that the files of a capture hold, and a phrase for what they do not."""
    runs, process = capture.collections, capture.origin.pid
    elsewhere = int(np.sum(runs.thread != process))
    lost = [f"the thread of {elsewhere:,} runs of the garbage collector"] if elsewhere else []
    start, end = nearest(clock, runs.start), nearest(clock, runs.end)
    return Collections(start, end, np.full(len(runs), process)), lost
