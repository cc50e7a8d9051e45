"""Totals of a written profiler database, by plain SQL that knows nothing of the simulator."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

KERNELS = "SELECT startNs, endNs FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)"
OPERATORS = "SELECT startNs, endNs FROM COMMUNICATION_OP"


def rows(database: Path, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql, values).fetchall()


def has(database: Path, table: str) -> bool:
    return bool(rows(database, "SELECT 1 FROM sqlite_master WHERE name = ?", [table]))


def covered(database: Path, sources: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Length of the union of all intervals of a step, and from its first start to its last end."""
    if not sources:
        return 0, 0
    sql = f"""
        WITH part(a, b) AS (
            SELECT * FROM ({" UNION ALL ".join(sources)}) WHERE startNs >= ? AND startNs < ?
        ),
        reach(a, b, before) AS (
            SELECT a, b, max(b) OVER (
                ORDER BY a, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) FROM part
        )
        SELECT total(max(b - max(a, ifnull(before, a)), 0)), max(b) - min(a) FROM reach
    """
    ((length, extent),) = rows(database, sql, [start, end])
    return int(length), extent or 0


def steps_in(database: Path) -> list[dict[str, int]]:
    """Computing, communication, what of it is not overlapped, and free time of every step."""
    kernels = [KERNELS] if has(database, "COMPUTE_TASK_INFO") else []
    operators = [OPERATORS] if has(database, "COMMUNICATION_OP") else []
    found = []
    for number, start, end in rows(
        database, "SELECT id, startNs, endNs FROM STEP_TIME ORDER BY id"
    ):
        computing, _ = covered(database, kernels, start, end)
        communication, _ = covered(database, operators, start, end)
        either, extent = covered(database, kernels + operators, start, end)
        found.append(
            {
                "step": number,
                "start_ns": start,
                "end_ns": end,
                "computing_ns": computing,
                "communication_ns": communication,
                "communication_not_overlapped_ns": either - computing,
                "free_ns": extent - either,
            }
        )
    return found


def operators_in(database: Path) -> dict[str, tuple[int, int]]:
    """Count and time of the compute operators by name."""
    sql = """
        SELECT s.value, count(*), sum(t.endNs - t.startNs) FROM COMPUTE_TASK_INFO c
        JOIN TASK t USING (globalTaskId) JOIN STRING_IDS s ON s.id = c.name GROUP BY s.value
    """
    found = rows(database, sql) if has(database, "COMPUTE_TASK_INFO") else []
    return {name: (count, time) for name, count, time in found}


def traffic_in(database: Path) -> dict[str, tuple[int, int]]:
    """Operators of every group, and the Byte that their tasks moved to other ranks."""
    if not has(database, "COMMUNICATION_OP"):
        return {}
    sql = """
        SELECT s.value, count(DISTINCT opId),
               sum(CASE WHEN dstRank NOT IN (srcRank, 4294967295) THEN size ELSE 0 END)
        FROM COMMUNICATION_TASK_INFO c JOIN STRING_IDS s ON s.id = c.groupName GROUP BY s.value
    """
    return {name: (count, size) for name, count, size in rows(database, sql)}


def tasks_in(database: Path) -> tuple[int, int]:
    """Rows of TASK and CANN_API."""
    sql = "SELECT (SELECT count(*) FROM TASK), (SELECT count(*) FROM CANN_API)"
    ((tasks, calls),) = rows(database, sql)
    return tasks, calls
