"""Whatever a column may hold, in every carrier and revision, comes back as it was written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from db_samples import STATES
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_database import read_database

from ascend_ref.db import packing
from ascend_ref.db.open import open_readonly, quick_check
from ascend_ref.db.writer import write_database
from ascend_spec import catalog
from ascend_spec.db.model import Carrier, Column, Table

State: TypeAlias = tuple[str, Carrier]
Tables: TypeAlias = dict[str, dict[str, list[Any]]]

INT64 = st.integers(-(2**63), 2**63 - 1)
EXTREMES = st.sampled_from([-(2**63), -1, 0, 1, 2**32 - 1, 2**53 + 1, 2**63 - 1])
VALUES = {
    "integer": INT64 | EXTREMES,
    "real": st.floats(allow_nan=False),
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    "blob": st.binary(max_size=20),
    "null": st.none(),
}


def column_values(column: Column, rows: int) -> st.SearchStrategy[list[Any]]:
    """Values of the storage classes that the spec gives the column."""
    if column.primary_key:
        return st.lists(INT64, min_size=rows, max_size=rows, unique=True).map(sorted)
    classes = [*column.storage, *(["null"] if column.nullable else [])]
    if column.declared == "REAL":
        # The affinity of the column makes floats of integers, as in any exporter's file.
        classes = [name for name in classes if name != "integer"]
    return st.lists(st.one_of([VALUES[name] for name in classes]), min_size=rows, max_size=rows)


def table_values(table: Table) -> st.SearchStrategy[dict[str, list[Any]]]:
    return st.integers(1, 4).flatmap(
        lambda rows: st.fixed_dictionaries(
            {name: column_values(column, rows) for name, column in table.columns.items()}
        )
    )


@st.composite
def databases(draw: st.DrawFn) -> tuple[State, Tables]:
    state = draw(st.sampled_from(STATES))
    schema = catalog().at(*state)
    # Only an analysis database without tables would be empty, and an empty file is none.
    least = 1 if state[1] == "analysis" else 0
    names = draw(
        st.lists(st.sampled_from(list(schema.tables)), min_size=least, max_size=3, unique=True)
    )
    return state, {name: draw(table_values(schema.tables[name])) for name in names}


@settings(max_examples=20, deadline=None)
@given(databases())
def test_written_values_come_back(database: tuple[State, Tables]) -> None:
    state, tables = database
    schema = catalog().at(*state)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.db"
        write_database(path, schema, tables)
        found = read_database(path, schema)
        with closing(open_readonly(path)) as connection:
            assert quick_check(connection) is None
    assert {name: found[name] for name in tables} == tables
    for name, table in schema.tables.items():
        assert (name in found) == (name in tables or table.carriers[schema.carrier] == "always")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 40).flatmap(
        lambda rows: st.lists(
            st.one_of(
                st.lists(INT64, min_size=rows, max_size=rows),
                st.lists(EXTREMES, min_size=rows, max_size=rows),
                st.lists(st.integers(-3, 3), min_size=rows, max_size=rows),
                INT64.map(lambda value: [value] * rows),
            ),
            min_size=11,
            max_size=11,
        )
    )
)
def test_packed_integers_come_back(columns: list[list[int]]) -> None:
    """NumPy columns travel packed into words: every width, offset, sign and group size."""
    schema = catalog().at("1.0.0-2025-01", "msprof")
    arrays = dict(zip(schema.tables["TASK"].columns, map(np.array, columns), strict=True))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.db"
        write_database(path, schema, {"TASK": arrays})
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute("SELECT * FROM TASK ORDER BY rowid").fetchall()
    assert found == list(zip(*columns, strict=True))


@given(st.lists(st.lists(INT64 | EXTREMES, min_size=2, max_size=2), min_size=1, max_size=12))
def test_fields_lie_side_by_side(columns: list[list[int]]) -> None:
    layout = packing.plan([np.array(column) for column in columns])
    taken: set[tuple[int, int]] = set()
    for field in layout.fields:
        bits = {(field.word, bit) for bit in range(field.shift, field.shift + field.bits)}
        assert not bits & taken
        assert field.shift + field.bits <= packing.WORD_BITS
        taken |= bits
    assert {word for word, _ in taken} == set(range(layout.words))
