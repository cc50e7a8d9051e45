"""Tables of what ran on the devices: tasks, kernels, counters, communication, and their overlap."""

from __future__ import annotations

import numpy as np

from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import hull, overlap
from ascend_spec import catalog

from .recording import NOT_COLLECTED, Recording, Rows, none_as

QUOTED = ("input_shapes", "output_shapes")
OF_EVERY_LEVEL = ("task", "collective", "name", "group", "master")
"""Columns of transfers that level 0 collects; what it writes for the others stands in 4.4."""
PROFILER_TASKS = ("PROFILING_ENABLE", "PROFILING_DISABLE")
"""Kinds of tasks that are the profiler's own and bound no time."""


def tasks(recording: Recording) -> Rows:
    """Tasks, in order of start."""
    batch = recording.capture.tasks
    if (batch.start[1:] < batch.start[:-1]).any():
        batch = batch.take(np.argsort(batch.start, kind="stable"))
    return {
        **recording.rows(batch),
        "id": batch.identity,
        "connection": none_as(batch.connection, recording.habits.no_connection),
    }


def kernels(recording: Recording) -> Rows:
    """What compute tasks compute; of the attributes level 0 collects none."""
    capture = recording.capture
    kind = capture.kernels.kind
    kinds = dict(capture.kernel_kinds.columns())
    rows = {"task": capture.kernels.task, "name": kinds["name"][kind]}
    if not recording.level:
        return rows
    quotations = {name: recording.rewritten(kinds[name], quoted) for name in QUOTED}
    return {**{name: column[kind] for name, column in (kinds | quotations).items()}, **rows}


def quoted(shapes: str) -> str:
    """Shapes in double quotes, as every exporter leaves them (db-schema.md 4.11)."""
    if shapes == NOT_COLLECTED or shapes.startswith('"'):
        return shapes
    return f'"{shapes}"'


def schedules(recording: Recording) -> Rows:
    """AI CPU kernels that schedule communication."""
    batch = recording.capture.schedules
    return dict(batch.columns()) if recording.level else {"name": batch.name, "task": batch.task}


def counters(recording: Recording) -> Rows:
    """Counters: from one row per task to one per metric and task, metric after metric.

    Of the other chips the exporter has the counters in text files only.
    """
    wide = recording.capture.counters
    products = recording.schema.tables["TASK_PMU_INFO"].products
    known = (recording.capture.origin.chip in catalog().products[one].chips for one in products)
    if not (recording.for_texts or any(known)):
        return {}
    metrics = recording.texts.numbers(wide.metrics)
    return {
        "task": np.tile(wide.task, len(metrics)),
        "metric": np.repeat(metrics, len(wide.task)),
        "value": wide.values.T.ravel(),
    }


def operators(recording: Recording) -> Rows:
    """Communication operators, in order of their numbers."""
    found = recording.operators
    batch = recording.capture.collectives.take(found.rows)
    groups = recording.capture.groups
    rows = {
        **dict(batch.columns()),
        "start": found.start,
        "end": found.end,
        "connection": none_as(batch.connection, recording.habits.no_connection),
        "group": groups.name[batch.group],
        "id": found.number,
        "kind": recording.rewritten(batch.kind, lambda kind: f"hcom_{kind}_"),
        "ranks": groups.size[batch.group],
    }
    return rows if recording.level else {name: rows[name] for name in rows if name != "kind"}


def transfers(recording: Recording) -> Rows:
    """Small tasks, in order of their operators; an operator without interval has no tasks."""
    capture = recording.capture
    batch = recording.transfers
    place = recording.task_rows(batch.task)
    length = capture.tasks.end[place] - capture.tasks.start[place]
    rows = {
        **dict(batch.columns()),
        "name": capture.collectives.name[batch.collective],
        "group": capture.groups.name[capture.collectives.group[batch.collective]],
        "collective": recording.operators.number_of[batch.collective],
        # Formed from GB/s of 10^9 Byte (4.2); a task without length has no rate.
        "bandwidth": np.where(length, batch.size * 1e9 / np.maximum(length, 1), 0.0),
    }
    if recording.level:
        return rows
    return {name: rows[name] for name in OF_EVERY_LEVEL} | {
        "notify": np.zeros(len(batch), np.int64),
        "bandwidth": np.zeros(len(batch)),
    }


def overlaps(recording: Recording) -> Rows:
    """Per device the intervals of type 0, 1, 2 and 3, none empty, numbered from 0."""
    tasks = recording.capture.tasks
    own = np.isin(tasks.kind, recording.texts.numbers(PROFILER_TASKS), invert=True)
    kernels = recording.task_rows(recording.capture.kernels.task)
    found = recording.operators
    device_of_operator = recording.capture.collectives.device[found.rows]
    intervals = [(np.empty(0, np.int64),) * 4]
    for device in np.unique(tasks.device).tolist():
        rows = kernels[tasks.device[kernels] == device]
        here = device_of_operator == device
        shown = own & (tasks.device == device)
        window = hull(tasks.start[shown], tasks.end[shown], found.start[here], found.end[here])
        if window is None:
            continue
        parts = overlap(
            union(tasks.start[rows], tasks.end[rows]),
            union(found.start[here], found.end[here]),
            *window,
        )
        for kind, (start, end) in enumerate(parts):
            count = len(start)
            intervals.append((np.full(count, device), start, end, np.full(count, kind)))
    columns = (np.concatenate(one) for one in zip(*intervals, strict=True))
    rows = dict(zip(("device", "start", "end", "kind"), columns, strict=True))
    return {"id": np.arange(len(rows["kind"])), **rows}
