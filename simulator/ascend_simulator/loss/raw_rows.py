"""What lost records cost: their span of time, and the rows of tables that stand in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.raw.clocks import OUT_OF_RANGE, Clock
from ascend_ref.raw.context import Context
from ascend_ref.raw.fields import numbers
from ascend_ref.raw.layout import Layout
from ascend_ref.raw.marks import MARK_TAG, is_mark
from ascend_ref.raw.samples import MEMORY_FILES
from ascend_spec.core.packed import ClockName, Field
from ascend_spec.raw import RawFile

from .rows import rows_of
from .without import without_tasks

_LOGS = {"stars_soc": "funcType", "hwts": "sysTag"}
"""Files that log the start and the end of each task, which an even and an odd number state."""

_TRACK = "ts_track"
"""The file that notes the marks of the program on a device, each a task of its own."""

Mask = npt.NDArray[np.bool_]


class Cost(NamedTuple):
    """first_ns, last_ns: Unix ns of the first and the last lost record, ``None`` where records have
    no times. rows: by table.
    """

    first_ns: int | None
    last_ns: int | None
    rows: Mapping[str, int]


class Written(NamedTuple):
    """A kind of records as it was written: all of them, and which are lost."""

    kind: RawFile
    layout: Layout
    rows: npt.NDArray[np.uint8]
    lost: Mask


def cost_of(written: Written, capture: Capture, context: Context) -> Cost:
    """What the lost records of a kind cost a capture, whose raw files had been whole.

    Rows are counted of tables that have as many for each record, and of a log of tasks also of what
    describes these.
    """
    device = context.folder.device
    gone = np.zeros(len(capture.tasks), np.bool_)
    found: list[Integers] = []
    rows: dict[str, int] = {}
    for place, (member, mask) in enumerate(
        zip(written.layout.members, written.layout.split(written.rows), strict=True)
    ):
        declaration = written.layout.declaration(member)
        records, lost = written.layout.view(place, written.rows[mask]), written.lost[mask]
        time = times_of(declaration, records, context)
        if time is not None:
            found.append(time[lost])
        fed = next(one.feeds for one in written.kind.members if one is member)
        tables = [one.partition("/")[2] for one in fed or written.kind.feeds]
        rows |= _one_to_one(written.kind, tables, len(records), int(np.sum(lost)), capture, device)
        if written.kind.file in _LOGS and time is not None:
            tag = _LOGS[written.kind.file]
            gone |= _tasks(declaration, tag, records[lost], time[lost], capture, device)
        if (
            written.kind.file == _TRACK
            and time is not None
            and "tagId" in (records.dtype.names or ())
        ):
            noted = time[lost & (records["tagId"] == MARK_TAG)]
            own = capture.tasks.device == device
            gone |= is_mark(capture) & own & np.isin(capture.tasks.start, noted)
    if gone.any():
        # Records that only CSV files show stand in files of their own.
        shown = replace(capture, records={})
        rows |= rows_of(shown) - rows_of(without_tasks(shown, gone))
    times = np.concatenate(found or [np.zeros(0, np.int64)])
    times = times[times != OUT_OF_RANGE]
    if not len(times):
        return Cost(None, None, rows)
    return Cost(int(times.min()), int(times.max()), rows)


def clock_of(declaration: construct.Struct, context: Context) -> tuple[str, Clock] | None:
    """The first field that a clock of the folder counts, and that clock."""
    for field in declaration.subcons:
        clock = context.reading.clock(field.facts) if isinstance(field, Field) else None
        if clock is not None:
            return str(field.name), clock
    return None


def clock_names(kind: RawFile, layout: Layout, context: Context) -> Iterator[ClockName]:
    """The clocks by which the records of a kind count."""
    for member in layout.members:
        for field in layout.declaration(member).subcons:
            facts = field.facts if isinstance(field, Field) else None
            if facts is not None and context.reading.clock(facts) is not None:
                name = facts.clock or context.reading.counter
                if name is not None:
                    yield name


def times_of(
    declaration: construct.Struct, records: npt.NDArray[Any], context: Context
) -> Integers | None:
    """Unix ns of records; ``None`` for those that have no times."""
    found = clock_of(declaration, context)
    return None if found is None else found[1].times(records[found[0]])


def _one_to_one(
    kind: RawFile,
    tables: list[str],
    records: int,
    lost: int,
    capture: Capture,
    device: int | None,
) -> dict[str, int]:
    found = {}
    for name in tables:
        rows = _rows(name, capture, device)
        if lost and rows and rows % records == 0:
            # Files of two kinds are one table of memory.
            each = 1 if kind.file in MEMORY_FILES else rows // records
            found[name] = each * lost
    return found


def _rows(table: str, capture: Capture, device: int | None) -> int:
    if table == "CANN_API":
        return len(capture.calls)
    columns = capture.samples.get(table)
    return 0 if columns is None else int(np.sum(columns["deviceId"] == device))


def _tasks(
    declaration: construct.Struct,
    tag: str,
    records: npt.NDArray[Any],
    times: Integers,
    capture: Capture,
    device: int | None,
) -> Mask:
    """The tasks whose start or end stands in one of some records."""
    tasks = capture.tasks
    is_end = numbers(declaration, tag, records) % 2 == 1
    part = np.full(len(records), NONE)
    if "subTaskId" in (records.dtype.names or ()):
        part = records["subTaskId"].astype(np.int64)
    stream, number = (records[name].astype(np.int64) for name in ("streamId", "taskId"))
    gone = np.zeros(len(tasks), np.bool_)
    for end, of_tasks in ((False, tasks.start), (True, tasks.end)):
        chosen = is_end == end
        keys = [one[chosen] for one in (times, stream, number, part)]
        having = [of_tasks, tasks.stream, tasks.number, tasks.context]
        both = np.stack([np.append(*pair) for pair in zip(keys, having, strict=True)])
        _, group = np.unique(both, axis=1, return_inverse=True)
        group = group.reshape(-1)
        count = int(np.sum(chosen))
        gone |= np.isin(group[count:], group[:count])
    found: Mask = gone & (tasks.device == device)
    return found
