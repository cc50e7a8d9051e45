"""Reading a profile database as typed columns, as a stream, in flat memory.

This is the fast way for data that is wanted in Python or Arrow. It has fewer locks than
:mod:`ascend_ref.db.open`: a foreign file passes ``open_readonly`` and ``quick_check`` first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import adbc_driver_manager
import pyarrow as pa

from .bulk import connect_bulk
from .header import UnreadableDatabase, sound_length
from .introspect import quote_identifier
from .open import CACHE_KIB

BATCH_ROWS: Final = 16_384

READ_PRAGMAS: Final = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "query_only = ON",
    "temp_store = FILE",
    "mmap_size = 0",
    f"cache_size = -{CACHE_KIB}",
)


class _Kind(NamedTuple):
    """How cells become an Arrow type. literal: from which ADBC infers it. plain: the storage
    classes of which all values are of it. cell: SQL for a cell ``{0}`` of one of them. cast: for
    one that has a value of the type, of any class. converted: for any; NULL where it has none.
    """

    literal: str
    plain: tuple[str, ...]
    cell: str
    cast: str
    converted: str

    def is_odd(self, cell: str) -> str:
        """SQL: whether a cell is of another class."""
        others = "".join(f" AND typeof({cell}) <> '{one}'" for one in self.plain)
        return f"{cell} IS NOT NULL{others}"


_KINDS: Final[Mapping[pa.DataType, _Kind]] = {
    pa.int64(): _Kind(
        "0",
        ("integer",),
        "{0}",
        "CAST({0} AS INTEGER)",
        "CASE WHEN typeof({0}) = 'integer' OR typeof({0}) = 'real' AND CAST({0} AS INTEGER) = {0}"
        " OR typeof({0}) = 'text' AND CAST(CAST({0} AS INTEGER) AS TEXT) = {0}"
        " THEN CAST({0} AS INTEGER) END",
    ),
    pa.float64(): _Kind(
        "0.0",
        ("real", "integer"),
        "CAST({0} AS REAL)",
        "CAST({0} AS REAL)",
        "CASE WHEN typeof({0}) IN ('integer', 'real')"
        " OR typeof({0}) = 'text' AND json_valid({0}) AND json_type({0}) IN ('integer', 'real')"
        " THEN CAST({0} AS REAL) END",
    ),
    pa.string(): _Kind(
        "''",
        ("text",),
        "{0}",
        "CAST({0} AS TEXT)",
        "CASE WHEN typeof({0}) <> 'blob' THEN CAST({0} AS TEXT) END",
    ),
}


def stream_columns(
    path: Path, sql: str, *, batch_rows: int = BATCH_ROWS
) -> Generator[pa.RecordBatch, None, None]:
    """Run one SELECT of ours and stream its result, some 3 million values of each column a second.

    Every column of the result must hold NULL and one other storage class (CAST where the file
    does not promise it): the type is inferred from the first batch. The last batch may be empty.
    Raises :class:`UnreadableDatabase` where the file is damaged or breaks that condition.
    """
    sound_length(path)
    try:
        with connect_bulk(path, mode="ro") as connection:
            for pragma in READ_PRAGMAS:
                connection.run(f"PRAGMA {pragma}")
            yield from connection.stream(sql, batch_rows)
    except (adbc_driver_manager.Error, OSError) as error:
        raise UnreadableDatabase(path, f"{error}; expected rows of one type per column") from None


def typed_columns(
    path: Path,
    table: str,
    columns: Mapping[str, pa.DataType],
    *,
    lenient: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Stream columns of a table in rowid order, as the Arrow types that are asked for.

    columns: names in the file, each with int64, double or string. A cell of another storage class
    is converted where its value has that type too: 1.0 and '1' are whole numbers, 1.5 is none.
    Bytes that are not UTF-8 come back as U+FFFD. Raises :class:`UnreadableDatabase` for a damaged
    file, for a table or column that it does not have, and for a column with other values; those
    are NULL where ``lenient``.
    """
    yield from TypedColumns(path, table, columns, lenient=lenient).batches(batch_rows)


class TypedColumns:
    """As :func:`typed_columns`, to be read several times: cells are looked through once.

    Raises as that does.
    """

    def __init__(
        self, path: Path, table: str, columns: Mapping[str, pa.DataType], *, lenient: bool = False
    ) -> None:
        self._path = path
        self._columns = columns
        spelled = "'" + table.replace("'", "''") + "'"
        # Views and virtual tables would run what the file says.
        ordinary = f"type = 'table' AND rootpage > 0 AND name = {spelled} COLLATE NOCASE"
        if not _any(path, "sqlite_schema", [ordinary])[0]:
            raise UnreadableDatabase(path, f"no such table: {table}; expected an ordinary one")
        # With its table in front a name that the file does not have is no text.
        cells = {name: f"own.{quote_identifier(name)}" for name in columns}
        kinds = {name: _KINDS[kind] for name, kind in columns.items()}
        converted = self._converted(table, cells, kinds, lenient)
        chosen = [converted.get(one) or kinds[one].cell.format(cells[one]) for one in columns]
        # The literals of a first row pin the types; NOT INDEXED keeps the order of the rowids.
        self._sql = (
            f"SELECT {', '.join(kind.literal for kind in kinds.values())} UNION ALL "
            f"SELECT {', '.join(chosen)} FROM {quote_identifier(table)} AS own NOT INDEXED"
        )

    def batches(self, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The rows from the first one on."""
        names = list(self._columns)
        skip = 1
        for batch in stream_columns(self._path, self._sql, batch_rows=batch_rows):
            rows = batch.slice(skip)
            skip = 0
            if rows.num_rows:
                yield pa.RecordBatch.from_arrays([_sound(one) for one in rows.columns], names)

    def _converted(
        self, table: str, cells: Mapping[str, str], kinds: Mapping[str, _Kind], lenient: bool
    ) -> dict[str, str]:
        """SQL for the cells of columns that have others than those of the wanted class."""
        path, columns = self._path, self._columns
        tests = [kinds[one].is_odd(cells[one]) for one in columns]
        odd = [one for one, found in zip(columns, _any(path, table, tests), strict=True) if found]
        converted = {one: kinds[one].converted.format(cells[one]) for one in odd}
        if odd and not lenient:
            tests = [f"{cells[one]} IS NOT NULL AND {converted[one]} IS NULL" for one in odd]
            for column, is_lost in zip(odd, _any(path, table, tests), strict=True):
                if is_lost:
                    reason = f"{table}.{column} holds other values; expected {columns[column]} only"
                    raise UnreadableDatabase(path, reason)
            return {one: kinds[one].cast.format(cells[one]) for one in odd}
        return converted


def _any(path: Path, table: str, conditions: Sequence[str]) -> list[bool]:
    """Whether each condition holds for any row."""
    tests = ", ".join(f"max({condition})" for condition in conditions)
    batches = stream_columns(path, f"SELECT {tests} FROM {quote_identifier(table)} AS own")
    return [bool(column[0].as_py()) for batch in batches if batch.num_rows for column in batch]


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
