"""What follows from the rows of one query: which tasks are shown, blocks of memory, demands."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import is_one_of, where
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.host_usage import demand
from ascend_ref.derive.matching import groups
from ascend_ref.derive.memory_blocks import memory_blocks
from ascend_ref.derive.tasks import shown_tasks, task_batches

from .reading import NONE, Asked, by_engine, integers, read, reals

NO_CONTEXT = (1 << 32) - 1
KIBIBYTE = 1024.0
SCHEDULED = "db.COMMUNICATION_SCHEDULE_TASK_INFO"


def session(asked: Asked) -> pa.Table:
    """Start of the session; before everything where nothing states it."""
    start = None
    if asked.facts.columns("db.SESSION_TIME_INFO"):
        start = asked.facts.value("SELECT min(startTimeNs) FROM db.SESSION_TIME_INFO")
    return pa.table({"start": pa.array([start or 0], pa.int64())})


def shown(asked: Asked) -> pa.Table:
    """The tasks that task_time shows, by engine, before the bounds of the session cut them."""
    tasks = asked.rows()
    _, key = groups(*(integers(tasks, name) for name in ("deviceId", "streamId", "taskId")))
    context = integers(tasks, "contextId", NO_CONTEXT)
    whole = np.where(context == NO_CONTEXT, NONE, context)
    start, end = integers(tasks, "startNs"), integers(tasks, "endNs")
    place = tasks.select(["file", "row"])
    return by_engine(
        (engine, place.filter(pa.array(shown_tasks(key, whole, start, end, engine))))
        for engine in get_args(Engine)
    )


def batches(asked: Asked) -> pa.Table:
    """The batches of the rows of TASK."""
    tasks = asked.rows()
    device, stream = integers(tasks, "deviceId"), integers(tasks, "streamId")
    batch = task_batches(device, stream, integers(tasks, "taskId"), integers(tasks, "startNs"))
    return tasks.select(["row"]).append_column("batch", pa.array(batch))


def scheduled(asked: Asked) -> pa.Table:
    """Names and kinds of tasks that schedule communication, by the row of TASK."""
    if not asked.facts.columns(SCHEDULED):
        nothing = pa.schema({"row": pa.int64(), "name": pa.string(), "taskType": pa.string()})
        return nothing.empty_table()
    return read(
        asked.facts,
        "SELECT t.row, any_value(s.name)::VARCHAR AS name, "
        "any_value(s.taskType)::VARCHAR AS taskType "
        f"FROM db.TASK t JOIN {SCHEDULED} s ON s.globalTaskId = t.globalTaskId GROUP BY t.row",
    )


def demands(asked: Asked) -> pa.Table:
    """Peak and recommendation of each column of samples."""
    samples = asked.rows()
    found: dict[str, pa.Array] = {}
    for name in samples.column_names:
        values = reals(samples, name)
        peak, recommended = demand(values[np.isfinite(values)]) or (None, None)
        found[f"{name}_peak"] = pa.array([peak], pa.float64())
        found[f"{name}_recommended"] = pa.array([recommended], pa.float64())
    return pa.table(found)


def blocks(asked: Asked) -> pa.Table:
    """Each block with the events that took it and gave it back; sizes in KB, times in ns."""
    events = asked.rows()
    device, time = integers(events, "deviceId"), integers(events, "timestampNs")
    takes = is_one_of(events["type"].cast(pa.string()), ["allocate"])
    found = memory_blocks(device, integers(events, "addr"), time, takes)
    taken, given = found.taken != NONE, found.given != NONE
    row = np.where(taken, found.taken, found.given)
    sizes = integers(events, "size", 0)[row] / KIBIBYTE
    names = events["operatorName"].cast(pa.string()).combine_chunks()
    columns = {
        "device": pc.binary_join_element_wise("NPU:", pa.array(device[row]).cast("string"), ""),
        "name": names.take(where(taken, found.taken)),
        "time": where(taken, time[found.taken]),
        "size": pa.array(np.where(taken, sizes, -sizes)),
        "duration": where(taken & given, time[found.given] - time[found.taken]),
    }
    for what, name in (("allocated", "totalAllocate"), ("reserved", "totalReserve")):
        total = integers(events, name, 0) / KIBIBYTE
        columns[f"taken_{what}"] = where(taken, total[found.taken])
        columns[f"given_{what}"] = where(given, total[found.given])
    return pa.table(columns)
