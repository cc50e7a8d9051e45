"""The SQL script builds, in a plain SQLite, exactly the schema that the spec states."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from ascend_ref.tools.spec.exports import export_ddl
from ascend_spec import Schema, catalog
from ascend_spec.db.model import CARRIERS, Carrier


def built(schema: Schema) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(export_ddl(schema))
    return connection


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("revision", [revision.id for revision in catalog().revisions])
def test_the_script_builds_the_schema(carrier: Carrier, revision: str) -> None:
    schema = catalog().at(revision, carrier)
    connection = built(schema)
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    assert {name for (name,) in names} == set(schema.tables)
    for table in schema.tables.values():
        held = connection.execute(f"PRAGMA table_info({table.name})").fetchall()
        assert [(name, declared, bool(key)) for _, name, declared, _, _, key in held] == [
            (column.name, column.declared, column.primary_key) for column in table.columns.values()
        ]
        indexes = {
            name: tuple(row[2] for row in connection.execute(f"PRAGMA index_info({name})"))
            for _, name, *_ in connection.execute(f"PRAGMA index_list({table.name})")
        }
        assert indexes == dict(table.indexes)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_script_fills_the_enum_tables(carrier: Carrier) -> None:
    schema = catalog().at("1.2.0-2026-07", carrier)
    connection = built(schema)
    for enum, members in schema.enums.items():
        assert dict(connection.execute(f"SELECT id, name FROM {enum}")) == dict(members)


def test_a_member_with_a_quote_stays_one_text() -> None:
    schema = catalog().at("1.2.0-2026-07", "msprof")
    hostile = replace(schema, enums={"ENUM_MODULE": {1: "it's; DROP TABLE TASK; --"}})
    rows = built(hostile).execute("SELECT id, name FROM ENUM_MODULE").fetchall()
    assert rows == [(1, "it's; DROP TABLE TASK; --")]
