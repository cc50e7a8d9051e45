"""Runs of AI CPU kernels, and readings of prepared data, as AI CPUs noted them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise

import numpy as np

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import NEXT_BATCH, RECORDS, Records
from ascend_ref.derive.transit import task_rows

from ..aicpu import (
    CORE,
    KIND,
    PREPARATION,
    PREPARATIONS,
    QUEUE_TAG,
    READING,
    READINGS,
    RUN,
    RUNS,
    TEXTS,
    lengths,
    numbers,
)
from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..moments import MICROSECOND
from .kernels import Computed
from .session import Session
from .tasks import Launched
from .times import state_wrong, timed, times_of

_WRONG = "have numbers that they cannot have"
_MOST = LIMIT // MICROSECOND


def read_aicpu(session: Session, launched: Launched, computed: Computed, texts: Texts) -> Records:
    """The records of all devices, each in the order of its file."""
    found: dict[str, list[dict[str, Integers]]] = defaultdict(list)
    core = texts.number(CORE)
    for device, context in session.devices.items():
        if KIND not in context.folder.files:
            continue
        for record, table in (
            (RUNS, _runs(session, context, device, launched, computed, core)),
            (READINGS, _readings(session, context, texts)),
            (PREPARATIONS, _preparations(session, context, texts)),
        ):
            if table:
                count = len(next(iter(table.values())))
                found[record].append({"device": np.full(count, device), **table})
    return {
        record: {
            column: np.concatenate([one[column] for one in parts])
            for column in RECORDS[record].columns
        }
        for record, parts in found.items()
    }


def _runs(
    session: Session,
    context: Context,
    device: int,
    launched: Launched,
    computed: Computed,
    core: int,
) -> dict[str, Integers]:
    rows = session.rows(context, KIND, RUN)
    names = ("submitTick", "runStartTick", "runEndTick", "tickAfterRun")
    micro = ("computeStartTime", "memcpyStartTime", "memcpyEndTime")
    right = np.ones(len(rows), np.bool_)
    for some, most in ((names, LIMIT), (micro, _MOST)):
        for first, second in pairwise(some):
            right &= (rows[first] <= rows[second]) & (rows[second] < most)
    state_wrong(session, context, KIND, int(np.sum(~right)), len(rows), _WRONG)
    rows = rows[right]
    if not len(rows):
        return {}
    submitted, began, ended, after = (rows[one].astype(np.int64) for one in names)
    computed_at, copied_at, end = (rows[one].astype(np.int64) * MICROSECOND for one in micro)
    time = times_of(session, context, KIND, "device-counter", began)
    known = time != OUT_OF_RANGE
    if not known.any():
        return {}
    clock = context.side.device
    stream, number = rows["streamId"].astype(np.int64), rows["taskId"].astype(np.int64)
    table = {
        "time": time,
        "compute": copied_at - computed_at,
        "memcpy": end - copied_at,
        "task": lengths(clock, ended - began),
        "dispatch": rows["dispatchTime"].astype(np.int64) * MICROSECOND,
        "total": lengths(clock, after - submitted),
        "stream": stream,
        "number": number,
        "name": _names(launched, computed, device, core, (stream, number, clock.times(ended))),
    }
    return {name: values[known] for name, values in table.items()}


def _names(
    launched: Launched,
    computed: Computed,
    device: int,
    core: int,
    ends: tuple[Integers, Integers, Integers],
) -> Integers:
    """The kernels of stream and number during whose task runs ended, NONE where there is none or
    nobody knows that it is one of an AI CPU, as at level 0 (upstream-msprof ParseAiCpuData).
    """
    tasks, kernels = launched.tasks, computed.kernels
    row = task_rows(tasks)[kernels.task]
    order = np.argsort(row, kind="stable")
    known = computed.kinds.core[kernels.kind] == core
    own = order[(tasks.device[row[order]] == device) & known[order]]
    row, name = row[own], computed.kinds.name[kernels.kind[own]]
    runs = defaultdict(list)
    keys = (tasks.stream[row], tasks.number[row] & numbers())
    for stream, number, start, end, text in zip(
        *(one.tolist() for one in (*keys, tasks.start[row], tasks.end[row], name)), strict=True
    ):
        runs[stream, number].append((start, end, text))
    found = []
    for stream, number, moment in zip(*(one.tolist() for one in ends), strict=True):
        some = runs.get((stream, number), [])
        place = bisect_right(some, moment, key=lambda run: run[0]) - 1
        found.append(some[place][2] if place >= 0 and moment <= some[place][1] else NONE)
    return np.array(found, np.int64)


def _readings(session: Session, context: Context, texts: Texts) -> dict[str, Integers]:
    rows = session.rows(context, KIND, READING)
    right = (rows["runStartTime"] <= rows["runEndTime"]) & (rows["runEndTime"] < _MOST)
    right &= rows["queueSize"] < LIMIT
    state_wrong(session, context, KIND, int(np.sum(~right)), len(rows), _WRONG)
    rows = rows[right]
    if not len(rows):
        return {}
    named, unnamed = texts.numbers([NEXT_BATCH, ""]).tolist()
    return {
        "name": np.where(rows["nodeTag"] == QUEUE_TAG, named, unnamed),
        "start": rows["runStartTime"].astype(np.int64) * MICROSECOND,
        "end": rows["runEndTime"].astype(np.int64) * MICROSECOND,
        "size": rows["queueSize"].astype(np.int64),
    }


def _preparations(session: Session, context: Context, texts: Texts) -> dict[str, Integers]:
    rows, time = timed(session, context, KIND, PREPARATION, lambda one: one["size"] < LIMIT)
    if not len(rows):
        return {}
    shown = {
        name: texts.numbers(one.decode("utf-8", "backslashreplace") for one in rows[name].tolist())
        for name in TEXTS
    }
    return {"time": time, "buffered": rows["size"].astype(np.int64), **shown}
