"""Work of the engines for pictures and video."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture import Capture
from ascend_spec.core.packed import ClockName

from ..engines import FILE, RECORD, SINGLE, type_numbers
from ..lines import Entry
from ..moments import MICROSECOND
from ..rates import SECOND
from .tree import RawTree

_NAMES = "time_stamp(s):time_stamp(ns)"
_OTHER_NAMES = (
    "engine_id all_time all_frame all_utilization proc_time proc_frame proc_utilization "
    "last_time last_frame"
)
_CLOCK: ClockName = "device-monotonic"


def write_engines(capture: Capture, tree: RawTree) -> None:
    """Write the samples of each device at the start and at the end of the session."""
    if RECORD in capture.records and tree.writes(FILE):
        for device in tree.devices:
            if (capture.records[RECORD]["device"] == device).any():
                tree.write_lines(FILE, _lines(capture, tree, device), device)


def _lines(capture: Capture, tree: RawTree, device: int) -> Iterator[Entry]:
    """Of each engine a line before it worked and one after it."""
    table = capture.records[RECORD]
    own = {name: column[table["device"] == device] for name, column in table.items()}
    own["type"] = type_numbers(capture, own["type"])
    names = _NAMES if tree.chip == SINGLE else f"{_NAMES} dvpp_id"
    yield Entry("header", {"names": names, "more_names": _OTHER_NAMES})
    end = capture.origin.start if capture.origin.end is None else capture.origin.end
    moments = np.array([capture.origin.start, end], np.int64)
    others = ("process_busy", "process_frames", "process_utilization", "last_busy", "last_frames")
    for has_worked, time in enumerate(tree.side[device].by_name(_CLOCK).ticks(moments).tolist()):
        rows = zip(*(column.tolist() for column in own.values()), strict=True)
        for row in (dict(zip(own, values, strict=True)) for values in rows):
            whole, part = divmod(row["utilization"] * has_worked, 1_000)
            yield Entry(
                "single" if tree.chip == SINGLE else "sample",
                {
                    "seconds": time // SECOND,
                    "nanoseconds": f"{time % SECOND:09}",
                    "group": row["group"],
                    "engine_type": row["type"],
                    "engine": row["engine"],
                    "busy": row["busy"] // MICROSECOND * has_worked,
                    "frames": row["frames"] * has_worked,
                    "utilization": f"{whole}.{part:03}".rstrip("0").rstrip("."),
                    **dict.fromkeys(others, 0),
                },
            )
