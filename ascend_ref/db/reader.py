"""Reading a profile database as typed columns, as a stream, in flat memory.

This is the fast way for data that is wanted in Python or Arrow: numbers of a table that is laid out
plainly come from its pages (:mod:`.pages`), all else from SQLite over ADBC. It has fewer locks than
:mod:`ascend_ref.db.open`: a foreign file passes ``open_readonly`` and ``quick_check`` first.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import adbc_driver_manager
import pyarrow as pa

from .bulk import connect_bulk
from .header import UnreadableDatabase, sound_length
from .introspect import fold, quote_identifier
from .open import CACHE_KIB
from .pages import Layout, OtherLayout, plain_batches, whole_numbers

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
    classes of which all values are of it. known: SQL for the cases in which a cell ``{0}`` of any
    class has a value of the type, and for that value.
    """

    literal: str
    plain: tuple[str, ...]
    known: str

    def is_odd(self, cell: str) -> str:
        """SQL: whether a cell is of another class."""
        others = "".join(f" AND typeof({cell}) <> '{one}'" for one in self.plain)
        return f"{cell} IS NOT NULL{others}"

    def converted(self, cell: str) -> str:
        """SQL for a cell of any class; NULL where it has no value of the type."""
        return f"CASE {self.known.format(cell)} END"

    def guarded(self, cell: str) -> str:
        """As :meth:`converted`, but where it has none a text, which is no number to ADBC."""
        return f"CASE {self.known.format(cell)} WHEN {cell} IS NOT NULL THEN 'other' END"


