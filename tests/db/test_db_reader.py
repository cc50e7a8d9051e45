"""Reading: types, order, mixed and broken values, memory."""

from __future__ import annotations

import math
import re
import sqlite3
import tracemalloc
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from db_samples import contents, make
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.db.reader import stream_columns, typed_columns
from ascend_ref.db.writer import write_database
from ascend_spec import catalog

INTEGER, REAL, TEXT = pa.int64(), pa.float64(), pa.string()


def rows(path: Path, table: str, columns: Mapping[str, pa.DataType], **how: Any) -> list[Any]:
    """The cells of a column, or rows of several."""
    batches = list(typed_columns(path, table, columns, batch_rows=4, **how))
    assert all([field.type for field in one.schema] == [*columns.values()] for one in batches)
    found = [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]
    return [row[0] for row in found] if len(columns) == 1 else found


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return make(
        tmp_path / "p.db",
        "CREATE TABLE T (i INTEGER, n NUMERIC, t TEXT, b BLOB, any, empty TEXT, late)",
        *(f"INSERT INTO T VALUES ({n}, {n}, 't{n}', x'0{n}', {n}, NULL, NULL)" for n in range(9)),
        "INSERT INTO T VALUES (NULL, 9007199254740993, NULL, NULL, 'text', NULL, 'late')",
        "INSERT INTO T VALUES (-1, 0.5, CAST(x'41ff' AS TEXT), x'', x'ff', NULL, NULL)",
    )


def test_columns_have_the_type_that_is_asked_for(mixed: Path) -> None:
    assert rows(mixed, "T", {"i": INTEGER}) == [*range(9), None, -1]
    assert rows(mixed, "t", {"I": REAL}) == [*map(float, range(9)), None, -1.0]
    assert rows(mixed, "T", {"i": TEXT}) == [*map(str, range(9)), None, "-1"]
    assert rows(mixed, "T", {"empty": INTEGER}) == [None] * 11
    assert rows(mixed, "T", {"t": TEXT})[-2:] == [None, "A\ufffd"]
    found = rows(mixed, "T", {"t": TEXT, "i": INTEGER})
    assert found[0] == ("t0", 0)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (INTEGER, [7, None, 9007199254740993, None, None, -3, 12, None, None, None]),
        (REAL, [7.0, None, 9007199254740992.0, 0.5, 1e300, -3.0, 12.0, 1.5, None, None]),
        (
            TEXT,
            ["7", None, "9007199254740993", "0.5", "1.0e+300", "-3.0", "12", "1.5", "soon", None],
        ),
    ],
)
def test_cells_of_other_classes_are_converted_where_nothing_is_lost(
    kind: pa.DataType, cells: list[object], tmp_path: Path
) -> None:
    given = "7", "NULL", "9007199254740993", "0.5", "1e300", "-3.0", "'12'", "'1.5'", "'soon'"
    path = make(
        tmp_path / "p.db",
        "CREATE TABLE T (a)",
        *(f"INSERT INTO T VALUES ({cell})" for cell in (*given, "x'31'")),
    )
    assert rows(path, "T", {"a": kind}, lenient=True) == cells
    with pytest.raises(UnreadableDatabase, match=rf"T\.a holds other values; expected {kind} only"):
        rows(path, "T", {"a": kind})


CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0.0, -3.0, 1.5, 2.0**53, 2.0**63, -(2.0**63), math.inf]),
    st.sampled_from(["12", "-3", "-0", "007", " 1", "1.5", "9223372036854775808", "", "soon"]),
    st.binary(max_size=2),
)


JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?")


def whole(cell: object) -> int | None:
    """A cell as the whole number that it is."""
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and -(2**63) <= cell < 2**63 else None
    if isinstance(cell, str):
        canonical = re.fullmatch("0|-?[1-9][0-9]*", cell) is not None
        return int(cell) if canonical and -(2**63) <= int(cell) < 2**63 else None
    return cell if isinstance(cell, int) else None


