"""What the description of a schema holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from db_samples import make, real

from ascend_ref.db.introspect import PhysicalColumn, PhysicalSchema, describe, quote_identifier
from ascend_ref.db.open import open_readonly


def described(path: Path) -> PhysicalSchema:
    with closing(open_readonly(path)) as connection:
        return describe(connection)


def test_columns_keys_and_indexes(tmp_path: Path) -> None:
    schema = described(
        make(
            tmp_path / "p.db",
            "PRAGMA user_version = -7",
            "CREATE TABLE A (id INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT NOT NULL DEFAULT 'x')",
            "CREATE TABLE B (x, y, PRIMARY KEY (y, x)) WITHOUT ROWID",
            "CREATE TABLE C (rowid, _ROWID_ INT PRIMARY KEY, z REAL UNIQUE)",
            "CREATE TABLE D (a INTEGER) STRICT",
            "CREATE UNIQUE INDEX by_z ON C (z, rowid) WHERE z > 0",
        )
    )
    assert (schema.user_version, schema.encoding, schema.journal_mode) == (-7, "UTF-8", "delete")
    first = schema.tables["A"]
    assert first.columns == (
        PhysicalColumn("id", "INTEGER", primary_key=1),
        PhysicalColumn("b", "TEXT", not_null=True, default="'x'"),
    )
    assert (first.rowid, first.rowid_alias) == ("rowid", "id")
    second = schema.tables["B"]
    assert (second.rowid, second.without_rowid) == (None, True)
    assert [column.primary_key for column in second.columns] == [2, 1]
    third = schema.tables["C"]
    assert (third.rowid, third.rowid_alias, third.without_rowid) == ("oid", None, False)
    assert {index.name: (index.columns, index.origin) for index in third.indexes} == {
        "by_z": (("z", "rowid"), "create"),
        "sqlite_autoindex_C_2": (("z",), "unique"),
        "sqlite_autoindex_C_1": (("_ROWID_",), "primary-key"),
    }
    assert schema.tables["D"].strict
    assert [name for name, table in schema.tables.items() if table.strict] == ["D"]


def test_tables_stand_in_the_order_of_the_schema_and_are_found_in_any_case(tmp_path: Path) -> None:
    schema = described(make(tmp_path / "p.db", "CREATE TABLE Z (A)", "CREATE TABLE a (b)"))
    assert list(schema.tables) == ["Z", "a"]
    table = schema.table("z")
    assert table is schema.tables["Z"]
    assert table is not None
    assert table.column("a") is table.columns[0]
    assert schema.table("ä") is None


def test_a_real_profile(tmp_path: Path) -> None:
    schema = described(real("level1_rank1/ascend_pytorch_profiler_1.db"))
    assert len(schema.tables) == 33
    task = schema.tables["TASK"]
    assert [index.name for index in task.indexes] == ["TaskIndex"]
    assert task.indexes[0].columns == ("startNs", "globalTaskId")
    assert schema.tables["CANN_API"].rowid_alias == "connectionId"


def test_identifiers_are_quoted() -> None:
    assert quote_identifier('a"b') == '"a""b"'
    with pytest.raises(ValueError, match="without NUL"):
        quote_identifier("a\0b")
