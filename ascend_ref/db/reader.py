"""Reading a profile database as typed columns, as a stream, in flat memory.

This is the fast road for data that is wanted in Python or Arrow. It has fewer locks than
:mod:`ascend_ref.db.open`: a foreign file passes ``open_readonly`` and ``quick_check`` first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import adbc_driver_manager
import numpy as np
import pyarrow as pa

from ascend_spec import Schema

from .bulk import connect_bulk
from .header import UnreadableDatabase, read_header
from .introspect import fold, quote_identifier
from .open import CACHE_KIB

BATCH_ROWS: Final = 65_536

READ_PRAGMAS: Final = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "query_only = ON",
    "temp_store = FILE",
    "mmap_size = 0",
    f"cache_size = -{CACHE_KIB}",
)


@dataclass(frozen=True, slots=True)
class _Class:
    """A storage class: its Arrow type and a literal from which ADBC infers that type."""

    name: str
    arrow: Any
    literal: str


_CLASSES: Final = (
    _Class("integer", pa.int64(), "0"),
    _Class("real", pa.float64(), "0.0"),
    _Class("text", pa.string(), "''"),
    _Class("blob", pa.binary(), "x''"),
)
_EMPTY: Final[Mapping[str, str]] = {"INTEGER": "integer", "TEXT": "text", "BLOB": "blob"}


def stream_columns(
    path: Path, sql: str, *, batch_rows: int = BATCH_ROWS
) -> Generator[pa.RecordBatch, None, None]:
    """Run one SELECT of ours and stream its result, some 3 million values of each column a second.

    Every column of the result must hold one storage class beside NULL (CAST where the file does
    not promise it): the type is inferred from the first batch. The last batch may be empty.
    Raises :class:`UnreadableDatabase` where the file is damaged or breaks that condition.
    """
    read_header(path)
    try:
        with connect_bulk(path, mode="ro") as connection:
            for pragma in READ_PRAGMAS:
                connection.run(f"PRAGMA {pragma}")
            yield from connection.stream(sql, batch_rows)
    except (adbc_driver_manager.Error, OSError) as error:
        raise UnreadableDatabase(path, f"{error}; expected rows of one type per column") from None


def read_columns(
    path: Path,
    table: str,
    columns: Sequence[str] | None = None,
    *,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Stream a table in rowid order; all batches have the same schema, nothing is lost.

    A column is int64, double, string or binary when its values are of one storage class; a sparse
    union of these (``to_pylist`` gives the plain values) when they are mixed, which one pass over
    the table finds out beforehand. A column without values has the type that its declaration
    suggests. Bytes that are not UTF-8 come back as U+FFFD.

    ``columns`` selects and orders (default: all). Raises ``ValueError`` for a table or column that
    the file does not have, :class:`UnreadableDatabase` for a damaged file.
    """
    declared = _declared_columns(path, table)
    if not declared:
        raise ValueError(f"table is {table!r}; allowed: {', '.join(_table_names(path))}")
    wanted = [_physical_name(declared, table, name) for name in columns or declared]
    shapes = [
        _Shape(name, classes or (_empty_class(declared[name]),))
        for name, classes in zip(wanted, _storage_classes(path, table, wanted), strict=True)
    ]
    # The literals of a first row pin the types; NOT INDEXED keeps the order of the rowids.
    literals = ", ".join(kind.literal for shape in shapes for kind in shape.classes)
    parts = ", ".join(part for shape in shapes for part in shape.parts())
    sql = f"SELECT {literals} UNION ALL SELECT {parts} FROM {quote_identifier(table)} NOT INDEXED"
    skip = 1
    for batch in stream_columns(path, sql, batch_rows=batch_rows):
        rows = batch.slice(skip)
        skip = 0
        if rows.num_rows:
            yield _assemble(rows, shapes)


def read_rows(path: Path, table: str) -> Iterator[dict[str, Any]]:
    """Stream a table as dictionaries of int, float, str, bytes and ``None``, in rowid order."""
    for batch in read_columns(path, table):
        yield from batch.to_pylist()


def read_database(path: Path, schema: Schema) -> dict[str, dict[str, list[Any]]]:
    """Every table of ``schema`` that the file has, as lists, in the shape that the writer takes.

    Tables and columns that the schema does not know are left out. Reads the whole file into memory.
    """
    present = {fold(name) for name in _table_names(path)}
    result: dict[str, dict[str, list[Any]]] = {}
    for name, table in schema.tables.items():
        if fold(name) not in present:
            continue
        found = {fold(column) for column in _declared_columns(path, name)}
        columns = [column for column in table.columns if fold(column) in found]
        batches = list(read_columns(path, name, columns)) if columns else []
        result[name] = {
            column: list(chain.from_iterable(batch.column(place).to_pylist() for batch in batches))
            for place, column in enumerate(columns)
        }
    return result


