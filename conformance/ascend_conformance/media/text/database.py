"""The database of facts: private, in this process, without a way out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa

from ascend_spec import per_spec
from ascend_spec.core import packaged

from ...compare.sql import quoted, text_literal
from ...engine.relations.views import Dialect
from .functions import functions

MEMORY = "240MB"
"""What DuckDB may hold before it moves rows to the temporary folder."""

SETTINGS: Mapping[str, str | int] = {
    "memory_limit": MEMORY,
    "preserve_insertion_order": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


BATCH = 50_000
"""Rows that are handed over at once."""


@per_spec
def fact_tables() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The documented tables by schema and name (``facts.yaml``)."""
    found: Mapping[str, Mapping[str, Mapping[str, Any]]] = packaged(__package__, "facts.yaml")
    return found


Types: TypeAlias = Mapping[str, str]
"""Columns in their order, with their SQL types."""


class KnownTables:
    """The columns of tables that were looked up, by ``schema.table``; for several threads.

    A look-up plans a query on the catalog or, of a view, all that it reads.
    """

    def __init__(self, columns: Mapping[str, Types] | None = None) -> None:
        self._lock = Lock()
        self._turn = 0
        self._columns = dict(columns or {})

    def copy(self) -> KnownTables:
        """What is known now, for changes that will be undone."""
        with self._lock:
            return KnownTables(self._columns)

    def columns(self, table: str, look_up: Callable[[], Types]) -> Types:
        """The columns of a table; none where there is no such table."""
        turn = self._turn
        found = self._columns.get(table)  # at once: another thread may forget it
        if found is None:
            found = look_up()
            with self._lock:
                if turn == self._turn:
                    self._columns[table] = found
        return found

    def forget(self, table: str) -> None:
        """A table was made, changed or dropped."""
        with self._lock:
            self._turn += 1
            self._columns.pop(table, None)


