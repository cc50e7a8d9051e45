"""What a call holds goes with it: records that were reported in it are bound by thread and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ascend_ref.raw.context import Context
from ascend_ref.raw.decode.origins import layout_in
from ascend_ref.raw.fields import opaque
from ascend_ref.raw.slices import read_blocks
from ascend_spec import raw_catalog

CALLS = "api_event"


class Interval(NamedTuple):
    """Ticks of a start, which is outside, and of an end, which is inside (raw-prof 5)."""

    start: int
    end: int


def move_held(
    host: Context, thread: int, old: Interval, new: Interval, inner: Sequence[Interval]
) -> list[tuple[Path, int]]:
    """Move the records of a call to where it is now, but for those that an ``inner`` call holds;
    where they stand.

    What would be behind its end is at its end.
    """
    found = list(_held(host, thread, old, inner, new))
    for path, offset, content in found:
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(content)
    return [(path, offset) for path, offset, _ in found]


def _held(
    host: Context, thread: int, old: Interval, inner: Sequence[Interval], new: Interval
) -> Iterator[tuple[Path, int, bytes]]:
    """Where moved records stand, each with its bytes."""
    for kind, slices in host.folder.files.items():
        file = raw_catalog().files[kind]
        layout = layout_in(host, kind) if file.form == "records" and kind != CALLS else None
        if layout is None:
            continue
        for _, run in slices.runs():
            for block in read_blocks(run, layout, "host", []):
                rows = layout.view(0, block.rows).copy()
                if not {"threadId", "timeStamp"} <= set(rows.dtype.names or ()):
                    continue
                time = rows["timeStamp"].astype(np.int64)
                held = (rows["threadId"] == thread) & (time > old.start) & (time <= old.end)
                for one in inner:
                    held &= ~((time > one.start) & (time <= one.end))
                moved = np.minimum(time + new.start - old.start, new.end)
                rows["timeStamp"] = np.where(held, moved, time).astype(np.uint64)
                for row in np.flatnonzero(held).tolist():
                    offset = block.offset + row * layout.size
                    yield block.path, offset, opaque(rows)[row].tobytes()
