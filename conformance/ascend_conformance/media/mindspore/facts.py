"""The facts of one folder: a private SQLite database that the rules ask.

Filled once from the files; it spills to a temporary file, so that memory stays flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import apsw

from ascend_spec import mindspore_catalog, per_spec
from ascend_spec.core import packaged
from ascend_spec.mindspore import IntermediateFile

from ...compare.sql import quoted

CACHE_KIB = 64_000

PLACE = ("file", "line", "offset")
"""Columns that come first in each table: where a row stands."""

HAS_ROWS = ("csv", "lines", "number")
"""Forms of intermediate files whose rows are facts."""

SqlValue = int | float | str | None


@per_spec
def fact_tables() -> Mapping[str, Sequence[str]]:
    """The columns of each table, without those of the place (``facts.yaml``, mindspore/tables)."""
    stated = {
        name: tuple(document["columns"])
        for name, document in packaged(__package__, "facts.yaml").items()
    }
    files = mindspore_catalog().tables.values()
    return {**stated, **{one.table: own_columns(one) for one in files if one.form in HAS_ROWS}}


def own_columns(table: IntermediateFile) -> Sequence[str]:
    """The columns of an intermediate file that is read row by row, those of all days.

    ``end`` is 1 for a row that sums up the others. SQL takes capitals for small letters.
    """
    found: dict[str, str] = {}
    for one in table.all_columns:
        if one.each is None:
            name = one.name.replace(" ", "_")
            is_taken = found.get(name.casefold(), name) != name
            name = f"{name}_" if is_taken else name
            found[name.casefold()] = name
    return (*found.values(), "end")


class Facts:
    """The open database. Rows are only added; queries go to :attr:`connection`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        for name, columns in fact_tables().items():
            # Without declared types SQLite keeps integers, reals and texts apart as they are.
            names = ", ".join(quoted(column) for column in (*PLACE, *columns))
            connection.execute(f"CREATE TABLE {name} ({names})")
        for name, query in views().items():
            connection.execute(f"CREATE TEMP VIEW {name} AS {query}")

    def rows(self, query: str, bindings: Sequence[SqlValue] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.connection.execute(query, tuple(bindings)).fetchall()

    def value(self, query: str, bindings: Sequence[SqlValue] = ()) -> Any:
        """The first value of a query; ``None`` without a row."""
        return next((row[0] for row in self.rows(query, bindings)), None)

    def add(self, table: str, rows: Iterable[Sequence[SqlValue]]) -> None:
        """Append rows to a table, values in the order of its columns, those of the place first."""
        marks = ", ".join("?" * (len(PLACE) + len(fact_tables()[table])))
        with self.connection:
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


@per_spec
def views() -> Mapping[str, str]:
    """Queries that several rules share, by the name of the view (``views.yaml``)."""
    return dict(packaged(__package__, "views.yaml"))


@contextmanager
def open_facts() -> Iterator[Facts]:
    """An empty database of facts, gone when the block ends."""
    with closing(apsw.Connection("")) as connection:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        yield Facts(connection)
