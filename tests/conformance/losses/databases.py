"""Losses of databases, and of what stands next to them."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from .model import DATABASE, TEXT, Taken, gone_from, registering, span, whole

Rows = sqlite3.Connection
FREE_OF_MSPROF = {"RANK_DEVICE_MAP", "META_DATA"}
"""Tables that only some of msprof's databases have."""
FEWEST_TIMES = 13
"""Samples that show a usual period."""
FREE_TABLES = {"QOS"}
"""Tables that depend on a switch alone, or on the writer."""


@contextmanager
def opened(folder: Path, source: random.Random) -> Iterator[tuple[str, Rows]]:
    """One of the databases."""
    file = source.choice(databases(folder))
    with closing(sqlite3.connect(file)) as connection:
        yield file.name, connection
        connection.commit()


in_database = registering(opened, DATABASE)


def databases(folder: Path) -> list[Path]:
    """The databases that an exporter of tasks wrote."""
    names = ("ascend_pytorch_profiler*.db", "msprof_*.db")
    return sorted(found for name in names for found in folder.rglob(name))


def tables(rows: Rows) -> list[str]:
    """Tables with rows."""
    select = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    names = [str(name) for (name,) in rows.execute(select)]
    return [
        name for name in sorted(names) if rows.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()
    ]


def forget_tasks(rows: Rows, tasks: Iterable[int]) -> None:
    """Delete tasks, and what other tables say of them."""
    rows.execute("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")
    rows.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(one,) for one in tasks])
    held = tables(rows)
    described = ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO", "MEMCPY_INFO")
    for table in (*described, "COMMUNICATION_SCHEDULE_TASK_INFO", "TASK"):
        if table in held:
            rows.execute(f"DELETE FROM {table} WHERE globalTaskId IN (SELECT id FROM gone)")
    if "COMMUNICATION_OP" in held and "COMMUNICATION_TASK_INFO" in held:
        left = "SELECT opId FROM COMMUNICATION_TASK_INFO"
        rows.execute(f"DELETE FROM COMMUNICATION_OP WHERE opId NOT IN ({left})")
    rows.execute("DROP TABLE temp.gone")


def tasks_of(rows: Rows, where: str = "1") -> list[int]:
    """The numbers of tasks in the order of their start."""
    if "TASK" not in tables(rows):
        return []
    select = f"SELECT globalTaskId FROM TASK WHERE {where} ORDER BY startNs, globalTaskId"
    return [number for (number,) in rows.execute(select)]


def lost_tasks(rows: Rows, source: random.Random, where: str) -> Taken:
    gone = span(tasks_of(rows), where, source)
    forget_tasks(rows, gone)
    return f"{len(gone)} tasks from {gone[0]}, {where}" if gone else None


@in_database("tasks")
def first_tasks(rows: Rows, source: random.Random) -> Taken:
    return lost_tasks(rows, source, "head")


@in_database("tasks")
def last_tasks(rows: Rows, source: random.Random) -> Taken:
    return lost_tasks(rows, source, "tail")


@in_database("tasks")
def tasks_in_the_middle(rows: Rows, source: random.Random) -> Taken:
    return lost_tasks(rows, source, "middle")


def some_stream(rows: Rows, source: random.Random, more_than: int) -> int | None:
    """One of the streams with more than so many tasks."""
    if "TASK" not in tables(rows):
        return None
    select = "SELECT streamId FROM TASK GROUP BY streamId HAVING count(*) > ? ORDER BY 1"
    (stream,) = source.choice(rows.execute(select, (more_than,)).fetchall())
    return int(stream)


@in_database("tasks")
def tasks_of_a_stream(rows: Rows, source: random.Random) -> Taken:
    stream = some_stream(rows, source, 2)
    if stream is None:
        return None
    forget_tasks(rows, tasks_of(rows, f"streamId = {stream}"))
    return f"stream {stream}"


