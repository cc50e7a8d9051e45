"""What is wrong with a specimen, found without the generator: plain Python and SQL.

``structural`` judges values against the spec, column by column; ``broken`` runs queries that return
the rows which break an invariant. Both answer with sentences, none when all is well.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from ascend_spec import Schema
from ascend_spec.db.model import Column

Tables = Mapping[str, Mapping[str, Sequence[object]]]

STORAGE = {int: "integer", float: "real", str: "text", bytes: "blob"}


def load(tables: Tables, schema: Schema) -> sqlite3.Connection:
    """The columns in a database in memory, without constraints; absent tables are empty."""
    connection = sqlite3.connect(":memory:")
    for name, table in schema.tables.items():
        names = ", ".join(f'"{column}"' for column in table.columns)
        connection.execute(f"CREATE TABLE {name} ({names})")
        if name in tables:
            rows = zip(*tables[name].values(), strict=True)
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return connection


def structural(tables: Tables, schema: Schema) -> Iterator[str]:
    for name, table in schema.tables.items():
        if name not in tables:
            continue
        if list(tables[name]) != list(table.columns):
            yield f"{name}: columns {list(tables[name])} instead of {list(table.columns)}"
            continue
        lengths = {len(values) for values in tables[name].values()}
        if len(lengths) != 1 or lengths == {0}:
            yield f"{name}: columns of lengths {lengths}"
        if table.rows == "one" and lengths != {1}:
            yield f"{name}: not one row"
        for column in table.columns.values():
            for fault in _column_faults(tables, name, column):
                yield f"{name}.{column.name}: {fault}"


def _column_faults(tables: Tables, table: str, column: Column) -> Iterator[str]:
    values = tables[table][column.name]
    if column.primary_key and len(set(values)) < len(values):
        yield "key repeats"
    targets = [
        set(tables[place.partition(".")[0]][place.partition(".")[2]])
        for place in column.references
        if place.partition(".")[0] in tables
    ]
    texts = dict(zip(*tables["STRING_IDS"].values(), strict=True)) if "STRING_IDS" in tables else {}
    for value in values:
        if value is None:
            if not column.nullable:
                yield "NULL"
            continue
        stored = STORAGE.get(type(value))
        whole = isinstance(value, float) and value.is_integer() and "integer" in column.storage
        if stored not in column.storage and not whole:
            yield f"{value!r} is {stored}, not {column.storage}"
            continue
        if value in column.none:
            continue
        if not isinstance(value, str):
            if column.minimum is not None and value < column.minimum:
                yield f"{value!r} below {column.minimum}"
            if column.maximum is not None and value > column.maximum:
                yield f"{value!r} above {column.maximum}"
        if targets and not any(value in target for target in targets):
            yield f"{value!r} stands in none of {column.references}"
        if column.members:
            text = value if isinstance(value, str) else texts.get(value)
            if text not in column.members:
                yield f"{text!r} is none of {column.members}"


def broken(connection: sqlite3.Connection, invariants: Mapping[str, str]) -> Iterator[str]:
    """The invariants that do not hold, each with its first witnesses."""
    for name, query in invariants.items():
        witnesses = connection.execute(query).fetchmany(3)
        if witnesses:
            yield f"{name}: {witnesses}"
