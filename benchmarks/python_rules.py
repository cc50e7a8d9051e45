"""The alternative to checking in SQL: fetch the rows and evaluate the same rules in Python."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ascend_conformance.engine.candidate import Candidate
from ascend_conformance.media.db.judge import judge
from ascend_conformance.media.db.opening import open_session
from ascend_conformance.media.db.session import Session
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_spec.db.model import Column

RULES = ("DB201", "DB202", "DB203", "DB204", "DB208", "DB209", "DB210", "DB211")
"""Storage class, NULL, range and references: the rules that look at every column."""

CLASSES = {"integer": int, "real": float, "text": str, "blob": bytes}
Test = Callable[[object], bool]


@dataclass(frozen=True)
class Comparison:
    """Seconds of both ways; they found the same number of bad values."""

    sql_seconds: float
    python_seconds: float


def compare_with_python_loop(path: Path) -> Comparison:
    """Judge one database both ways; raises when the findings differ."""
    with open_session(Candidate("db", path), Options()) as session:
        started = time.perf_counter()
        outcome = judge(session, Selection(select=RULES))
        sql_seconds = time.perf_counter() - started
        in_sql = sum(hit.count for hit in outcome.found)
        started = time.perf_counter()
        in_python = _count_in_python(path, session)
        python_seconds = time.perf_counter() - started
    if in_sql != in_python:
        raise AssertionError(f"SQL finds {in_sql:,} bad values, Python {in_python:,}")
    return Comparison(sql_seconds, python_seconds)


def _count_in_python(path: Path, session: Session) -> int:
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found = 0
    for name, match in session.layout.tables.items():
        columns = [match.table.columns[column] for column in match.columns]
        tests = [_tests(column, connection, session) for column in columns]
        names = ", ".join(column.name for column in columns)
        for row in connection.execute(f"SELECT {names} FROM {name}"):
            for value, column_tests in zip(row, tests, strict=True):
                for test in column_tests:
                    if not test(value):
                        found += 1
    connection.close()
    return found


def _tests(column: Column, connection: sqlite3.Connection, session: Session) -> list[Test]:
    """One closure per rule that applies to the column."""
    classes = tuple(CLASSES[kind] for kind in column.storage)
    none = frozenset(column.none)
    tests: list[Test] = []
    if not column.primary_key:
        tests.append(lambda value: value is None or isinstance(value, classes))
        if not column.nullable:
            tests.append(lambda value: value is not None)
    low, high = column.minimum, column.maximum
    if low is not None:
        tests.append(lambda value: value in none or value >= low)  # type: ignore[operator]
    if high is not None:
        tests.append(lambda value: value in none or value <= high)  # type: ignore[operator]
    held: set[object] = set()
    for target in column.references:
        table, _, key = target.partition(".")
        if session.layout.holds(target) and session.rows[table]:
            held.update(row[0] for row in connection.execute(f"SELECT {key} FROM {table}"))
    if held:
        tests.append(lambda value: value is None or value in none or value in held)
    return tests