@in_database("tasks")
def end_of_a_stream(rows: Rows, source: random.Random) -> Taken:
    stream = some_stream(rows, source, 20)
    if stream is None:
        return None
    gone = tasks_of(rows, f"streamId = {stream}")
    gone = gone[source.randint(len(gone) // 3, len(gone) - 5) :]
    forget_tasks(rows, gone)
    return f"the last {len(gone)} tasks of stream {stream}"


@in_database("tasks", "kernels", "table")
def tasks_of_a_step(rows: Rows, source: random.Random) -> Taken:
    if not {"TASK", "STEP_TIME"} <= set(tables(rows)):
        return None
    steps = rows.execute("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY 1").fetchall()
    number, start, end = source.choice(steps)
    forget_tasks(rows, tasks_of(rows, f"startNs BETWEEN {start} AND {end}"))
    return f"the tasks of step {number}"


@in_database("kernels")
def descriptions_of_kernels(rows: Rows, source: random.Random) -> Taken:
    if "COMPUTE_TASK_INFO" not in tables(rows):
        return None
    found = rows.execute("SELECT rowid FROM COMPUTE_TASK_INFO ORDER BY rowid").fetchall()
    gone = span(found, source.choice(["head", "middle", "tail"]), source)
    rows.executemany("DELETE FROM COMPUTE_TASK_INFO WHERE rowid = ?", gone)
    return f"{len(gone)} kernels from {gone[0][0]}"


@in_database("host calls", "launches")
def host_calls(rows: Rows, source: random.Random) -> Taken:
    if "CANN_API" not in tables(rows):
        return None
    where = source.choice(["head", "middle", "tail"])
    select = "SELECT rowid, connectionId FROM CANN_API ORDER BY startNs, endNs"
    gone = span(rows.execute(select).fetchall(), where, source)
    is_named = any(number in named_elsewhere(rows) for _, number in gone)
    rows.executemany("DELETE FROM CANN_API WHERE rowid = ?", [(row,) for row, _ in gone])
    return gone_from(f"{len(gone)} host calls from {gone[0][0]}, {where}", is_named)


def named_elsewhere(rows: Rows) -> set[int]:
    """The numbers of calls that tasks and links of the framework have."""
    held = tables(rows)
    found: set[int] = set()
    for table, column in (("TASK", "connectionId"), ("CONNECTION_IDS", "connectionId")):
        if table in held:
            found |= {one for (one,) in rows.execute(f"SELECT DISTINCT {column} FROM {table}")}
    return found


@in_database("framework calls", "links")
def framework_calls(rows: Rows, source: random.Random) -> Taken:
    if "PYTORCH_API" not in tables(rows):
        return None
    where = source.choice(["head", "middle", "tail"])
    select = "SELECT rowid FROM PYTORCH_API WHERE connectionId IS NOT NULL ORDER BY startNs, endNs"
    gone = span(rows.execute(select).fetchall(), where, source)
    rows.executemany("DELETE FROM PYTORCH_API WHERE rowid = ?", gone)
    return f"{len(gone)} framework calls from {gone[0][0]}, {where}" if gone else None


@in_database("table", "tasks", "kernels", "host calls", "framework calls", "links", "steps")
def table(rows: Rows, source: random.Random) -> Taken:
    held = [one for one in tables(rows) if not one.startswith("ENUM_")]
    chosen = source.choice(held)
    free = FREE_TABLES if "PYTORCH_API" in held else FREE_TABLES | FREE_OF_MSPROF
    rows.execute(f"DROP TABLE {chosen}")
    return gone_from(chosen, chosen not in free)


@in_database("tasks", "device", "table")
def side_of_the_device(rows: Rows, source: random.Random) -> Taken:
    shown = ("TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP")
    gone = [*shown, "TASK_PMU_INFO", "MEMCPY_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"]
    held = tables(rows)
    drop = source.random() < 0.5
    for name in gone:
        if name in held:
            rows.execute(f"DROP TABLE {name}" if drop else f"DELETE FROM {name}")
    return "dropped" if drop else "emptied"


@in_database("host calls", "host")
def side_of_the_host(rows: Rows, source: random.Random) -> Taken:
    if "CANN_API" not in tables(rows):
        return None
    drop = source.random() < 0.5
    for name in ("CANN_API", "PYTORCH_API", "CONNECTION_IDS"):
        if name in tables(rows) and (name == "CANN_API" or drop):
            rows.execute(f"DROP TABLE {name}")
    return "all" if drop else "CANN_API"


@in_database("steps", "table")
def step(rows: Rows, source: random.Random) -> Taken:
    if "STEP_TIME" not in tables(rows):
        return None
    (gone,) = source.choice(rows.execute("SELECT id FROM STEP_TIME ORDER BY 1").fetchall())
    rows.execute("DELETE FROM STEP_TIME WHERE id = ?", (gone,))
    return f"step {gone}"


@in_database("links")
def links_to_the_device(rows: Rows, source: random.Random) -> Taken:
    if "TASK" not in tables(rows):
        return None
    rows.execute("UPDATE TASK SET connectionId = 4294967295")
    return "all"


@in_database("links")
def links_of_the_framework(rows: Rows, source: random.Random) -> Taken:
    if "PYTORCH_API" not in tables(rows):
        return None
    rows.execute("UPDATE PYTORCH_API SET connectionId = NULL")
    rows.execute("DELETE FROM CONNECTION_IDS")
    return "all"


@in_database("collectives")
def collectives(rows: Rows, source: random.Random) -> Taken:
    if "COMMUNICATION_OP" not in tables(rows):
        return None
    found = rows.execute("SELECT opId FROM COMMUNICATION_OP ORDER BY startNs").fetchall()
    gone = found[: max(1, len(found) // 4)] if source.random() < 0.5 else found[-1:]
    rows.executemany("DELETE FROM COMMUNICATION_OP WHERE opId = ?", gone)
    return f"{len(gone)} collectives"


@in_database("memory")
def records_of_memory(rows: Rows, source: random.Random) -> Taken:
    held = [one for one in ("OP_MEMORY", "MEMORY_RECORD", "NPU_OP_MEM") if one in tables(rows)]
    if not held:
        return None
    name = source.choice(held)
    time = {"OP_MEMORY": "allocationTime", "MEMORY_RECORD": "timestamp"}.get(name, "timestampNs")
    found = rows.execute(f"SELECT rowid, {time} FROM {name} ORDER BY {time}, rowid").fetchall()
    where = source.choice(["head", "middle", "tail"])
    gone = span(found, where, source)
    is_seen = where == "middle"  # the allocator worked before and after the capture
    if name == "MEMORY_RECORD" and "OP_MEMORY" in tables(rows):
        taken = {one for (one,) in rows.execute("SELECT allocationTime FROM OP_MEMORY")}
        is_seen = is_seen and not taken.isdisjoint(one for _, one in gone)
    rows.executemany(f"DELETE FROM {name} WHERE rowid = ?", [(row,) for row, _ in gone])
    return gone_from(f"{len(gone)} rows of {name} from {gone[0][0]}, {where}", is_seen)


@in_database("samples")
def samples(rows: Rows, source: random.Random) -> Taken:
    held = [one for one in ("HBM", "LLC", "NPU_MODULE_MEM", "NPU_MEM") if one in tables(rows)]
    if not held:
        return None
    name = source.choice(held)
    times = rows.execute(f"SELECT DISTINCT timestampNs FROM {name} ORDER BY 1").fetchall()
    if len(times) < 8:
        return None
    begin = source.randint(2, len(times) - 6)
    rows.executemany(f"DELETE FROM {name} WHERE timestampNs = ?", times[begin : begin + 4])
    has_period = len(times) >= FEWEST_TIMES
    return gone_from(f"4 times of {name} from {times[begin][0]}", has_period)


@registering(whole, DATABASE, TEXT)("ranks")
def rank(folder: Path, source: random.Random) -> Taken:
    """One of several ranks: its folder is gone."""
    found = sorted(path for path in folder.iterdir() if path.is_dir())
    if len(found) < 3:
        return None
    gone = source.choice(found[:-1])
    shutil.rmtree(gone)
    return gone.name


@registering(whole, DATABASE)("file")
def file_next_to_a_database(folder: Path, source: random.Random) -> Taken:
    found = sorted(folder.rglob("analysis.db"))
    if not found:
        return None
    gone = source.choice(found)
    gone.unlink()
    return gone.name
