"""Which tasks task_time shows, and what else is known of tasks."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pyarrow as pa

from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.sub_tasks import shown_tasks
from ascend_ref.derive.task_batches import task_batches
from ascend_ref.derive.transit import groups

from ..database import Facts
from ..made import Derived, cell_of
from .reading import NONE, integers, made, read

NO_CONTEXT = (1 << 32) - 1
SCHEDULED = "COMMUNICATION_SCHEDULE_TASK_INFO"


def _session(facts: Facts) -> pa.Table:
    """Start of the session; before everything where nothing tells it."""
    start = None
    if facts.columns("db.SESSION_TIME_INFO"):
        start = facts.value("SELECT min(startTimeNs) FROM db.SESSION_TIME_INFO")
    return pa.table({"start": pa.array([start or 0], pa.int64())})


def _shown(facts: Facts) -> pa.Table:
    """The tasks that task_time shows, by engine, before the bounds of the session cut them."""
    tasks = read(
        facts,
        "SELECT file, row, deviceId, streamId, taskId, contextId, startNs, endNs FROM db.TASK "
        "ORDER BY row",
    )
    _, key = groups(*(integers(tasks, name) for name in ("deviceId", "streamId", "taskId")))
    context = integers(tasks, "contextId", NO_CONTEXT)
    whole = np.where(context == NO_CONTEXT, NONE, context)
    start, end = integers(tasks, "startNs"), integers(tasks, "endNs")
    parts = []
    for engine in get_args(Engine):
        own = tasks.select(["file", "row"]).filter(
            pa.array(shown_tasks(key, whole, start, end, engine))
        )
        parts.append(own.append_column("engine", pa.array([engine] * len(own), pa.string())))
    return pa.concat_tables(parts)


def _batches(facts: Facts) -> pa.Table:
    """The batches of the rows of TASK."""
    tasks = read(facts, "SELECT row, deviceId, streamId, taskId, startNs FROM db.TASK")
    device, stream = integers(tasks, "deviceId"), integers(tasks, "streamId")
    batch = task_batches(device, stream, integers(tasks, "taskId"), integers(tasks, "startNs"))
    return tasks.select(["row"]).append_column("batch", pa.array(batch))


def _scheduled(facts: Facts) -> pa.Table:
    """Names and kinds of tasks that schedule communication, by the row of TASK."""
    if not facts.columns(f"db.{SCHEDULED}"):
        return made({"row": pa.array([], pa.int64()), "name": [""][:0], "taskType": [""][:0]})
    return read(
        facts,
        "SELECT t.row, any_value(s.name)::VARCHAR AS name, "
        "any_value(s.taskType)::VARCHAR AS taskType "
        f"FROM db.TASK t JOIN db.{SCHEDULED} s ON s.globalTaskId = t.globalTaskId GROUP BY t.row",
    )


TABLES = (
    Derived("session", "Start of the session in ns, 0 where it is not known.", (), _session),
    Derived(
        "shown_task",
        "Rows of TASK that task_time shows, by engine.",
        ("db.TASK",),
        _shown,
        of="db.TASK",
    ),
    Derived(
        "task_batch",
        "How often the numbers of tasks had begun anew, by the row of TASK.",
        ("db.TASK",),
        _batches,
    ),
    Derived(
        "scheduled",
        "Names of tasks that schedule communication.",
        ("db.TASK",),
        _scheduled,
        cells={
            "name": cell_of(f"db.{SCHEDULED}.name"),
            "taskType": cell_of(f"db.{SCHEDULED}.taskType"),
        },
    ),
)
