"""CSV files of profilers as tables: the original text and the value of every cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import duckdb
import pyarrow as pa

from ascend_spec import text_catalog
from ascend_spec.text import CsvColumn

from .headers import canonical_names, column_of, recognise
from .rows import CsvRows

PLACE = ("row", "line", "offset")
"""Columns before the cells: index among the rows, line counted from 1, byte in the file."""


def read_csv(path: Path, file: str, *, writer: str | None = None) -> Iterator[pa.RecordBatch]:
    """The sound rows of a CSV file in batches; memory does not grow with it.

    ``file`` is its name in the spec (``op_summary``), ``writer`` the generation that wrote it; by
    default the newest one with such a header. Columns are :data:`PLACE` as int64, then under its
    newest name each column of the spec as a struct of ``text``, the cell without change, and
    ``value``: absolute times as int64 ns, other numbers as int64 or double in the unit of the
    column, texts as they are; NULL for a sentinel, and for what is no number.

    Raises ``KeyError`` for an unknown file, ``OSError``.
    """
    spec = text_catalog().csv[file]
    rows = CsvRows(path)
    batches = rows.batches()
    first = next(batches, None)
    if first is None:
        return
    found = recognise(spec, rows.header)
    by = writer or found.circumstances[0].writer
    names = canonical_names(spec, rows.header, by)
    cells = []
    for place, (cell, name) in enumerate(zip(rows.header, names, strict=True)):
        column = column_of(spec, cell, by)
        if column is not None and name is not None:
            text = quoted(str(place))
            value = value_of(column, text)
            cells.append(f"{{'text': {text}, 'value': {value}}} AS {quoted(name)}")
    with closing(duckdb.connect(config={"threads": 1})) as connection:
        source = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        connection.register("batches", source)
        selected = ", ".join([*map(quoted, PLACE), *cells])
        reader = connection.sql(f"SELECT {selected} FROM batches").to_arrow_reader(100_000)
        while True:
            try:
                yield reader.read_next_batch()
            except StopIteration:
                return


def columns_of(name: str, columns: Sequence[str], writer: str) -> Iterator[tuple[str, CsvColumn]]:
    """Canonical names of columns with what the spec says of each in the files of a writer."""
    spec = text_catalog().csv[name]
    for text in columns:
        base, _, number = text.rpartition(" ")
        found = column_of(spec, text, writer)
        if found is None and number.isdecimal():
            found = column_of(spec, base, writer)
        if found is not None:
            yield text, found


def value_of(column: CsvColumn, cell: str) -> str:
    """SQL (DuckDB) for the value of a cell, given as SQL for its text."""
    texts = ", ".join("'" + one.replace("'", "''") + "'" for one in column.sentinels)
    bare = f"rtrim({cell}, chr(9))" if column.tab else cell
    if is_text(column):
        value = cell
    elif column.type == "timestampUs":
        value = f"TRY_CAST(TRY_CAST({bare} AS DECIMAL(30, 6)) * 1000 AS BIGINT)"
    elif column.storage == ("integer",):
        value = f"TRY_CAST({bare} AS BIGINT)"
    else:
        value = f"TRY_CAST({bare} AS DOUBLE)"
    return f"CASE WHEN {bare} IN ({texts}) THEN NULL ELSE {value} END" if texts else value


def is_text(column: CsvColumn) -> bool:
    """Whether the cells of a column are texts, not numbers."""
    return "text" in column.storage


def quoted(name: str) -> str:
    """An identifier of SQL; whatever stands in a header may be one."""
    return '"' + name.replace('"', '""') + '"'