@dataclass(frozen=True, slots=True)
class _Shape:
    """A column of the result and the storage classes that its values have."""

    name: str
    classes: tuple[_Class, ...]

    def parts(self) -> Iterator[str]:
        """One SQL expression for each storage class."""
        name = quote_identifier(self.name)
        if len(self.classes) == 1:
            yield name
        else:
            for kind in self.classes:
                yield f"CASE typeof({name}) WHEN '{kind.name}' THEN {name} END"


def _values(path: Path, sql: str) -> list[dict[str, Any]]:
    return [row for batch in stream_columns(path, sql) for row in batch.to_pylist()]


def _table_names(path: Path) -> list[str]:
    rows = _values(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    return [str(row["name"]) for row in rows]


def _declared_columns(path: Path, table: str) -> dict[str, str]:
    """Columns and declared types of an ordinary table; empty for anything else."""
    name = "'" + table.replace("'", "''") + "'"
    rows = _values(
        path,
        f"SELECT c.name AS name, c.type AS type FROM sqlite_schema s, pragma_table_info({name}) c "
        f"WHERE s.type = 'table' AND s.rootpage > 0 AND s.name = {name} COLLATE NOCASE",
    )
    return {str(row["name"]): str(row["type"]) for row in rows}


def _physical_name(declared: Mapping[str, str], table: str, wanted: str) -> str:
    for name in declared:
        if fold(name) == fold(wanted):
            return name
    raise ValueError(f"columns: {table} has no {wanted!r}; allowed: {', '.join(declared)}")


def _storage_classes(
    path: Path, table: str, columns: Sequence[str]
) -> Iterator[tuple[_Class, ...]]:
    """For each column the storage classes that occur in it, found in one pass or two.

    Four times faster than asking for every class at once (measured): the first and last class by
    name settle a column without NULL and without mixture, only the others are asked in full.
    """
    names = [f"typeof({quote_identifier(column)})" for column in columns]
    bounds = _aggregates(
        path, table, [f"{end}({name})" for name in names for end in ("min", "max")]
    )
    lowest, highest = bounds[::2], bounds[1::2]
    open_names = [
        name for name, low, high in zip(names, lowest, highest, strict=True) if low != high
    ]
    answers = iter(
        _aggregates(
            path,
            table,
            [f"max({name} = '{kind.name}')" for name in open_names for kind in _CLASSES],
        )
        if open_names
        else ()
    )
    for low, high in zip(lowest, highest, strict=True):
        if low == high:
            yield tuple(kind for kind in _CLASSES if kind.name == low)
        else:
            yield tuple(kind for kind in _CLASSES if next(answers))


def _aggregates(path: Path, table: str, expressions: Sequence[str]) -> list[Any]:
    sql = f"SELECT {', '.join(expressions)} FROM {quote_identifier(table)}"
    return [
        column[0].as_py()
        for batch in stream_columns(path, sql)
        if batch.num_rows
        for column in batch.columns
    ]


def _empty_class(declared: str) -> _Class:
    name = _EMPTY.get(declared.upper(), "real")
    return next(kind for kind in _CLASSES if kind.name == name)


def _assemble(batch: pa.RecordBatch, shapes: Sequence[_Shape]) -> pa.RecordBatch:
    columns = iter(batch.columns)
    arrays = []
    for shape in shapes:
        parts = [_sound(next(columns)) for _ in shape.classes]
        arrays.append(parts[0] if len(parts) == 1 else _union(parts, shape.classes))
    return pa.RecordBatch.from_arrays(arrays, [shape.name for shape in shapes])


def _union(parts: Sequence[Any], classes: Sequence[_Class]) -> Any:
    types = np.zeros(len(parts[0]), np.int8)
    for code, part in enumerate(parts):
        types[part.is_valid().to_numpy(zero_copy_only=False)] = code
    return pa.UnionArray.from_sparse(
        pa.array(types), list(parts), [kind.name for kind in classes], list(range(len(parts)))
    )


def _sound(array: Any) -> Any:
    """The array, with U+FFFD for bytes that are not UTF-8."""
    if not pa.types.is_string(array.type):
        return array
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        texts = array.cast(pa.binary()).to_pylist()
        return pa.array(
            [None if text is None else text.decode("utf-8", "replace") for text in texts],
            pa.string(),
        )
    return array
