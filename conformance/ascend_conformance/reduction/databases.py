"""Databases without some of their tables and rows."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from ascend_ref.db.encode.strings import CANN, FRAMEWORK, MEMORY
from ascend_ref.db.introspect import PhysicalTable, describe, quote_identifier
from ascend_ref.db.open import open_readonly, require_sound, restrict
from ascend_spec import catalog, per_spec
from ascend_spec.core.units import factor
from ascend_spec.db.model import Column

from .reducible import Flags, Integers, Reducible, Tie, tie, tie_of_times
from .spans import INSTANT, nanoseconds

TEXTS, DEVICES = "STRING_IDS", "NPU_INFO"
"""Are referred to by rows of any time."""

TEXT = "stringId"
"""The type of numbers of texts."""

COUNTED = ("globalTaskId", TEXT)
"""Types of numbers that count without a gap: LOS205, DB322."""

SPACES = (CANN, FRAMEWORK, MEMORY)
"""First numbers of texts, ascending; they count anew from each."""

AT_ONCE = 500
"""Values that a statement looks for."""


class Database(Reducible):
    """A database; its parts are its tables.

    Tables of enums stay as long as they are there, since their rows are constants of the format;
    so does what SQLite does not number the rows of.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._tables: list[PhysicalTable] = []
        self._rowids: list[Integers] = []
        self._first: list[int] = [0]
        """Of each table its first row, and the row behind the last one."""
        self._written: tuple[Path, Flags, Flags] | None = None
        with closing(open_readonly(path)) as connection:
            require_sound(connection, path)
            for table in describe(connection).tables.values():
                if table.kind != "table" or table.damage or table.name.startswith("sqlite_"):
                    continue
                rowids = _column(connection, table, table.rowid) if _is_reduced(table) else []
                self._tables.append(table)
                self._rowids.append(np.array(rowids, np.int64))
                self._first.append(self._first[-1] + len(rowids))
        self.parts = tuple(table.name for table in self._tables)
        self.part = np.repeat(np.arange(len(self.parts)), np.diff(self._first))

    @property
    def times(self) -> Integers:
        """Of the first column of instants that a table has."""
        return self._shown_times[0]

    @cached_property
    def _shown_times(self) -> list[Integers]:
        """What the rows show in the first column of instants of their tables, in the second, ..."""
        found = [super().times]
        seen: Counter[int] = Counter()
        with closing(open_readonly(self.path)) as connection:
            for number, column in self._columns(_instants()):
                scale = factor(column.unit, "ns") or 1
                first, behind = self._first[number : number + 2]
                if seen[number] == len(found):
                    found.append(super().times)
                values = self._values(connection, number, column)
                found[seen[number]][first:behind] = [nanoseconds(one, scale) for one in values]
                seen[number] += 1
        return found

    @cached_property
    def ties(self) -> Sequence[Tie]:
        """Keys that rows of one time refer to each other by, and times."""
        return (*map(self._tie, _tying()), tie_of_times(self.times))

    @property
    def metadata(self) -> Integers:
        """The rows of tables that all databases have, texts among them."""
        known = catalog().tables
        is_always = [
            name in known and "always" in known[name].carriers.values() for name in self.parts
        ]
        return np.flatnonzero(np.array(is_always, np.bool_)[self.part])

    @property
    def later_times(self) -> Sequence[Tie]:
        """What the further columns of instants show."""
        return [tie_of_times(one) for one in self._shown_times[1:]]

    def _tie(self, kind: str) -> Tie:
        """The rows of all tables that show a key of a type."""
        rows: list[int] = []
        keys: list[Any] = []
        with closing(open_readonly(self.path)) as connection:
            for number, column in self._columns((kind,)):
                for place, value in enumerate(self._values(connection, number, column)):
                    if value is not None and value not in column.none:
                        rows.append(self._first[number] + place)
                        keys.append(value)
        return tie(kind, rows, keys)

    @cached_property
    def _counted(self) -> Mapping[str, tuple[Integers, Integers, Integers]]:
        """By type of numbers that count: all of them, and the rows that show one, with its place.

        Numbers that columns have for none are not among them.
        """
        found = {}
        for kind in COUNTED:
            _, rows, values = self._tie(kind)
            every, places = np.unique(values, return_inverse=True)
            found[kind] = every, rows, places
        return found

    def _columns(self, types: Collection[str]) -> Iterator[tuple[int, Column]]:
        """The columns of some types, each with the number of its table."""
        for number, table in enumerate(self._tables):
            known = catalog().tables.get(table.name)
            for column in known.columns.values() if known and _is_reduced(table) else ():
                kind = TEXT if table.name == TEXTS and column.name == "id" else column.type
                if kind in types and table.column(column.name):
                    yield number, column

    def _values(self, connection: apsw.Connection, number: int, column: Column) -> list[Any]:
        return _column(connection, self._tables[number], quote_identifier(column.name))

    def write(self, target: Path, parts: Flags, rows: Flags) -> None:
        """Rows and tables are deleted in a copy, which is then written anew.

        Raises ``apsw.Error``, ``OSError``.
        """
        source, had_parts, had = self._source(parts, rows)
        shutil.copyfile(source, target)
        if (parts == had_parts).all() and (rows == had).all():
            return
        with closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            restrict(connection)
            for pragma in ("journal_mode = MEMORY", "synchronous = OFF", "temp_store = MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            with connection:
                for number, table in enumerate(self._tables):
                    name = quote_identifier(table.name)
                    here = slice(self._first[number], self._first[number + 1])
                    if not parts[number]:
                        if had_parts[number]:
                            connection.execute(f"DROP TABLE {name}")
                    elif (gone := had[here] & ~rows[here]).any():
                        rowids = self._rowids[number]
                        if source != self.path:  # VACUUM may give others
                            rowids = np.array(_column(connection, table, table.rowid), np.int64)
                        _delete(connection, name, table.rowid or "", rowids, gone[had[here]])
                self._count_anew(connection, had, rows)
            connection.execute("VACUUM")

    def _count_anew(self, connection: apsw.Connection, had: Flags, rows: Flags) -> None:
        """Numbers that count without gaps do so without the rows that are gone; gaps stay."""
        for kind in COUNTED:
            before, after = (self._counts(kind, some) for some in (had, rows))
            pairs = ((before[one], new) for one, new in after.items())
            changed = [(old, new) for old, new in pairs if old != new]
            if changed:
                self._renumber(connection, kind, changed, rows)

    def _renumber(
        self, connection: apsw.Connection, kind: str, changed: list[tuple[int, int]], rows: Flags
    ) -> None:
        connection.execute("CREATE TEMP TABLE counted (old INTEGER PRIMARY KEY, new INTEGER)")
        connection.executemany("INSERT INTO counted VALUES (?, ?)", changed)
        for number, column in self._columns((kind,)):
            table, name = map(quote_identifier, (self.parts[number], column.name))
            if rows[self._first[number] : self._first[number + 1]].any():
                connection.execute(
                    f"UPDATE {table} SET {name} = (SELECT new FROM counted WHERE old = {name}) "
                    f"WHERE {name} IN (SELECT old FROM counted)"
                )
        connection.execute("DROP TABLE counted")

    def _counts(self, kind: str, rows: Flags) -> dict[int, int]:
        """The numbers that some rows have, each as what it is without those of all other rows."""
        every, of_rows, places = self._counted[kind]
        is_kept = np.zeros(len(every), np.bool_)
        is_kept[places[rows[of_rows]]] = True
        kept, gone = every[is_kept], every[~is_kept]
        first = np.array(SPACES if kind == TEXT else (0,))
        starts = first[np.maximum(np.searchsorted(first, kept, "right") - 1, 0)]
        counted = kept - (np.searchsorted(gone, kept) - np.searchsorted(gone, starts))
        return dict(zip(kept.tolist(), counted.tolist(), strict=True))

    def keep(self, written: Path | None, parts: Flags, rows: Flags) -> None:
        """Further files are written of this one, as long as it has all that they have."""
        is_whole = parts.all() and rows.all()  # as the file itself is, which has its own rowids
        self._written = None if is_whole or not written else (written, parts.copy(), rows.copy())

    def _source(self, parts: Flags, rows: Flags) -> tuple[Path, Flags, Flags]:
        """A file with at least these tables and rows, and which it has."""
        if self._written is not None:
            _, had_parts, had = self._written
            if not (parts & ~had_parts).any() and not (rows & ~had).any():
                return self._written
        return self.path, np.ones(len(parts), np.bool_), np.ones(len(rows), np.bool_)

    def row_at(self, written: Path, rows: Flags, part: str | None, place: int) -> int | None:
        """The row of a table with a rowid, which may be another one than in this file."""
        if part not in self.parts:
            return None
        number = self.parts.index(part)
        table, first = self._tables[number], self._first[number]
        kept = np.flatnonzero(rows[first : self._first[number + 1]])
        if not len(kept):
            return None
        with closing(open_readonly(written)) as connection:
            name, rowid = quote_identifier(table.name), table.rowid
            select = f"SELECT sum({rowid} < ?), sum({rowid} = ?) FROM {name}"
            ((before, has),) = connection.execute(select, (place, place))
        return first + int(kept[before]) if has else None

    def _row_of(self, number: int, rowid: int) -> int:
        return self._first[number] + int(np.searchsorted(self._rowids[number], rowid))

    def needed_by(self, rows: Integers) -> Iterable[int]:
        """The rows whose columns the references of these rows name."""
        with closing(open_readonly(self.path)) as connection:
            for number, column in self._referring():
                table = self._tables[number]
                begin, end = self._first[number], self._first[number + 1]
                rowids = self._rowids[number][rows[(rows >= begin) & (rows < end)] - begin]
                wanted = set(_selected(connection, table, column.name, rowids.tolist()))
                for reference in column.references if wanted else ():
                    yield from self._defining(connection, reference, wanted)

    def _referring(self) -> Iterator[tuple[int, Column]]:
        for number, table in enumerate(self._tables):
            known = catalog().tables.get(table.name)
            for column in known.columns.values() if known and table.rowid else ():
                if column.references and table.column(column.name):
                    yield number, column

    def _defining(
        self, connection: apsw.Connection, reference: str, wanted: Collection[Any]
    ) -> Iterator[int]:
        name, _, column = reference.partition(".")
        if name not in self.parts:
            return
        number = self.parts.index(name)
        table = self._tables[number]
        if table.rowid is None or table.column(column) is None or not len(self._rowids[number]):
            return
        select = (
            f"SELECT {table.rowid} FROM {quote_identifier(name)} "
            f"WHERE {quote_identifier(column)} IN "
        )
        for rowid in _asked(connection, select, list(wanted)):
            yield self._row_of(number, rowid)


def _selected(
    connection: apsw.Connection, table: PhysicalTable, column: str, rowids: list[int]
) -> Iterator[Any]:
    select = (
        f"SELECT {quote_identifier(column)} FROM {quote_identifier(table.name)} "
        f"WHERE {table.rowid} IN "
    )
    return _asked(connection, select, rowids)


def _asked(connection: apsw.Connection, select: str, values: list[Any]) -> Iterator[Any]:
    """The first column of what a statement that ends with ``IN`` selects for some values."""
    for begin in range(0, len(values), AT_ONCE):
        some = values[begin : begin + AT_ONCE]
        for (value,) in connection.execute(f"{select} ({', '.join('?' * len(some))})", some):
            yield value


def _delete(
    connection: apsw.Connection, table: str, rowid: str, rowids: Integers, gone: Flags
) -> None:
    """Delete rows by their numbers, in runs of numbers that follow each other."""
    if gone.all():
        connection.execute(f"DELETE FROM {table}")
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[False], gone, [False]]).astype(np.int8)))
    runs = zip(rowids[edges[::2]].tolist(), rowids[edges[1::2] - 1].tolist(), strict=True)
    connection.executemany(f"DELETE FROM {table} WHERE {rowid} BETWEEN ? AND ?", list(runs))


def _column(connection: apsw.Connection, table: PhysicalTable, name: str | None) -> list[Any]:
    """The values of a column, in the order of the rowids."""
    select = f"SELECT {name} FROM {quote_identifier(table.name)} ORDER BY {table.rowid}"
    return [value for (value,) in connection.execute(select)]


def _is_reduced(table: PhysicalTable) -> bool:
    return table.rowid is not None and table.name not in catalog().enums


@per_spec
def _instants() -> Collection[str]:
    """The types of instants."""
    columns = (column for table in catalog().tables.values() for column in table.columns.values())
    return {column.type for column in columns if column.type.startswith(INSTANT)}


@per_spec
def _tying() -> Collection[str]:
    """The types of keys that rows of one time refer to each other by."""
    columns = [column for table in catalog().tables.values() for column in table.columns.values()]
    return {
        column.type
        for column in columns
        for reference in column.references
        if reference.partition(".")[0] not in {TEXTS, DEVICES, *catalog().enums}
    }
