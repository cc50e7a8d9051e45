"""The columns of a CSV file that was read, and SQL for the values of their cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_spec import text_catalog
from ascend_spec.text import CsvColumn

from .headers import column_of


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
    """SQL (DuckDB) for the value of a cell, given as SQL for its text.

    Absolute times are ns, other numbers integers or doubles in the unit of the column, texts as
    they are; NULL for a sentinel, and for what is no number.
    """
    texts = ", ".join("'" + one.replace("'", "''") + "'" for one in column.sentinels)
    bare = f"rtrim({cell}, chr(9))" if column.tab else cell
    if is_text(column):
        value = _inner(column, cell)
    elif column.type == "timestampUs":
        value = f"TRY_CAST(TRY_CAST({bare} AS DECIMAL(30, 6)) * 1000 AS BIGINT)"
    elif column.storage == ("integer",):
        value = f"TRY_CAST({bare} AS BIGINT)"
    else:
        value = f"TRY_CAST({bare} AS DOUBLE)"
    return f"CASE WHEN {bare} IN ({texts}) THEN NULL ELSE {value} END" if texts else value


def _inner(column: CsvColumn, cell: str) -> str:
    """SQL for the text that a cell means, where more stands around it."""
    parts = [f"nullif(regexp_extract({cell}, '{one}', 1), '')" for one in column.inner]
    return f"coalesce({', '.join([*parts, cell])})" if parts else cell


def is_text(column: CsvColumn) -> bool:
    """Whether the cells of a column are texts, not numbers."""
    return "text" in column.storage
