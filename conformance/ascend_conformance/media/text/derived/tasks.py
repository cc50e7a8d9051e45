"""Which tasks task_time shows, and what else is known of tasks."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pyarrow as pa

from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.matching import groups
from ascend_ref.derive.tasks import shown_tasks, task_batches

from .reading import NONE, Asked, by_engine, integers, made, read

NO_CONTEXT = (1 << 32) - 1
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
        return made({"row": pa.array([], pa.int64()), "name": [""][:0], "taskType": [""][:0]})
    return read(
        asked.facts,
        "SELECT t.row, any_value(s.name)::VARCHAR AS name, "
        "any_value(s.taskType)::VARCHAR AS taskType "
        f"FROM db.TASK t JOIN {SCHEDULED} s ON s.globalTaskId = t.globalTaskId GROUP BY t.row",
    )
