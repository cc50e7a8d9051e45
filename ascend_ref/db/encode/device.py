"""Tables of what ran on the devices: tasks, kernels, counters, communication, and their overlap."""

from __future__ import annotations

from itertools import chain

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.batch import Reals
from ascend_ref.derive.intervals import Intervals, long_union, union
from ascend_ref.derive.overlap import hull, long_overlap
from ascend_ref.spill import is_ascending, sorted_rows
from ascend_spec import catalog

from ..neutral import NOT_COLLECTED
from .collection import taken
from .recording import Recording, Rows

QUOTED = ("input_shapes", "output_shapes")
OF_EVERY_LEVEL = ("task", "collective", "name", "group", "master")
"""Columns of transfers that level 0 collects; what it writes for the others stands in 4.4."""
PROFILER_TASKS = ("PROFILING_ENABLE", "PROFILING_DISABLE")
"""Kinds of tasks that are the profiler's own and bound no time."""


def tasks(recording: Recording) -> Rows:
    """Tasks, in order of start."""
    batch = recording.capture.tasks
    if not is_ascending(recording.spill, batch.start):
        batch = taken(recording.spill, batch, sorted_rows(recording.spill, batch.start))
    return {
        **recording.rows(batch),
        "id": batch.identity,
        "connection": recording.with_connection(batch.connection),
    }


def kernels(recording: Recording) -> Rows:
    """What compute tasks compute; of the attributes level 0 collects none."""
    capture = recording.capture
    kind = capture.kernels.kind
    kinds = dict(capture.kernel_kinds.columns())
    spill = recording.spill
    rows = {"task": capture.kernels.task, "name": spill.made(kinds["name"].take, kind)}
    if not recording.level:
        return rows
    quotations = {name: recording.rewritten(kinds[name], quoted) for name in QUOTED}
    columns = kinds | quotations
    return {**{name: spill.made(column.take, kind) for name, column in columns.items()}, **rows}


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
    count = len(wide.task)
    spill = recording.spill
    return {
        "task": spill.joined(*(wide.task for _ in metrics)),
        "metric": spill.joined(*(np.broadcast_to(metric, count) for metric in metrics)),
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
        "connection": recording.with_connection(batch.connection),
        "group": groups.name[batch.group],
        "id": found.number,
        "kind": recording.rewritten(batch.kind, lambda kind: f"hcom_{kind}_"),
        "ranks": groups.size[batch.group],
    }
    return rows if recording.level else {name: rows[name] for name in rows if name != "kind"}


def transfers(recording: Recording) -> Rows:
    """Small tasks, in order of their operators; an operator without interval has no tasks."""
    capture, spill = recording.capture, recording.spill
    batch, collectives, tasks = recording.transfers, capture.collectives, capture.tasks
    place = recording.task_rows(batch.task)

    def bandwidth(row: Integers, size: Integers) -> Reals:
        length = spill.gathered(tasks.end, row) - spill.gathered(tasks.start, row)
        # Formed from GB/s of 10^9 Byte (4.2); a task without length has no rate.
        return np.where(length, size * 1e9 / np.maximum(length, 1), 0.0)

    rows = {
        **dict(batch.columns()),
        "name": spill.made(collectives.name.take, batch.collective),
        "group": spill.made(capture.groups.name[collectives.group].take, batch.collective),
        "collective": spill.made(recording.operators.number_of.take, batch.collective),
        "bandwidth": spill.made(bandwidth, place, batch.size, kind=np.float64),
    }
    if recording.level:
        return rows
    return {name: rows[name] for name in OF_EVERY_LEVEL} | {
        "notify": np.broadcast_to(np.int64(0), len(batch)),
        "bandwidth": np.broadcast_to(np.float64(0), len(batch)),
    }


def overlaps(recording: Recording) -> Rows:
    """Per device the intervals of type 0, 1, 2 and 3, none empty, numbered from 0."""
    tasks, spill = recording.capture.tasks, recording.spill
    own = recording.texts.numbers(PROFILER_TASKS)
    kernels = recording.task_rows(recording.capture.kernels.task)
    of_kernel = spill.taken(tasks.device, kernels)
    found = recording.operators
    device_of_operator = recording.capture.collectives.device[found.rows]
    seen = (np.unique(tasks.device[batch]).tolist() for batch in spill.batches(len(tasks)))
    parts: list[tuple[int, int, Intervals]] = []
    for device in sorted(set(chain.from_iterable(seen))):
        rows = spill.taken(kernels, spill.where(lambda of, d=device: of == d, of_kernel))
        here = device_of_operator == device
        shown = spill.where(
            lambda kind, of, d=device: (of == d) & np.isin(kind, own, invert=True),
            *(tasks.kind, tasks.device),
        )
        bounds = [spill.taken(one, shown) for one in (tasks.start, tasks.end)]
        window = hull(
            *(np.array(spill.range_of(one)) for one in bounds if len(one)),
            *(found.start[here], found.end[here]),
        )
        if window is None:
            continue
        overlaps = long_overlap(
            spill,
            long_union(spill, spill.taken(tasks.start, rows), spill.taken(tasks.end, rows)),
            union(found.start[here], found.end[here]),
            *window,
        )
        parts += [(device, kind, times) for kind, times in enumerate(overlaps)]

    def same(value: int, times: Intervals) -> Integers:
        return np.broadcast_to(np.int64(value), len(times.start))

    count = sum(len(times.start) for _, _, times in parts)
    return {
        "id": spill.rows(count),
        "device": spill.joined(*(same(device, times) for device, _, times in parts)),
        "start": spill.joined(*(times.start for _, _, times in parts)),
        "end": spill.joined(*(times.end for _, _, times in parts)),
        "kind": spill.joined(*(same(kind, times) for _, kind, times in parts)),
    }
