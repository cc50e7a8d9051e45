"""Reading: types, order, mixed and broken values, memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from db_samples import contents, make, real, run_sql

from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.db.reader import read_columns, read_database, read_rows, stream_columns
from ascend_ref.db.writer import write_database
from ascend_spec import catalog


def whole(path: Path, table: str, *columns: str, batch_rows: int = 4) -> pa.Table:
    return pa.Table.from_batches(
        list(read_columns(path, table, columns or None, batch_rows=batch_rows))
    )


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return make(
        tmp_path / "p.db",
        "CREATE TABLE T (i INTEGER, n NUMERIC, t TEXT, b BLOB, any, empty TEXT, late)",
        *(f"INSERT INTO T VALUES ({n}, {n}, 't{n}', x'0{n}', {n}, NULL, NULL)" for n in range(9)),
        "INSERT INTO T VALUES (NULL, 9007199254740993, NULL, NULL, 'text', NULL, 'late')",
        "INSERT INTO T VALUES (-1, 0.5, CAST(x'41ff' AS TEXT), x'', x'ff', NULL, NULL)",
    )


def test_columns_have_the_type_of_their_values(mixed: Path) -> None:
    table = whole(mixed, "T")
    assert table.schema.field("i").type == pa.int64()
    assert table.schema.field("t").type == pa.string()
    assert table.schema.field("b").type == pa.binary()
    assert table.schema.field("empty").type == pa.string()
    assert table.schema.field("late").type == pa.string()
    assert pa.types.is_union(table.schema.field("n").type)
    assert pa.types.is_union(table.schema.field("any").type)


def test_nothing_is_lost_where_types_are_mixed(mixed: Path) -> None:
    rows = list(read_rows(mixed, "t"))
    assert [row["n"] for row in rows] == [*range(9), 2**53 + 1, 0.5]
    assert [row["any"] for row in rows] == [*range(9), "text", b"\xff"]
    assert [row["i"] for row in rows] == [*range(9), None, -1]
    assert [row["late"] for row in rows] == [None] * 9 + ["late", None]
    assert rows[-1]["t"] == "A\ufffd"


def test_columns_are_selected_and_ordered(mixed: Path) -> None:
    assert whole(mixed, "T", "t", "I").column_names == ["t", "i"]
    with pytest.raises(ValueError, match="T has no 'x'; allowed: i, n, t"):
        whole(mixed, "T", "x")
    for name in ("U", "sqlite_schema", "T'; DROP TABLE T; --"):
        with pytest.raises(ValueError, match="; allowed: T"):
            whole(mixed, name)


def test_rows_come_in_the_order_of_the_rowids_and_not_of_an_index(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db",
        "CREATE TABLE T (a, b)",
        "CREATE INDEX covering ON T (a)",
        "INSERT INTO T VALUES (3, 1), (1, 2), (2, 3)",
    )
    assert [row["a"] for row in whole(path, "T", "a").to_pylist()] == [3, 1, 2]


def test_an_empty_table_has_no_batches(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", "CREATE TABLE T (a)")
    assert list(read_columns(path, "T")) == []
    assert list(read_rows(path, "T")) == []


def test_odd_names_and_texts(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db",
        """CREATE TABLE "a""b'c" ("x""y" TEXT, "select")""",
        """INSERT INTO "a""b'c" VALUES ('line' || char(10, 0, 233, 128512), 1)""",
    )
    assert list(read_rows(path, "a\"b'c")) == [{'x"y': "line\n\0é😀", "select": 1}]
    wide = make(
        tmp_path / "wide.db",
        "PRAGMA encoding = 'UTF-16be'",
        "CREATE TABLE T (a TEXT)",
        "INSERT INTO T VALUES ('é😀')",
    )
    assert list(read_rows(wide, "T")) == [{"a": "é😀"}]


def test_a_stream_of_one_type_per_column(mixed: Path) -> None:
    batches = list(
        stream_columns(mixed, "SELECT rowid AS r, CAST(t AS TEXT) AS t FROM T", batch_rows=3)
    )
    assert [name for batch in batches for name in batch.schema.names][:2] == ["r", "t"]
    assert sum(batch.num_rows for batch in batches) == 11
    with pytest.raises(UnreadableDatabase, match="expected rows of one type per column"):
        list(stream_columns(mixed, "SELECT n FROM T", batch_rows=2))
    with pytest.raises(UnreadableDatabase, match="no such table"):
        next(stream_columns(mixed, "SELECT * FROM absent"))


def test_a_stream_can_be_left_early_and_leaves_no_trace(mixed: Path) -> None:
    before = contents(mixed.parent)
    stream = stream_columns(mixed, "SELECT i FROM T", batch_rows=2)
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # a generator
    assert contents(mixed.parent) == before


def test_a_damaged_page_is_an_error_not_an_end(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db",
        "CREATE TABLE T (a)",
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000) "
        "INSERT INTO T SELECT i FROM n",
    )
    sound = path.read_bytes()
    path.write_bytes(sound[: -4096 * 2] + b"\xff" * 4096 + sound[-4096:])
    with pytest.raises(UnreadableDatabase, match="malformed"):
        list(read_rows(path, "T"))


def test_columns_that_the_schema_does_not_know_are_left_out() -> None:
    schema = catalog().at("1.0.0-2025-01", "pytorch")
    tables = read_database(real("level1_rank0/ascend_pytorch_profiler_0.db"), schema)
    assert "depth" not in tables["TASK"]
    assert "OVERLAP_ANALYSIS" not in tables
    assert len(tables["TASK"]["startNs"]) == 552


def test_a_missing_column_is_left_out(tmp_path: Path) -> None:
    schema = catalog().at("1.0.0-2025-01", "pytorch")
    path = tmp_path / "p.db"
    write_database(path, schema, {})
    run_sql(path, ["ALTER TABLE HOST_INFO DROP COLUMN hostName"])
    assert read_database(path, schema)["HOST_INFO"] == {"hostUid": []}


def test_memory_stays_flat(tmp_path: Path) -> None:
    schema = catalog().at("1.0.0-2025-01", "pytorch")
    path = tmp_path / "p.db"
    column = np.arange(200_000)
    write_database(path, schema, {"CONNECTION_IDS": {"id": column, "connectionId": column}})
    held = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        rows = sum(
            batch.num_rows for batch in read_columns(path, "CONNECTION_IDS", batch_rows=5_000)
        )
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
    assert rows == 200_000
    assert pa.total_allocated_bytes() <= held + (1 << 20)
