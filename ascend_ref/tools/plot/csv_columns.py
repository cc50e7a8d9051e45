"""The columns of CSV deliverables that a picture is made of."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.db.display import clip, show_path
from ascend_spec import text_catalog

from .errors import CannotDraw
from .query import connected

HEADER_MAX: Final = 1 << 16
"""Bytes of a first line."""
ROW_MAX: Final = 1 << 24
"""Bytes of any other, with its line breaks."""

DECIMAL: Final = r"^\s*(?P<whole>\d{1,16})(?:\.(?P<part>\d{0,3})\d*)?\s*$"
WHOLE: Final = r"^\s*(?P<whole>\d{1,18})\s*$"

# Real files have short rows, and writers that do not quote have long ones.
QUERY: Final = """
SELECT {wanted} FROM read_csv($path, columns = {columns}, header = true, auto_detect = false,
  delim = ',', quote = '"', escape = '"', null_padding = true, strict_mode = false,
  ignore_errors = true, max_line_size = {longest}, parallel = false)
"""


def headers(file: str, entity: str, columns: Sequence[str]) -> dict[str, str]:
    """By columns of an entity the newest names of those that show them in a kind of file."""
    return {
        name: column.name
        for name in columns
        for column in reversed(text_catalog().csv[file].columns)
        if f"{entity}.{name}" in column.shows.of
    }


def read_sheet(file: str, paths: Sequence[Path], columns: Mapping[str, str]) -> pa.Table:
    """Columns of a kind of file as texts, by names of ours to their newest names; one that a writer
    leaves out is NULL. paths: the file, or all slices of it.

    Raises :class:`CannotDraw` for what is no such file.
    """
    wanted = list(columns.values())
    tables = [_read(path, newest_names(file), wanted) for path in paths]
    return pa.concat_tables(tables).rename_columns(list(columns))


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


def nanoseconds(column: pa.ChunkedArray) -> Integers:
    """Decimal microseconds as ns, -1 for what is none."""
    parts = pc.extract_regex(column, DECIMAL)
    whole = pc.struct_field(parts, "whole").cast(pa.int64())
    rest = pc.utf8_rpad(pc.struct_field(parts, "part"), 3, "0").cast(pa.int64())
    return integers(pc.add(pc.multiply(whole, 1_000), rest))


def wholes(column: pa.ChunkedArray) -> Integers:
    """Whole numbers, -1 for what is none."""
    return integers(pc.struct_field(pc.extract_regex(column, WHOLE), "whole").cast(pa.int64()))


def _read(path: Path, newest: Mapping[str, str], wanted: Sequence[str]) -> pa.Table:
    import duckdb

    present = header(path)
    # The first of columns that are called alike.
    place = {newest.get(name, name): number for number, name in reversed(list(enumerate(present)))}
    selected = ", ".join(
        f"c{place[name]} AS w{number}" if name in place else f"CAST(NULL AS VARCHAR) AS w{number}"
        for number, name in enumerate(wanted)
    )
    query = QUERY.format(
        wanted=selected,
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