def real(cell: object) -> float | None:
    """A cell as the number that it is."""
    if isinstance(cell, str):
        return float(cell) if JSON_NUMBER.fullmatch(cell.strip()) else None
    return float(cell) if isinstance(cell, int | float) else None


@settings(max_examples=25, deadline=None)
@given(
    usual=st.sampled_from(
        [CELLS, st.integers(0, 9), st.sampled_from(["12", "1767258000150425236"])]
    ),
    declared=st.sampled_from(["", "INTEGER", "TEXT", "REAL"]),
    data=st.data(),
)
def test_every_cell_is_the_value_that_it_has_or_the_column_is_refused(
    usual: st.SearchStrategy[object],
    declared: str,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Wherever odd cells stand: in the first row, in a later batch, or nowhere."""
    cells = data.draw(st.lists(usual, max_size=9)) + data.draw(st.lists(CELLS, max_size=2))
    path = tmp_path_factory.mktemp("cells") / "p.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE T (a {declared}, b)")
        db.executemany("INSERT INTO T VALUES (?, 'b')", [(cell,) for cell in cells])
        stored = [cell for (cell,) in db.execute("SELECT a FROM T ORDER BY rowid")]
    for kind, value in ((INTEGER, whole), (REAL, real)):
        expected = [value(cell) for cell in stored]
        assert rows(path, "T", {"a": kind}, lenient=True) == expected
        if any(
            cell is not None and found is None for cell, found in zip(stored, expected, strict=True)
        ):
            with pytest.raises(UnreadableDatabase, match=r"T\.a holds other values"):
                rows(path, "T", {"a": kind})
        else:
            both = rows(path, "T", {"a": kind, "b": TEXT})
            assert both == [(found, "b") for found in expected]


def test_unknown_tables_and_columns_are_refused(mixed: Path) -> None:
    for table, column in (("T", "x"), ("U", "i"), ("T'; DROP TABLE T; --", "i")):
        with pytest.raises(UnreadableDatabase, match="no such"):
            rows(mixed, table, {column: INTEGER})


def test_rows_come_in_the_order_of_the_rowids_and_not_of_an_index(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db",
        "CREATE TABLE T (a, b)",
        "CREATE INDEX covering ON T (a)",
        "INSERT INTO T VALUES (3, 1), (1, 2), (2, 3)",
    )
    assert rows(path, "T", {"a": INTEGER}) == [3, 1, 2]


def test_an_empty_table_has_no_batches(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", "CREATE TABLE T (a)")
    assert list(typed_columns(path, "T", {"a": INTEGER})) == []


def test_odd_names_and_texts(tmp_path: Path) -> None:
    path = make(
        tmp_path / "p.db",
        """CREATE TABLE "a""b'c" ("x""y" TEXT, "select")""",
        """INSERT INTO "a""b'c" VALUES ('line' || char(10, 0, 233, 128512), 1)""",
    )
    assert rows(path, "a\"b'c", {'x"y': TEXT, "select": INTEGER}) == [("line\n\0é😀", 1)]
    wide = make(
        tmp_path / "wide.db",
        "PRAGMA encoding = 'UTF-16be'",
        "CREATE TABLE T (a TEXT)",
        "INSERT INTO T VALUES ('é😀')",
    )
    assert rows(wide, "T", {"a": TEXT}) == ["é😀"]


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
        rows(path, "T", {"a": INTEGER})


def test_memory_stays_flat(tmp_path: Path) -> None:
    schema = catalog().at("1.0.0-2025-01", "pytorch")
    path = tmp_path / "p.db"
    column = np.arange(200_000)
    write_database(path, schema, {"CONNECTION_IDS": {"id": column, "connectionId": column}})
    held = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        kinds = {"id": INTEGER, "connectionId": TEXT}
        batches = typed_columns(path, "CONNECTION_IDS", kinds, batch_rows=5_000)
        count = sum(batch.num_rows for batch in batches)
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
    assert count == 200_000
    assert pa.total_allocated_bytes() <= held + (1 << 20)
