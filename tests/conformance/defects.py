"""Copies of real files to damage, and what is expected of them, counted by plain SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from profiles import REAL, readable

from ascend_conformance.finding import FileReport, Finding
from ascend_spec import catalog

FOLDER = "level1_rank1"
RANK_1 = f"{FOLDER}/ascend_pytorch_profiler_1.db"
PROFILER = "ascend_pytorch_profiler_1.db"
ANALYSIS = "analysis.db"
TABLES = catalog().at("1.0.0-2025-01", "pytorch").tables
ANALYSIS_TABLES = catalog().at("1.0.0-2025-01", "analysis").tables

Bad = tuple[int, int | None]
"""Number of bad rows and the smallest rowid among them."""


def ask(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        return connection.execute(query).fetchall()


def held() -> dict[str, list[str]]:
    """Tables with rows in the real file, and their columns; nothing where it is absent."""
    path = REAL / RANK_1
    if not path.exists():
        return {}
    names = [
        str(row[0]) for row in ask(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    return {
        name: [str(row[1]) for row in ask(path, f"PRAGMA table_info({name})")]
        for name in sorted(names)
        if ask(path, f"SELECT count(*) FROM {name}")[0][0]
    }


HELD = held()
needs_real = pytest.mark.skipif(not HELD, reason=f"needs the real profiles of {REAL}")


def columns(wanted: Callable[[str, str], bool]) -> list[str]:
    """``TABLE.column`` of every column of the real file that is wanted."""
    return [
        f"{table}.{column}"
        for table, names in HELD.items()
        for column in names
        if table in TABLES and column in TABLES[table].columns and wanted(table, column)
    ]


def references(prefix: str) -> list[str]:
    return columns(
        lambda table, column: any(
            target.startswith(prefix) for target in TABLES[table].columns[column].references
        )
    )


def some_rows(table: str, where: str = "1") -> str:
    """The rowids of up to three rows that are not the first."""
    skipped = f"(SELECT count(*) > 1 FROM {table} WHERE {where})"
    return f"SELECT rowid FROM {table} WHERE {where} ORDER BY rowid LIMIT 3 OFFSET {skipped}"


def expect(
    file: FileReport, place: str, bad: Bad, verdict: str = "violation", rule: str = ""
) -> Finding:
    """The finding that names the place, the exact count and the first rowid."""
    table, _, column = place.partition(".")
    fitting = [
        finding
        for finding in file.findings
        if (finding.table, finding.column) == (table, column or None)
        and finding.verdict == verdict
        and finding.rule.startswith(rule)
        and (finding.count, finding.first_rowid) == bad
    ]
    assert fitting, [
        (finding.rule, finding.verdict, finding.place, finding.count, finding.first_rowid)
        for finding in file.findings
    ]
    if bad[1] is not None:
        assert f"rowid {bad[1]}" in fitting[0].message
    return fitting[0]


def count(path: Path, table: str, where: str) -> Bad:
    """The rows of the table for which ``where`` holds, by plain SQL."""
    ((number, first),) = ask(path, f"SELECT count(*), min(rowid) FROM {table} WHERE {where}")
    assert isinstance(number, int)
    assert isinstance(first, int)
    assert number
    return number, first


def lost(path: Path, table: str) -> dict[str, Finding]:
    """The violations, by place, that name an absent table."""
    return {
        finding.place: finding
        for finding in readable(path).findings
        if finding.verdict == "violation"
        and table in (finding.table, *finding.message.split(), *finding.expected.split())
    }


LINKED = "taskType NOT IN (SELECT id FROM STRING_IDS WHERE value GLOB 'PROFILING_*')"
