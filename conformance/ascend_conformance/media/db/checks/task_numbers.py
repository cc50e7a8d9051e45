"""Checks of the numbers that the exporter gives to tasks.

It numbers the key of every row that has one, from 0, table after table (``db_assembler.cpp``).
Kernels and copies of the host alone get numbers that TASK lacks, and so do instructions whose key
is another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..session import Session
from ..sql import single_row
from . import Check, Fault, Places

NUMBER = "globalTaskId"
OF_THE_HOST = ("COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO")
"""Tables that are written from records of the host, whether or not the device ran the task."""


def _numbers_with_gaps(session: Session, _places: Places) -> Iterator[Fault]:
    """Numbers up to the last one in TASK that no table has."""
    if _last_of_all(session) is not None:
        return
    of_tasks = _spread(session, ("TASK",))
    if of_tasks is None or of_tasks[0] == of_tasks[2] + 1:
        return
    _, first, last = of_tasks
    within = f"WHERE {NUMBER} BETWEEN 0 AND {last}"
    here = single_row(
        session.connection, f"SELECT count(*) FROM ({_union(_holders(session), within)})"
    )[0]
    if here <= last:
        place = single_row(
            session.connection, f"SELECT min(rowid) FROM main.TASK WHERE {NUMBER} > 0"
        )[0]
        missing = last + 1 - here
        yield Fault(
            f"{missing:,} of {last + 1:,} numbers are missing",
            "TASK",
            NUMBER,
            first_rowid=place,
            context={"first": first, "last": last, "missing": missing},
        )


def _kernels_of_no_task(session: Session, _places: Places) -> Iterator[Fault]:
    """Rows without a task, where the numbers of all tables together leave gaps."""
    if not session.rows.get("TASK") or not session.layout.holds(f"TASK.{NUMBER}"):
        return
    last = _last_of_all(session)
    unknown = f"{NUMBER} NOT IN (SELECT {NUMBER} FROM main.TASK WHERE {NUMBER} IS NOT NULL)"
    if last is not None:
        unknown = f"{NUMBER} NOT BETWEEN 0 AND {last}"
    for table in OF_THE_HOST:
        if session.layout.holds(f"{table}.{NUMBER}"):
            found = f"SELECT count(*), min(rowid) FROM main.{table} WHERE {unknown}"
            count, first = single_row(session.connection, found)
            if count and _has_gaps(session):
                what = f"{count:,} rows without a task, by numbers that the exporter never gave"
                yield Fault(what, table, NUMBER, count=count, first_rowid=first)


def _has_gaps(session: Session) -> bool:
    spread = _spread(session, _holders(session))
    return spread is not None and spread[0] < spread[2] + 1


def _last_of_all(session: Session) -> int | None:
    """The last number in TASK, if it has all numbers from 0 on and nothing else."""
    if not session.layout.holds(f"TASK.{NUMBER}"):
        return None
    ranges = session.targets["TASK", NUMBER].ranges
    return ranges[0][1] if ranges and len(ranges) == 1 and ranges[0][0] == 0 else None


def _spread(session: Session, tables: tuple[str, ...]) -> tuple[int, int, int] | None:
    """How many numbers there are, the first and the last; None without any."""
    if "TASK" in tables and not session.layout.holds(f"TASK.{NUMBER}"):
        return None
    every = _union(tables, f"WHERE {NUMBER} BETWEEN 0 AND 4294967294")
    count, first, last = single_row(
        session.connection, f"SELECT count({NUMBER}), min({NUMBER}), max({NUMBER}) FROM ({every})"
    )
    return (count, first, last) if count else None


def _holders(session: Session) -> tuple[str, ...]:
    """Every table with a number."""
    return tuple(one for one in session.layout.tables if session.layout.holds(f"{one}.{NUMBER}"))


def _union(tables: tuple[str, ...], where: str) -> str:
    """The numbers of the tables, each once."""
    some = " UNION ALL ".join(f"SELECT {NUMBER} FROM main.{one} {where}" for one in tables)
    return f"SELECT DISTINCT {NUMBER} FROM ({some})"


CHECKS: Mapping[str, Check] = {
    "numbers-with-gaps": _numbers_with_gaps,
    "kernels-of-no-task": _kernels_of_no_task,
}
