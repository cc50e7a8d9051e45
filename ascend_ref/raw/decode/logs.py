"""Logs of the devices: a start and an end of each task and sub-task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.spill import Spill, batches, sorted_rows
from ascend_spec import raw_catalog

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import numbers, time_field, whole
from ..side import Unknown
from .launches import flips_before
from .origins import Source
from .session import Rows, Session
from .times import demand_within, state_timeless

Mask = npt.NDArray[np.bool_]

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
    entry of the queue or of the sub-task. place: as of :class:`.Origins`, of the start.
    """

    start: Integers
    end: Integers
    device: Integers
    stream: Integers
    number: Integers
    batch: Integers
    context: Integers
    kind: Integers
    place: Integers

    @classmethod
    def joined(cls, spill: Spill, parts: Sequence[tuple[Integers, Runs]]) -> Runs:
        """The runs of all parts in order of start, equal ones in order of their turn."""
        turn = spill.joined(*(turn for turn, _ in parts))
        columns = [
            spill.joined(*(getattr(part, one.name) for _, part in parts)) for one in fields(cls)
        ]
        start, end, *_ = columns
        order = sorted_rows(spill, start, end, turn)
        return cls(*(spill.taken(column, order) for column in columns))


def read_runs(session: Session) -> Runs:
    """What the logs of all devices show."""
    found: list[tuple[Integers, Runs]] = []
    for device, context in session.devices.items():
        found += _of_device(session, device, context, sum(len(turn) for turn, _ in found))
    return Runs.joined(session.spill, found)


def _of_device(
    session: Session, device: int, context: Context, turn: int
) -> Iterator[tuple[Integers, Runs]]:
    """The runs that each kind of log shows, and their places among those of all logs."""
    found = list(_logged(session, context))
    count = sum(len(ticks) for ticks, *_ in found)
    if not count:
        return
    spill = session.spill
    log = next(kind for kind, *_ in _LOGS if kind in context.folder.files)
    try:
        clock = context.side.device
        times = [[spill.made(clock.times, one) for one in ticks[:2]] for ticks in found]
        demand_within(session, spill.joined(*(start for start, _ in times)))
    except Unknown as reason:
        text = f"{reason}, so {count:,} tasks have no times"
        session.damage.append(Damage(context.folder.path, text, kind=log))
        return
    for bounds, (begin, _, of_log, stream, number, sub_task, kind, places) in zip(
        times, found, strict=True
    ):
        columns = (
            *bounds,
            np.broadcast_to(np.int64(device), len(begin)),
            *(stream, number, _batches(session, context, stream, begin), sub_task, kind, places),
        )
        right = spill.where(_has_times, *bounds)
        state_timeless(session, context, log, 2 * (len(begin) - len(right)))
        place = spill.made(lambda one, before=turn: before + one, of_log)
        yield spill.taken(place, right), Runs(*(spill.taken(one, right) for one in columns))
        turn += len(begin)


def _has_times(start: Integers, end: Integers) -> Mask:
    known: Mask = (start != OUT_OF_RANGE) & (end != OUT_OF_RANGE)
    return known


Columns = Sequence[Integers]
"""Ticks of starts and ends, turns, streams, numbers, sub-tasks, kinds and places."""


def _logged(session: Session, context: Context) -> Iterator[Columns]:
    for kind, record, first in _LOGS:
        if kind in context.folder.files and context.side.chip in raw_catalog().files[kind].chips:
            rows = session.rows(context, kind, record)
            yield _paired(session, context, kind, record, rows, first)


def _paired(
    session: Session, context: Context, kind: str, record: str, rows: Rows, first: int
) -> Columns:
    """Starts with the ends that follow them in their task, in the order of the file."""
    spill, declaration = session.spill, session.declaration(kind, record)
    time, _ = time_field(declaration)
    every = len(rows)
    kept = spill.where(lambda ticks: ticks < LIMIT, rows[time])
    rows = rows if len(kept) == every else session.taken(rows, kept)
    state_timeless(session, context, kind, every - len(rows))
    ticks = spill.made(whole, rows[time])
    field = "sysTag" if "hwts" in kind else "funcType"
    ends = spill.made(lambda some: numbers(declaration, field, some) - first, rows)
    of_task = (placed(declaration, rows[batch]) for batch in batches(len(rows)))
    stream, number = spill.arrays(of_task, 2, np.int64)
    has_parts = "subTaskId" in (rows.dtype.names or ())
    what = "subTaskType" if has_parts else "taskType"
    kinds = spill.made(lambda some: numbers(declaration, what, some), rows)
    part = spill.made(whole, rows["subTaskId"]) if has_parts else spill.made(_of_none, ticks)
    # Streams have at most 32 bits, and so have numbers; of the file's order nothing is changed.
    task = spill.made(lambda of, one: (of + 1 << 32) + one, stream, number)
    order = sorted_rows(spill, task, part) if has_parts else sorted_rows(spill, task)
    begin, close = spill.arrays(_pairs(spill, order, ticks, ends, task, part), 2, np.int64)
    alone = len(rows) - 2 * len(begin)
    if alone:
        text = f"{kind}: {alone:,} starts and ends without the other one"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    # Back in the order of the file, so that what is looked up together lies together.
    turn = spill.changeable(len(rows), NONE)
    for batch in spill.batches(len(begin)):
        turn[begin[batch]] = np.arange(batch.start, batch.stop)
    begin = spill.where(lambda one: one >= 0, turn)
    turn = spill.taken(turn, begin)
    close = spill.taken(close, turn)
    columns = (stream, number, part, kinds)
    return (
        *(spill.taken(ticks, begin), spill.taken(ticks, close), turn),
        *(spill.taken(column, begin) for column in columns),
        _places(session, Source(context, kind, record), spill.taken(kept, begin)),
    )


def _places(session: Session, source: Source, records: Integers) -> Integers:
    if session.origins is None:
        return session.spill.made(_of_none, records)
    return session.origins.places(session.spill, source, records)


def _of_none(column: Integers) -> Integers:
    return np.full(len(column), NONE)


def _pairs(
    spill: Spill,
    order: Integers,
    ticks: Integers,
    ends: Integers,
    task: Integers,
    part: Integers,
) -> Iterator[tuple[Integers, Integers]]:
    """Starts and the ends right behind them in an order of tasks, if they do not end before."""
    for batch in batches(max(len(order) - 1, 0)):
        rows = order[batch.start : batch.stop + 1]
        own, of_part, tag = (spill.gathered(one, rows) for one in (task, part, ends))
        opens = (tag[:-1] == 0) & (tag[1:] == 1)
        opens &= (own[1:] == own[:-1]) & (of_part[1:] == of_part[:-1])
        at = np.flatnonzero(opens)
        begin, close = rows[at], rows[at + 1]
        right = spill.gathered(ticks, close) >= spill.gathered(ticks, begin)
        yield begin[right], close[right]


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
    flips = session.rows(context, "ts_track", _FLIP)
    every = len(flips)
    flips = flips[flips["timestamp"] < LIMIT]
    state_timeless(session, context, "ts_track", every - len(flips))
    lane = flips["streamId"].astype(np.int64) & _LOW_11
    return flips_before(session.spill, lane, flips["timestamp"].astype(np.int64), stream, start)
