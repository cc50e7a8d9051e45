"""Logs of the devices: a start and an end of each task and sub-task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import construct
import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_spec import raw_catalog

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import numbers, time_field
from ..side import Unknown
from .launches import flips_before
from .session import Rows, Session
from .times import demand_within

_SUB_TASK = 34
_LOGS = (
    ("hwts", "HWTS_LOG", 0),
    ("hwts_aiv", "HWTS_LOG", 0),
    ("stars_soc", "STARS_LOG", 0),
    ("stars_soc", "FFTS_LOG", _SUB_TASK),
    ("stars_soc", "STARS_LOG_V6", 0),
)
"""Files of logs, their records, and the number of what a start is called in them."""
_FLIP = "TS_FLIP"
_LOW_11, _LOW_12, _LOW_13 = (1 << 11) - 1, (1 << 12) - 1, (1 << 13) - 1


@dataclass(frozen=True)
class Runs:
    """What ran on devices, in order of start: Unix ns.

    stream: NONE on chips whose log has none. context: of a sub-task, else NONE. kind: number of the
    entry of the queue or of the sub-task.
    """

    start: Integers
    end: Integers
    device: Integers
    stream: Integers
    number: Integers
    batch: Integers
    context: Integers
    kind: Integers

    @classmethod
    def joined(cls, parts: list[Runs]) -> Runs:
        """The runs of all parts in order of start."""
        columns = [
            np.concatenate([getattr(part, one.name) for part in parts] or [np.zeros(0, np.int64)])
            for one in fields(cls)
        ]
        order = np.lexsort((columns[1], columns[0]))
        return cls(*(column[order] for column in columns))


def read_runs(session: Session) -> Runs:
    """What the logs of all devices show."""
    return Runs.joined([_runs(session, device, one) for device, one in session.devices.items()])


def _runs(session: Session, device: int, context: Context) -> Runs:
    parts = list(_logged(session, context))
    empty = np.zeros(0, np.int64)
    columns = [np.concatenate([one[place] for one in parts] or [empty]) for place in range(6)]
    start, end, stream, number, sub_task, kind = columns
    if not len(start):
        return Runs(*([empty] * len(fields(Runs))))
    try:
        clock = context.side.device
        times = clock.times(start), clock.times(end)
        demand_within(session, times[0])
    except Unknown as reason:
        text = f"{reason}, so {len(start):,} tasks have no times"
        log = next(kind for kind, *_ in _LOGS if kind in context.folder.files)
        session.damage.append(Damage(context.folder.path, text, kind=log))
        return Runs(*([empty] * len(fields(Runs))))
    batch = _batches(session, context, stream, start)
    right = (times[0] != OUT_OF_RANGE) & (times[1] != OUT_OF_RANGE)
    return Runs(
        times[0][right],
        times[1][right],
        np.full(int(right.sum()), device),
        stream[right],
        number[right],
        batch[right],
        sub_task[right],
        kind[right],
    )


Columns = tuple[Integers, Integers, Integers, Integers, Integers, Integers]
"""Ticks of starts and ends, streams, numbers, sub-tasks and kinds."""


def _logged(session: Session, context: Context) -> Iterator[Columns]:
    for kind, record, first in _LOGS:
        if kind in context.folder.files and context.side.chip in raw_catalog().files[kind].chips:
            rows = session.rows(context, kind, record)
            yield _paired(session, context, kind, record, rows, first)


def _paired(
    session: Session, context: Context, kind: str, record: str, rows: Rows, first: int
) -> Columns:
    declaration = session.declaration(kind, record)
    ticks = rows[time_field(declaration)]
    rows, ticks = rows[ticks < LIMIT], ticks[ticks < LIMIT].astype(np.int64)
    names = rows.dtype.names or ()
    ends = numbers(declaration, "sysTag" if "hwts" in kind else "funcType", rows) - first
    stream, number = placed(declaration, rows)
    sub_task = rows["subTaskId"].astype(np.int64) if "subTaskId" in names else None
    what = "subTaskType" if sub_task is not None else "taskType"
    kinds = numbers(declaration, what, rows)
    context_of = np.full(len(rows), NONE) if sub_task is None else sub_task
    # Streams have at most 32 bits, and so have numbers; of the file's order nothing is changed.
    task = (stream + 1 << 32) + number
    order = np.argsort(task, kind="stable") if sub_task is None else np.lexsort((sub_task, task))
    same = task[order][1:] == task[order][:-1]
    same &= context_of[order][1:] == context_of[order][:-1]
    opens = (ends[order][:-1] == 0) & (ends[order][1:] == 1) & same
    before = np.flatnonzero(opens)
    begin, close = order[before], order[before + 1]
    right = ticks[close] >= ticks[begin]
    begin, close = begin[right], close[right]
    alone = len(rows) - 2 * len(begin)
    if alone:
        text = f"{kind}: {alone:,} starts and ends without the other one"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return ticks[begin], ticks[close], stream[begin], number[begin], context_of[begin], kinds[begin]


def placed(declaration: construct.Struct, rows: Rows) -> tuple[Integers, Integers]:
    """Stream and number, which the scheduler STARS may have packed (raw-prof 4.7)."""
    number = rows["taskId"].astype(np.int64)
    if "streamId" not in (rows.dtype.names or ()):
        return np.full(len(rows), NONE), number
    stream = rows["streamId"].astype(np.int64)
    if declaration.sizeof() and rows["streamId"].dtype.itemsize > 2:
        return stream, number
    high, middle = stream >> 12 & 1 == 1, stream >> 13 & 1 == 1
    packed_stream = np.where(high | ~middle, stream, number & _LOW_12) & _LOW_11
    packed_number = np.where(
        high,
        number & _LOW_13 | stream & ~_LOW_13,
        np.where(middle, stream & _LOW_12 | number & ~_LOW_12, number),
    )
    return packed_stream, packed_number


def _batches(session: Session, context: Context, stream: Integers, start: Integers) -> Integers:
    """How often the numbers of the stream had begun again."""
    if "ts_track" not in context.folder.files:
        return np.zeros(len(stream), np.int64)
    flips = session.rows(context, "ts_track", _FLIP)
    flips = flips[flips["timestamp"] < LIMIT]
    lane = flips["streamId"].astype(np.int64) & _LOW_11
    return flips_before(lane, flips["timestamp"].astype(np.int64), stream, start)
