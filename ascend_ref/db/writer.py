"""Writing a profile database from columns, in bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ascend_ref.atomic import atomic_file
from ascend_ref.spill import Spill
from ascend_spec import Schema
from ascend_spec.db.model import Table

from . import packing
from .bulk import BulkConnection, connect_bulk, disk_errors
from .columns import BoundColumn, ColumnTables, Values, bind
from .ddl import create_indexes, create_table, creation_order, version_facts

Progress: TypeAlias = Callable[[str, int], None]
"""Called with a table and the number of its rows that have just been written."""

LOAD_PRAGMAS = (
    "page_size = 4096",
    "encoding = 'UTF-8'",
    "journal_mode = OFF",
    "synchronous = OFF",
    "locking_mode = EXCLUSIVE",
    "cache_size = -65536",
)
"""The file is new and private until it is renamed: a crash costs nothing but the work."""

BATCH_ROWS = 1 << 17
ROWS_PER_INSERT = 16


def write_database(
    path: Path,
    schema: Schema,
    tables: ColumnTables,
    *,
    indexes: bool = True,
    progress: Progress | None = None,
    spill: Spill | None = None,
) -> None:
    """Write ``tables`` as the database that an exporter of ``schema`` would leave.

    A table that exists ``always`` is created even without rows, any other only with rows, as the
    exporters do. Enum tables and META_DATA are filled from the spec unless they are given. Rows of
    a table with a key are stored in the order of the key. The same input gives the same bytes.
    ``spill``: has columns in files, which are let go of batch by batch.

    ``path`` appears, or is replaced, only when the database is complete. Raises ``ValueError``,
    naming the place, for an unknown table or column, a missing column, columns of unequal length
    and values that cannot be stored; ``OSError`` where the folder cannot be written or the
    disk is full.
    """
    spill = spill or Spill()
    bound = [
        (table, _bind_table(table, given, spill))
        for table, given in _with_defaults(schema, tables)
        if table.carriers[schema.carrier] == "always" or any(map(len, given.values()))
    ]
    if not bound:
        raise ValueError(
            f"tables: nothing to write; expected rows in one of {', '.join(schema.tables)}"
        )
    with atomic_file(path) as draft:
        with disk_errors(path):
            _fill(Path(draft.name), schema, bound, spill, indexes=indexes, progress=progress)
        for suffix in ("-journal", "-wal", "-shm"):
            # Left by the file that is replaced; SQLite would apply them to the new one.
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _with_defaults(
    schema: Schema, tables: ColumnTables
) -> Iterator[tuple[Table, Mapping[str, Values]]]:
    unknown = sorted(tables.keys() - schema.tables.keys())
    if unknown:
        raise ValueError(
            f"tables: {unknown[0]!r} is not in a {schema.carrier} database of "
            f"{schema.revision.id}; allowed: {', '.join(schema.tables)}"
        )
    for table in creation_order(schema):
        if table.name in tables:
            yield table, tables[table.name]
        elif table.name in schema.enums:
            members = schema.enums[table.name]
            yield table, {"id": list(members), "name": list(members.values())}
        elif table.name == "META_DATA":
            facts = version_facts(schema.revision.schema_version)
            yield table, {"name": list(facts), "value": list(facts.values())}
        else:
            yield table, dict.fromkeys(table.columns, ())


def _bind_table(table: Table, given: Mapping[str, Values], spill: Spill) -> tuple[BoundColumn, ...]:
    """The columns in the order of the table; rows in the order of its key."""
    if given.keys() != table.columns.keys():
        wrong = sorted(given.keys() ^ table.columns.keys())[0]
        fault = "unknown" if wrong in given else "missing"
        raise ValueError(
            f"tables: {table.name}.{wrong} is {fault}; expected exactly {', '.join(table.columns)}"
        )
    lengths = {len(values) for values in given.values()}
    if len(lengths) > 1:
        found = ", ".join(f"{name} {len(values)}" for name, values in given.items())
        raise ValueError(f"tables: {table.name} has columns of unequal length: {found}")
    columns = tuple(bind(given[name], f"{table.name}.{name}", spill) for name in table.columns)
    key = next((name for name, column in table.columns.items() if column.primary_key), None)
    if key is None or not lengths or lengths == {0}:
        return columns
    place = f"{table.name}.{key}"
    order = _key_order(columns[list(table.columns).index(key)], place, spill)
    return columns if order is None else tuple(column.take(order) for column in columns)


def _key_order(key: BoundColumn, place: str, spill: Spill) -> np.ndarray[Any, Any] | None:
    """The order of rows in which the key ascends; ``None`` where it already does."""
    values = key.integers
    if values is None:
        raise ValueError(f"{place}: a key; expected an integer in every row")
    pairs = spill.batches(len(values) - 1)
    if all((values[one.start + 1 : one.stop + 1] > values[one]).all() for one in pairs):
        return None
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if repeated.size:
        raise ValueError(f"{place}: {ordered[repeated[0]]} stands twice; expected unique keys")
    return order


def _fill(
    path: Path,
    schema: Schema,
    tables: Iterable[tuple[Table, tuple[BoundColumn, ...]]],
    spill: Spill,
    *,
    indexes: bool,
    progress: Progress | None,
) -> None:
    with connect_bulk(path, mode="rwc") as connection:
        for pragma in LOAD_PRAGMAS:
            connection.run(f"PRAGMA {pragma}")
        with connection.transaction():
            filled = list(tables)
            for table, columns in filled:
                connection.run(create_table(table, schema))
                for rows in _insert(connection, table, columns, spill):
                    spill.release()
                    if progress is not None:
                        progress(table.name, rows)
            for table, _ in filled if indexes else ():
                for statement in create_indexes(table):
                    connection.run(statement)


def _insert(
    connection: BulkConnection, table: Table, columns: Sequence[BoundColumn], spill: Spill
) -> Iterator[int]:
    """Insert batch by batch; yields the number of rows of each."""
    rows = len(columns[0].parts[0])
    if not rows:
        return
    integers = [column.integers for column in columns]
    packed = [values for values in integers if values is not None]
    layout = packing.plan(packed, spill) if len(packed) == len(columns) else None
    if layout is not None and not layout.words:
        layout = None
    for start in range(0, rows, BATCH_ROWS):
        stop = min(start + BATCH_ROWS, rows)
        if layout is None:
            _insert_plain(connection, table, columns, start, stop)
        else:
            _insert_packed(connection, table, layout, [values[start:stop] for values in packed])
        yield stop - start


def _insert_plain(
    connection: BulkConnection, table: Table, columns: Sequence[BoundColumn], start: int, stop: int
) -> None:
    parameters: list[Any] = []
    expressions: list[str] = []
    for column in columns:
        first = len(parameters) + 1
        parameters += (part.slice(start, stop - start) for part in column.parts)
        numbers = ",".join(f"?{number}" for number in range(first, len(parameters) + 1))
        expressions.append(f"coalesce({numbers})" if len(column.parts) > 1 else numbers)
    _run(connection, f"INSERT INTO {table.name} VALUES({','.join(expressions)})", parameters)


def _insert_packed(
    connection: BulkConnection,
    table: Table,
    layout: packing.Packing,
    columns: Sequence[packing.Integers],
) -> None:
    """Whole groups of rows in one statement each, the rest row by row."""
    words = layout.pack(columns)
    whole = len(words[0]) // ROWS_PER_INSERT * ROWS_PER_INSERT
    for group, part in (
        (ROWS_PER_INSERT, [word[:whole] for word in words]),
        (1, [word[whole:] for word in words]),
    ):
        if not part[0].size:
            continue
        rows = ",".join(
            f"({','.join(field.expression(1 + row * layout.words) for field in layout.fields)})"
            for row in range(group)
        )
        parameters = [pa.array(word[row::group]) for row in range(group) for word in part]
        _run(connection, f"INSERT INTO {table.name} VALUES{rows}", parameters)


def _run(connection: BulkConnection, statement: str, parameters: Sequence[Any]) -> None:
    names = [str(number) for number in range(1, len(parameters) + 1)]
    connection.run(statement, pa.RecordBatch.from_arrays(parameters, names))
