"""Totals of a written database, by plain SQL and sweeps in plain Python."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

Interval = tuple[int, int]
NOT_A_RANK = 4_294_967_295


def united(intervals: Iterable[Interval]) -> list[Interval]:
    """The time that intervals cover, as intervals that neither meet nor cross."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif start < end:
            found.append((start, end))
    return found


def length(intervals: Iterable[Interval]) -> int:
    return sum(end - start for start, end in united(intervals))


def step_totals(
    step: dict[str, Any], kernels: list[Interval], operators: list[Interval]
) -> dict[str, int]:
    """The totals of one step from everything that ran."""
    first, last = step["start_ns"], step["end_ns"]
    computing = [one for one in kernels if first <= one[0] < last]
    communication = [one for one in operators if first <= one[0] < last]
    either = united(computing + communication)
    busy = length(either)
    return {
        "step": step["step"],
        "start_ns": first,
        "end_ns": last,
        "computing_ns": length(computing),
        "communication_ns": length(communication),
        # What is covered by either and not by computing is covered by communication alone.
        "communication_not_overlapped_ns": busy - length(computing),
        "free_ns": either[-1][1] - either[0][0] - busy if either else 0,
    }


class Database:
    """A written database, or one device of it. Tables that it has no rows for do not exist."""

    def __init__(self, path: Path, device: int | None = None) -> None:
        self.path = path
        self.where = "TRUE" if device is None else f"deviceId = {device}"
        self.tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master")}

    def rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()

    def of(self, table: str, query: str) -> list[Any]:
        """Rows of a query; none without the table that it needs."""
        return self.rows(query) if table in self.tables else []

    def count(self, table: str) -> int:
        return sum(count for (count,) in self.of(table, f"SELECT count(*) FROM {table}"))

    def tasks(self) -> int:
        return len(self.of("TASK", f"SELECT 1 FROM TASK WHERE {self.where}"))

    def kernels(self) -> list[Interval]:
        return self.of(
            "COMPUTE_TASK_INFO",
            f"""
            SELECT startNs, endNs FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)
            WHERE {self.where}
            """,
        )

    def communication(self) -> list[Interval]:
        return self.of(
            "COMMUNICATION_OP", f"SELECT startNs, endNs FROM COMMUNICATION_OP WHERE {self.where}"
        )

    def steps(self) -> list[tuple[int, int, int]]:
        return self.of("STEP_TIME", "SELECT id, startNs, endNs FROM STEP_TIME ORDER BY id")

    def session(self) -> tuple[int, int]:
        ((start, end),) = self.rows("SELECT startTimeNs, endTimeNs FROM SESSION_TIME_INFO")
        return start, end

    def operators(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        """Count and ns of the runs of each operator, by (name, type, core)."""
        found = self.of(
            "COMPUTE_TASK_INFO",
            f"""
            SELECT named.value, typed.value, cored.value, count(*), sum(endNs - startNs)
            FROM COMPUTE_TASK_INFO AS info JOIN TASK USING (globalTaskId)
            JOIN STRING_IDS AS named ON named.id = info.name
            JOIN STRING_IDS AS typed ON typed.id = info.opType
            JOIN STRING_IDS AS cored ON cored.id = info.taskType
            WHERE {self.where} GROUP BY 1, 2, 3
            """,
        )
        return {(name, kind, core): (count, time) for name, kind, core, count, time in found}

    def groups(self) -> dict[str, int]:
        """Number of operators of each group."""
        return dict(
            self.of(
                "COMMUNICATION_OP",
                f"""
                SELECT value, count(*) FROM COMMUNICATION_OP
                JOIN STRING_IDS ON STRING_IDS.id = groupName WHERE {self.where} GROUP BY 1
                """,
            )
        )

    def bytes_by_group(self) -> dict[str, int]:
        """Byte that small tasks moved to other ranks of each group."""
        return dict(
            self.of(
                "COMMUNICATION_TASK_INFO",
                f"""
                SELECT value, sum(size) FROM COMMUNICATION_TASK_INFO
                JOIN TASK USING (globalTaskId) JOIN STRING_IDS ON STRING_IDS.id = groupName
                WHERE {self.where} AND dstRank <> srcRank AND dstRank <> {NOT_A_RANK} GROUP BY 1
                """,
            )
        )


def truth_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "truth.json").read_text())
    return found
