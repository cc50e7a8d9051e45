"""The facts of a file or folder in a private SQLite database, which rules ask.

It is filled once, and spills to a temporary file, so that memory stays flat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Literal

import apsw

from ascend_ref.db.introspect import quote_identifier

from .trials import NotBreakable

CACHE_KIB = 64_000

SqlValue = int | float | str | None

STAGED = "staged"
"""Rows that wait for what only all of them show."""


class SqliteFacts:
    """The open database. Rows are only added; queries go to :attr:`connection`."""

    def __init__(
        self,
        connection: apsw.Connection,
        tables: Mapping[str, Sequence[str]],
        views: Mapping[str, str],
    ) -> None:
        self.connection = connection
        self.tables = tables
        self._staged: dict[str, Sequence[str]] = {}
        for name, columns in tables.items():
            # Without declared types SQLite keeps integers, reals and texts apart as they are.
            connection.execute(f"CREATE TABLE {name} ({_listed(columns)})")
        for name, query in views.items():
            connection.execute(f"CREATE TEMP VIEW {name} AS {query}")

    def rows(self, query: str, bindings: Sequence[SqlValue] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.connection.execute(query, tuple(bindings)).fetchall()

    def value(self, query: str, bindings: Sequence[SqlValue] = ()) -> Any:
        """The first value of a query; ``None`` without a row."""
        return next((row[0] for row in self.rows(query, bindings)), None)

    def add(self, table: str, rows: Iterable[Sequence[SqlValue]]) -> None:
        """Append rows to a table, values in the order of its columns."""
        columns = self._staged.get(table) or self.tables[table]
        marks = ", ".join("?" * len(columns))
        with self.connection:
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def stage(self, columns: Sequence[str], name: str = STAGED) -> None:
        """An empty table beyond those of the facts, which rows can be added to."""
        self._staged[name] = columns
        self.connection.execute(f"CREATE TEMP TABLE {name} ({_listed(columns)})")

    def add_staged_to(self, table: str, query: str, name: str = STAGED) -> None:
        """Append the rows of a query, which reads the staged table; that is gone then."""
        with self.connection:
            self.connection.execute(f"INSERT INTO {table} {query}")
        self.unstage(name)

    def unstage(self, name: str = STAGED) -> None:
        """Drop a staged table."""
        del self._staged[name]
        self.connection.execute(f"DROP TABLE {name}")

    def victim(self, query: str | None) -> dict[str, Any]:
        """What the edits of a rule refer to by name: the first row of a query.

        Raises :class:`.NotBreakable` for no such row, or one that lacks a value.
        """
        if query is None:
            return {}
        cursor = self.connection.execute(f"SELECT * FROM ({query}) LIMIT 1")
        for row in cursor:
            if None not in row:
                names = [entry[0] for entry in cursor.get_description()]
                return dict(zip(names, row, strict=True))
        raise NotBreakable("there is nothing that can break so")

    def new_rows(
        self, clean: SqliteFacts, table: str, compared: Sequence[str], shown: str = "1"
    ) -> Iterator[tuple[int, Any]]:
        """The rows of a table that others do not have, by some columns, each with a value."""
        names = ", ".join(map(quote_identifier, compared))
        before = Counter(clean.rows(f"SELECT {names} FROM {table}"))
        every = f"SELECT rowid, {shown}, {names} FROM {table} ORDER BY rowid"
        for row, value, *values in self.rows(every):
            if before[tuple(values)] > 0:
                before[tuple(values)] -= 1
            else:
                yield row, value


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quote_identifier, columns))


@contextmanager
def open_sqlite(journal: Literal["OFF", "MEMORY"]) -> Iterator[apsw.Connection]:
    """An empty database, gone when the block ends. Without a journal nothing can be undone."""
    with closing(apsw.Connection("")) as connection:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("PRAGMA synchronous = OFF")
        yield connection
