"""The columns of CSV deliverables that a picture is made of."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ascend_ref.db.display import clip, show_path
from ascend_spec import text_catalog

from .errors import CannotDraw

if TYPE_CHECKING:
    import duckdb

HEADER_MAX: Final = 1 << 16
"""Bytes of a first line."""
ROW_MAX: Final = 1 << 24
"""Bytes of any other, with its line breaks."""

TEXT: Final = "{cell}"
# Of a bare column DuckDB would have the cast done by its reader of CSV, which leaves out the rows
# where it fails.
BARE = "trim({cell}, ' ' || chr(9))"
NUMBER: Final = f"TRY_CAST({BARE} AS BIGINT)"
TIME: Final = f"TRY_CAST(floor(TRY_CAST({BARE} AS DECIMAL(30, 6)) * 1000) AS BIGINT)"
"""Values of cells in SQL: whole numbers, and decimal microseconds as ns; NULL for what is none."""

# Real files have short rows, and writers that do not quote have long ones.
QUERY: Final = """
SELECT {wanted} FROM read_csv($path, columns = {columns}, header = true, auto_detect = false,
  delim = ',', quote = '"', escape = '"', null_padding = true, strict_mode = false,
  ignore_errors = true, max_line_size = {longest}, parallel = false)
"""


def headers(file: str, entity: str, columns: Iterable[str]) -> dict[str, str]:
    """By columns of an entity the newest names of those that show them in a kind of file."""
    return {
        name: column.name
        for name in columns
        for column in reversed(text_catalog().csv[file].columns)
        if f"{entity}.{name}" in column.shows.of
    }


def read_sheet(
    file: str, paths: Sequence[Path], columns: Mapping[str, str], values: Mapping[str, str]
) -> pa.Table:
    """Columns of a kind of file, by names of ours to their newest names; one that a writer leaves
    out is NULL. paths: the file, or all slices of it. values: SQL of their cells, by our names.

    Raises :class:`CannotDraw` for what is no such file.
    """
    newest, wanted = newest_names(file), [(one, columns[one], values[one]) for one in columns]
    return pa.concat_tables([_read(path, newest, wanted) for path in paths])


def newest_names(file: str) -> Mapping[str, str]:
    """The newest name of each column, by every name that it ever had."""
    return {
        name: column.name
        for column in text_catalog().csv[file].columns
        for name in (column.name, *(older.name for older in column.renamed))
    }


def header(path: Path) -> list[str]:
    """The texts of the first line. Raises ``OSError``."""
    with path.open("rb") as opened:
        line = opened.readline(HEADER_MAX).decode("utf-8-sig", "replace")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # one text that is longer than any name
        return []


@contextmanager
def connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that uses one core and shows nothing on the terminal."""
    import duckdb  # slow to import, and no database or help needs it

    with closing(duckdb.connect(config={"threads": 1})) as connection:
        connection.execute("SET enable_progress_bar = false")
        yield connection


def _read(
    path: Path, newest: Mapping[str, str], wanted: Sequence[tuple[str, str, str]]
) -> pa.Table:
    import duckdb

    present = header(path)
    # The first of columns that are called alike.
    place = {newest.get(name, name): number for number, name in reversed(list(enumerate(present)))}
    cells = [
        f"c{place[name]}" if name in place else "CAST(NULL AS VARCHAR)" for _, name, _ in wanted
    ]
    query = QUERY.format(
        wanted=", ".join(
            f"{value.format(cell=cell)} AS {own}"
            for cell, (own, _, value) in zip(cells, wanted, strict=True)
        ),
        columns={f"c{number}": "VARCHAR" for number in range(len(present))},
        longest=ROW_MAX,
    )
    # A file name is no pattern: each sign of one stands for itself.
    exact = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path))
    try:
        with connected() as connection:
            return connection.sql(query, params={"path": exact}).to_arrow_table()
    except (duckdb.Error, UnicodeEncodeError) as error:
        reason = clip(str(error).splitlines()[0], 200)
        raise CannotDraw(f"{show_path(path)}: {reason}; expected a CSV file") from None