class Facts:
    """The open database; queries go to :attr:`connection`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, known: KnownTables | None = None
    ) -> None:
        self.connection = connection
        self._seen: dict[tuple[str, str, int, int], tuple[str, ...]] = {}
        self._known = known

    @contextmanager
    def another(self) -> Iterator[Facts]:
        """The same facts for another thread, without transactions and temporary tables of this."""
        with closing(self.connection.cursor()) as connection:
            yield Facts(connection, self._known)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """What is changed inside is afterwards as it was."""
        self.connection.execute("BEGIN")
        before = self._known
        self._known = before and before.copy()
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")
            self._known = before

    def settle(self) -> None:
        """From now on each query has one thread, no setting changes, and :meth:`define` alone makes
        or changes tables.
        """
        self.connection.execute("SET threads = 1")
        self.connection.execute("SET lock_configuration = true")
        self._known = KnownTables()

    def define(self, table: str, statement: str) -> None:
        """Run a statement that makes, changes or drops a table or view, ``schema.table``."""
        self.connection.execute(statement)
        if self._known is not None:
            self._known.forget(table)

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.connection.execute(query, list(values)).fetchall()

    def value(self, query: str, values: Sequence[object] = ()) -> Any:
        """The first value of a query's only row; ``None`` without a row."""
        rows = self.rows(query, values)  # all of them: an open result keeps the connection busy
        return rows[0][0] if rows else None

    def count(self, table: str, file: int) -> int:
        """The rows that a table has of a file."""
        return int(self.value(f"SELECT count(*) FROM {table} WHERE file = ?", (file,)))

    def add(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        """Append rows to a documented table, values in the order of its columns."""
        schema, _, name = table.partition(".")
        types = fact_tables()[schema][name]["columns"].values()
        # Not by Arrow, which imports pandas for the first Python list that it meets.
        lists = ", ".join(f"unnest(?::{kind}[])" for kind in types)
        for begin in range(0, len(rows), BATCH):
            columns = [list(values) for values in zip(*rows[begin : begin + BATCH], strict=True)]
            self.connection.execute(f"INSERT INTO {table} SELECT {lists}", columns)

    def scan(
        self,
        name: str,
        source: pa.Table | pa.RecordBatchReader,
        query: str,
        defines: str | None = None,
    ) -> None:
        """Run a statement that reads an Arrow table or stream under a name, and may define a
        table with it.
        """
        self.connection.register(name, source)
        try:
            if defines is None:
                self.connection.execute(query)
            else:
                self.define(defines, query)
        finally:
            self.connection.unregister(name)

    def columns(self, table: str) -> tuple[str, ...]:
        """The columns of ``schema.table``; none where there is no such table."""
        return tuple(self.types(table))

    def types(self, table: str) -> Types:
        """As :meth:`columns`, each with its SQL type."""

        def look_up() -> Types:
            schema, _, name = table.partition(".")
            # Asked first: a query on a table that is not there would end a transaction.
            found = self._found(" WHERE schema_name = ? AND table_name = ?", schema, name)
            return self._described(schema, name) if found else {}

        return look_up() if self._known is None else self._known.columns(table, look_up)

    def tables(self) -> dict[str, frozenset[str]]:
        """Every table and view as ``schema.table``, with its columns."""
        return {f"{row[0]}.{row[1]}": frozenset(self._columns_of(*row)) for row in self._found()}

    def _found(self, where: str = "", *values: str) -> list[tuple[Any, ...]]:
        """Tables and views: schema, name, and what changes with their columns."""
        of_memory = "WHERE database_name = 'memory' AND NOT internal"
        select = (
            "SELECT schema_name, table_name, table_oid, column_count FROM duckdb_tables() "
            f"{of_memory} UNION ALL SELECT schema_name, view_name, view_oid, column_count "
            f"FROM duckdb_views() {of_memory}"
        )
        return self.rows(f"SELECT * FROM ({select}){where}", values)

    def _columns_of(self, schema: str, name: str, number: int, count: int) -> tuple[str, ...]:
        """The columns of a table or view; duckdb_columns() would look into all other views, too."""
        version = (schema, name, number, count)
        if version not in self._seen:
            self._seen[version] = tuple(self._described(schema, name))
        return self._seen[version]

    def _described(self, schema: str, name: str) -> Types:
        found = self.connection.execute(f"FROM {quoted(schema)}.{quoted(name)} LIMIT 0")
        return {entry[0]: str(entry[1]) for entry in found.description or ()}


class AskedOfFacts:
    """What relations are judged in, where that is in the facts."""

    dialect: Dialect = "duckdb"
    facts: Facts

    def rows(self, query: str) -> Iterable[tuple[Any, ...]]:
        """The rows of a SELECT."""
        cursor = self.facts.connection.execute(query)
        while batch := cursor.fetchmany(10_000):
            yield from batch

    def values(self, query: str, columns: int, rows: int) -> Sequence[tuple[Any, ...]]:
        """The first rows of a SELECT."""
        return self.facts.rows(query)[:rows]


def _create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    for schema in ("raw", "csv", "db", "lean", *fact_tables()):
        connection.execute(f"CREATE SCHEMA {schema}")
    for schema, tables in fact_tables().items():
        for name, table in tables.items():
            if not table["summary"].startswith("View "):
                columns = ", ".join(
                    f"{quoted(column)} {kind}" for column, kind in table["columns"].items()
                )
                connection.execute(f"CREATE TABLE {schema}.{quoted(name)} ({columns})")


@contextmanager
def open_facts(threads: int = 1) -> Iterator[Facts]:
    """An empty database of facts, gone with its temporary folder when the block ends."""
    with (
        TemporaryDirectory(prefix=".ascend-ref-") as folder,
        closing(duckdb.connect(":memory:", config={**SETTINGS, "threads": threads})) as connection,
    ):
        connection.execute(f"SET temp_directory = {text_literal(folder)}")
        connection.execute("SET enable_external_access = false")
        _create_tables(connection)
        for function in functions():
            connection.execute(function)
        yield Facts(connection)
