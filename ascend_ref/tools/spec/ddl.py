"""The schema of a database as one SQL script."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.db.ddl import create_indexes, create_table, creation_order
from ascend_spec import Schema


def export_ddl(schema: Schema) -> str:
    """A script for SQLite: every table, the members of every enum table, then the indexes.

    The statements are those of the exporters. They create a table only when they have rows for it
    (``spec list`` and the table's page state when), and an index only after the rows.
    """
    tables = creation_order(schema)
    statements = [
        *(create_table(table, schema) for table in tables),
        *(
            statement
            for table in tables
            if table.name in schema.enums
            for statement in _members(schema, table.name)
        ),
        *(statement for table in tables for statement in create_indexes(table)),
    ]
    heading = f"-- {schema.carrier} database, {schema.revision.id}, {schema.reading} reading\n"
    return heading + "".join(f"{statement};\n" for statement in ("BEGIN", *statements, "COMMIT"))


def _members(schema: Schema, enum: str) -> Iterator[str]:
    for identifier, name in sorted(schema.enums[enum].items()):
        quoted = name.replace("'", "''")
        yield f"INSERT INTO {enum} (id, name) VALUES ({identifier}, '{quoted}')"
