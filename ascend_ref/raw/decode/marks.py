"""Marks of the program, and the tasks by which devices note them (raw-prof 4.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers, Marks, Tasks, Texts
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_ref.derive.matching import groups, ranks
from ascend_ref.spill import Spill, sorted_rows

from ..clocks import LIMIT, OUT_OF_RANGE
from ..damage import Damage
from ..iterations import POINT_RECORDS
from ..marks import EXTENDED, FIRST_MARK, MARK, MARK_TAG
from ..side import Unknown
from ..tensors import NOT_AVAILABLE
from .nodes import text_numbers
from .origins import Origin, Source
from .session import Rows, Session
from .tasks import Launched
from .times import demand_within, state_timeless

_MOST_SEGMENTS = 1 << 10


class Marked(NamedTuple):
    """The marks, and all tasks with those that note one."""

    marks: Marks
    launched: Launched


def read_marks(session: Session, launched: Launched, texts: Texts) -> Marked:
    """The marks in order of start."""
    noted, places = _noted(session)
    marks = _marks(session, {int(one) for one in noted.connection.tolist()}, texts)
    if len(noted):
        _note_origin(session, places)
        launched = _with_noted(session.spill, launched, noted, texts)
    return Marked(marks, launched)


def _note_origin(session: Session, places: Integers) -> None:
    """Note the records of tasks that note a mark, which count behind the others."""
    if session.origins is not None:
        known = session.origins.tables["TASK"].places
        session.origins.tables["TASK"] = Origin(session.spill.joined(known, places), "globalTaskId")


def _marks(session: Session, noted: set[int], texts: Texts) -> Marks:
    rows = session.rows(session.host, "msproftx")
    if not len(rows) or session.host is None:
        return Marks.empty()
    try:
        clock = session.host.side.host
        demand_within(session, clock.times(rows["stampInfo"]["startTime"]))
    except Unknown as reason:
        text = f"{reason}, so no marks"
        session.damage.append(Damage(session.host.folder.path, text, kind="msproftx"))
        return Marks.empty()
    stamp = rows["stampInfo"]
    extended = rows["infoType"] == EXTENDED
    key = np.where(extended, stamp["markId"].astype(np.int64), -1 - np.arange(len(rows)))
    order = np.lexsort((rows["segment"], key))
    first, owner = groups(key[order])
    first, rows, stamp = order[first], rows[order], stamp[order]
    messages = _messages(session, rows, owner)
    heads = session.rows(session.host, "msproftx")[first]
    stamp, extended = heads["stampInfo"], heads["infoType"] == EXTENDED
    start = clock.times(stamp["startTime"])
    end = clock.times(stamp["endTime"])
    right = np.flatnonzero((start != OUT_OF_RANGE) & (end != OUT_OF_RANGE) & (end >= start))
    if len(right) < len(first):
        text = f"msproftx: {len(first) - len(right):,} marks without an interval"
        session.damage.append(Damage(session.host.folder.path, text, kind="msproftx"))
    right = right[np.lexsort((-end[right], start[right]))]
    stamp, extended = stamp[right], extended[right]
    domain = np.full(len(right), texts.number(NOT_AVAILABLE))
    named = stamp["domain"] != 0
    domain[named] = text_numbers(session, texts, stamp["domain"][named])
    number = stamp["markId"].astype(np.int64)
    linked = np.array([one in noted for one in number.tolist()], np.bool_) & extended
    return Marks(
        start=start[right],
        end=end[right],
        kind=stamp["eventType"].astype(np.int64),
        thread=stamp["threadId"].astype(np.int64),
        message=texts.numbers(messages[one] for one in right.tolist()),
        domain=domain,
        device_link=np.where(linked, number - FIRST_MARK, NONE),
    )


def _messages(session: Session, rows: Rows, owner: Integers) -> list[str]:
    """The texts of marks, whose segments follow each other by owner."""
    parts: list[list[bytes]] = [[] for _ in range(int(owner.max(initial=-1)) + 1)]
    gaps = 0
    for one, segment, turn, text in zip(
        owner.tolist(),
        rows["segment"].tolist(),
        ranks(owner).tolist(),
        rows["stampInfo"]["message"].tolist(),
        strict=True,
    ):
        gaps += segment != turn
        if turn < _MOST_SEGMENTS:
            parts[one].append(text)
    if gaps and session.host is not None:
        text = f"msproftx: {gaps:,} segments of messages are not in their place"
        session.damage.append(Damage(session.host.folder.path, text, kind="msproftx"))
    return [b"".join(some).decode("utf-8", "backslashreplace") for some in parts]


def _noted(session: Session) -> tuple[Tasks, Integers]:
    """Tasks that note a mark, and their places; their connections are the numbers of the marks."""
    parts = []
    places: list[Integers] = [np.zeros(0, np.int64)]
    for device, context in session.devices.items():
        for record in POINT_RECORDS:
            rows = session.rows(context, "ts_track", record)
            own = np.flatnonzero(rows["tagId"] == MARK_TAG)
            rows = rows[own]
            if not len(rows):
                continue
            try:
                time = context.side.device.times(rows["timestamp"])
                demand_within(session, time)
            except Unknown as reason:
                text = f"{reason}, so no marks of it"
                session.damage.append(Damage(context.folder.path, text, kind="ts_track"))
                continue
            right = (time != OUT_OF_RANGE) & (rows["indexId"] < LIMIT)
            state_timeless(session, context, "ts_track", int(np.sum(time == OUT_OF_RANGE)))
            if session.origins is not None:
                source = Source(context, "ts_track", record)
                places.append(session.origins.places(session.spill, source, own[right]))
            parts.append(
                Tasks.filled(
                    int(right.sum()),
                    start=time[right],
                    end=time[right],
                    device=device,
                    stream=rows["streamId"][right].astype(np.int64),
                    number=rows["taskId"][right].astype(np.int64),
                    connection=rows["indexId"][right].astype(np.int64),
                )
            )
    return Tasks.joined(parts), np.concatenate(places)


def _with_noted(spill: Spill, launched: Launched, noted: Tasks, texts: Texts) -> Launched:
    """All tasks in order of start; those that note a mark count behind the others."""
    before = len(launched.tasks)
    identity = before + np.arange(len(noted))
    own = replace(
        noted,
        connection=noted.connection - FIRST_MARK + FIRST_MARK_CONNECTION,
        identity=identity,
        kind=np.full(len(noted), texts.number(MARK)),
    )
    columns = {
        name: spill.joined(column, getattr(own, name)) for name, column in launched.tasks.columns()
    }
    launch = spill.joined(launched.launch, np.full(len(noted), NONE))
    order = sorted_rows(spill, columns["start"], columns["end"])
    tasks = Tasks(**{name: spill.taken(column, order) for name, column in columns.items()})
    return Launched(tasks, spill.taken(launch, order))
