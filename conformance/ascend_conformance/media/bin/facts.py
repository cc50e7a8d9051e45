"""The facts of one file: a private SQLite database that the rules ask.

Filled once from the blocks; it spills to a temporary file, so that memory stays flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

import apsw

from ascend_spec import per_spec
from ascend_spec.core import packaged

from .flatten import FactTable, SqlValue, fact_tables

CACHE_KIB = 64_000
GROUPS = 50_000
"""Groups counted in memory before they are written; what is written in parts is summed by SQL."""

ROWS = 1_000_000
GROUPED_ROWS = 5_000_000
"""Rows of one payload that a table takes; what real files hold is far below."""

IMPLICIT = ("block", "code", "pointer")
"""Columns that come before those which a fact table declares."""


@per_spec
def plain_tables() -> Mapping[str, tuple[str, ...]]:
    """Tables that are filled in Python, with their columns (``tables.yaml``)."""
    return {name: tuple(document["columns"]) for name, document in _document("tables.yaml").items()}


@per_spec
def views() -> Mapping[str, str]:
    """Queries that several rules share, by the name of the view (``views.yaml``)."""
    return dict(_document("views.yaml"))


def _document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = packaged(__package__, name)
    return found


class Facts:
    """The open database. Rows are only added; queries go to :attr:`connection`.

    ``overrun`` names the tables that could not take all rows.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.overrun: set[str] = set()
        for table in fact_tables().values():
            times = ["times"] if table.grouped else []
            self._create(table.name, [*IMPLICIT, *table.columns, *times])
        for name, columns in plain_tables().items():
            self._create(name, columns)
        for name, query in views().items():
            connection.execute(f"CREATE TEMP VIEW {name} AS {query}")

    def _create(self, name: str, columns: Sequence[str]) -> None:
        # Without declared types SQLite keeps integers, reals and texts apart as they are.
        self.connection.execute(f"CREATE TABLE {name} ({', '.join(map(_quoted, columns))})")

    def rows(self, query: str, bindings: Sequence[SqlValue] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.connection.execute(query, tuple(bindings)).fetchall()

    def add(self, table: str, rows: Iterable[Sequence[SqlValue]]) -> None:
        """Append rows to a table, values in the order of its columns."""
        source = iter(rows)
        first = next(source, None)
        if first is None:
            return
        marks = ", ".join("?" * len(first))
        statement = f"INSERT INTO {table} VALUES ({marks})"
        with self.connection:
            self.connection.execute(statement, first)
            while batch := list(islice(source, 10_000)):
                self.connection.executemany(statement, batch)

    def add_grouped(self, table: str, rows: Iterable[Sequence[SqlValue]], places: int = 1) -> None:
        """Append rows of which equal ones are counted in the last column, ``times``.

        A row is block, code, then ``places`` columns that say where it stands, of which the first
        of equal rows is kept, then the values.
        """
        groups: dict[tuple[SqlValue, ...], list[Any]] = {}
        for row in rows:
            key = (*row[:2], *row[2 + places :])
            group = groups.setdefault(key, [row[2 : 2 + places], 0])
            group[1] += 1
            if len(groups) >= GROUPS:
                self.add(table, _counted(groups))
                groups = {}
        self.add(table, _counted(groups))

    def add_payload(self, block: int, code: int, payload: Any) -> None:
        """The rows of every fact table that a JSON payload of this type holds."""
        for table in fact_tables().values():
            if code in table.blocks:
                rows = _rows(table, block, code, payload)
                if table.grouped:
                    self.add_grouped(table.name, islice(rows, GROUPED_ROWS))
                else:
                    self.add(table.name, islice(rows, ROWS))
                if next(rows, None) is not None:
                    self.overrun.add(table.name)


def _rows(table: FactTable, block: int, code: int, payload: Any) -> Iterator[list[SqlValue]]:
    for pointer, values in table.rows(payload):
        yield [block, code, pointer, *values]


def _counted(groups: Mapping[tuple[SqlValue, ...], list[Any]]) -> Iterator[list[SqlValue]]:
    for (block, code, *values), (places, times) in groups.items():
        yield [block, code, *places, *values, times]


def _quoted(name: str) -> str:
    return f'"{name}"'


@contextmanager
def open_facts() -> Iterator[Facts]:
    """An empty database of facts, gone when the block ends."""
    with closing(apsw.Connection("")) as connection:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        yield Facts(connection)