_KINDS: Final[Mapping[pa.DataType, _Kind]] = {
    pa.int64(): _Kind(
        "0",
        ("integer",),
        "WHEN typeof({0}) = 'text' AND CAST(CAST({0} AS INTEGER) AS TEXT) = {0}"
        " OR typeof({0}) = 'integer' OR typeof({0}) = 'real' AND CAST({0} AS INTEGER) = {0}"
        " THEN CAST({0} AS INTEGER)",
    ),
    pa.float64(): _Kind(
        "0.0",
        ("real", "integer"),
        "WHEN typeof({0}) IN ('integer', 'real')"
        " OR typeof({0}) = 'text' AND json_valid({0}) AND json_type({0}) IN ('integer', 'real')"
        " THEN CAST({0} AS REAL)",
    ),
    pa.string(): _Kind("''", ("text",), "WHEN typeof({0}) <> 'blob' THEN CAST({0} AS TEXT)"),
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
    are NULL where ``lenient``. Batches may come before an error.
    """
    # Views and virtual tables would run what the file says.
    ordinary = f"type = 'table' AND rootpage > 0 AND name = {_literal(table)} COLLATE NOCASE"
    if not _any(path, "sqlite_schema", [ordinary])[0]:
        raise UnreadableDatabase(path, f"no such table: {table}; expected an ordinary one")
    reading = _Reading(path, table, columns, batch_rows)
    read = 0
    with suppress(OtherLayout):
        for batch in reading.plain_batches():
            read += batch.num_rows
            yield batch
        return
    try:
        for batch in _behind(read, reading.batches(*reading.expected(lenient))):
            read += batch.num_rows
            yield batch
    except UnreadableDatabase:
        # Only now are all cells looked through: few files have odd ones in further rows.
        odd = reading.converted(lenient)
        if not odd:
            raise
    else:
        return
    yield from _behind(read, reading.batches(odd))


def _behind(rows: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What comes behind so many rows."""
    for batch in batches:
        rest = batch.slice(min(rows, batch.num_rows))
        rows -= batch.num_rows - rest.num_rows
        if rest.num_rows:
            yield rest


class _Reading:
    """Reads columns of an ordinary table; SQL for their cells by column."""

    def __init__(
        self, path: Path, table: str, columns: Mapping[str, pa.DataType], batch_rows: int
    ) -> None:
        self._path = path
        self._table = table
        self._columns = columns
        self._batch_rows = batch_rows
        # With its table in front a name that the file does not have is no text.
        self._cells = {name: f"own.{quote_identifier(name)}" for name in columns}
        self._kinds = {name: _KINDS[kind] for name, kind in columns.items()}

    def plain_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows from the first one on, from the pages. Raises :class:`OtherLayout`."""
        if pa.string() in self._columns.values():
            raise OtherLayout
        layout, places = _layout(self._path, self._table)
        try:
            wanted = [(places[fold(name)], kind) for name, kind in self._columns.items()]
        except KeyError:
            raise OtherLayout from None
        for columns in plain_batches(self._path, layout, wanted):
            yield pa.RecordBatch.from_arrays(columns, list(self._columns))

    def batches(
        self, chosen: Mapping[str, str], written: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The rows from the first one on. chosen: SQL for cells that need not be of their class.
        written: columns of whole numbers that stand there as text.

        Raises :class:`UnreadableDatabase` where a number is not of the type of its column.
        """
        names = list(self._columns)
        kinds = [pa.string() if name in written else self._columns[name] for name in names]
        literals = ", ".join(_KINDS[kind].literal for kind in kinds)
        cells = ", ".join(chosen.get(name, self._cells[name]) for name in names)
        # The literals of a first row pin the types; NOT INDEXED keeps the order of the rowids.
        sql = (
            f"SELECT {literals} UNION ALL "
            f"SELECT {cells} FROM {quote_identifier(self._table)} AS own NOT INDEXED"
        )
        skip = 1
        for batch in stream_columns(self._path, sql, batch_rows=self._batch_rows):
            if batch.schema.types != kinds:
                found = ", ".join(map(str, batch.schema.types))
                raise UnreadableDatabase(self._path, f"{self._table} holds {found}")
            rows = batch.slice(skip)
            skip = 0
            if rows.num_rows:
                columns = [
                    self._number(name, column) if name in written else _sound(column)
                    for name, column in zip(names, rows.columns, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, names)

    def _number(self, name: str, texts: pa.Array) -> pa.Array:
        """Whole numbers from texts, which are not written in any other way."""
        try:
            return whole_numbers(texts)
        except OtherLayout:
            reason = f"{self._table}.{name} holds other texts"
            raise UnreadableDatabase(self._path, reason) from None

    def expected(self, lenient: bool) -> tuple[dict[str, str], list[str]]:
        """Cells of other classes, as the first row has them, and columns of whole numbers in text;
        for ADBC every cell is a text.
        """
        tests = {name: self._kinds[name].is_odd(cell) for name, cell in self._cells.items()}
        rows = f"{quote_identifier(self._table)} AS own NOT INDEXED"
        first = _first(self._path, list(tests.values()), rows)
        found: dict[str, str] = {}
        written: list[str] = []
        for name, is_odd in zip(tests, first, strict=True):
            kind, cell = self._kinds[name], self._cells[name]
            if self._columns[name] == pa.string():
                found[name] = kind.converted(cell)
            elif is_odd and self._columns[name] == pa.int64():
                found[name] = f"CASE WHEN typeof({cell}) <> 'blob' THEN {cell} ELSE 'other' END"
                written.append(name)
            elif is_odd:
                found[name] = kind.converted(cell) if lenient else kind.guarded(cell)
        texts = [tests[name] for name, kind in self._columns.items() if kind == pa.string()]
        if texts and not lenient and any(_any(self._path, self._table, texts)):
            self.converted(lenient)
        return found, written

    def converted(self, lenient: bool) -> dict[str, str]:
        """Cells of the columns that have others than those of the wanted class.

        Raises :class:`UnreadableDatabase` where one of them is lost, unless ``lenient``.
        """
        tests = [self._kinds[name].is_odd(cell) for name, cell in self._cells.items()]
        any_odd = _any(self._path, self._table, tests)
        cells = {
            name: self._kinds[name].converted(cell)
            for (name, cell), is_odd in zip(self._cells.items(), any_odd, strict=True)
            if is_odd
        }
        if cells and not lenient:
            tests = [f"{self._cells[one]} IS NOT NULL AND {cells[one]} IS NULL" for one in cells]
            for column, is_lost in zip(cells, _any(self._path, self._table, tests), strict=True):
                if is_lost:
                    reason = (
                        f"{self._table}.{column} holds other values; "
                        f"expected {self._columns[column]} only"
                    )
                    raise UnreadableDatabase(self._path, reason)
        return cells


def _layout(path: Path, table: str) -> tuple[Layout, Mapping[str, int]]:
    """How an ordinary table lies in its file, and the places of its columns by their names."""
    sql = (
        "SELECT x.name, x.hidden, x.pk, upper(x.type) = 'INTEGER' AS whole, s.rootpage, l.wr, "
        "upper(s.sql) LIKE '%DESC%' AS may_descend "
        "FROM sqlite_schema AS s, pragma_table_list(s.name) AS l, pragma_table_xinfo(s.name) AS x "
        f"WHERE s.type = 'table' AND s.name = {_literal(table)} COLLATE NOCASE "
        "AND l.schema = 'main' ORDER BY x.cid"
    )
    rows = [row for batch in stream_columns(path, sql) for row in batch.to_pylist()]
    keys = [place for place, row in enumerate(rows) if row["pk"]]
    key = keys[0] if len(keys) == 1 and rows[keys[0]]["whole"] else -1
    # Of INTEGER PRIMARY KEY DESC the records hold the values.
    if any(row["hidden"] or row["wr"] or (key >= 0 and row["may_descend"]) for row in rows):
        raise OtherLayout
    places = {fold(row["name"]): place for place, row in enumerate(rows)}
    return Layout(rows[0]["rootpage"], len(rows), key), places


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _any(path: Path, table: str, conditions: Sequence[str]) -> list[bool]:
    """Whether each condition holds for any row."""
    tests = [f"max({condition})" for condition in conditions]
    return _first(path, tests, f"{quote_identifier(table)} AS own")


def _first(path: Path, conditions: Sequence[str], rows: str) -> list[bool]:
    """Whether each condition holds for the first of the rows; not where there is none."""
    sql = f"SELECT {', '.join(conditions)} FROM {rows} LIMIT 1"
    for batch in stream_columns(path, sql):
        if batch.num_rows:
            return [bool(column[0].as_py()) for column in batch]
    return [False] * len(conditions)


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
