"""What ``sqlite_schema`` really holds: tables, columns, indexes, triggers, as immutable objects."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Literal

import apsw

from .display import clip, printable
from .open import BudgetExceeded, UnreadableDatabase, budget, row_bound

Kind = Literal["table", "view", "virtual", "shadow"]
Origin = Literal["create", "unique", "primary-key"]

_ORIGINS: Mapping[object, Origin] = {"c": "create", "u": "unique", "pk": "primary-key"}
_ROWID_NAMES = ("rowid", "_rowid_", "oid")
# Of fts3, fts4, fts5 and rtree.
_SHADOWS = "content segments segdir docsize stat data idx config node rowid parent"
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_STRICT = re.compile(r"\)[^)]*\bSTRICT\b[^)]*$", re.IGNORECASE)
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\s", re.IGNORECASE)
_COLLATE = re.compile("collate", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """A column as declared. ``primary_key`` is its 1-based place in the key, 0 outside of it."""

    name: str
    declared: str
    primary_key: int = 0
    not_null: bool = False
    default: str | None = None
    collation: str = "BINARY"
    generated: bool = False


@dataclass(frozen=True, slots=True)
class PhysicalIndex:
    """An index. A column is ``None`` where the index holds an expression."""

    name: str
    columns: tuple[str | None, ...]
    origin: Origin


@dataclass(frozen=True)
class PhysicalTable:
    """A table, view or virtual table. ``rowid`` is a name that reads the rowid, if there is one.

    Views and virtual tables have no ``columns`` here: to learn them, SQLite would have to run what
    the file says. ``damage`` is what SQLite answered where the columns could not be read.
    """

    name: str
    kind: Kind
    sql: str
    columns: tuple[PhysicalColumn, ...] = ()
    indexes: tuple[PhysicalIndex, ...] = ()
    rowid: str | None = None
    rowid_alias: str | None = None
    without_rowid: bool = False
    strict: bool = False
    damage: str | None = None

    def column(self, name: str) -> PhysicalColumn | None:
        """The column of this name in any case, as SQLite compares names."""
        return self.by_folded_name.get(fold(name))

    @cached_property
    def by_folded_name(self) -> Mapping[str, PhysicalColumn]:
        """The columns by their names as :func:`fold` writes them."""
        return {fold(column.name): column for column in self.columns}


@dataclass(frozen=True, slots=True)
class PhysicalTrigger:
    """A trigger and the table or view that it is attached to."""

    name: str
    table: str


@dataclass(frozen=True)
class PhysicalSchema:
    """The whole schema. ``tables`` holds every kind of table, in the order of ``sqlite_schema``."""

    tables: Mapping[str, PhysicalTable]
    triggers: tuple[PhysicalTrigger, ...]
    encoding: str
    user_version: int
    journal_mode: str

    @cached_property
    def _folded(self) -> Mapping[str, PhysicalTable]:
        return {fold(name): table for name, table in self.tables.items()}

    def table(self, name: str) -> PhysicalTable | None:
        """The table, view or virtual table of this name in any case."""
        return self._folded.get(fold(name))

    def readable(self, name: str, *columns: str) -> PhysicalTable | None:
        """The ordinary table of this name, if it has these columns: its rows can be selected
        without running foreign code.
        """
        found = self.table(name)
        if found is None or found.kind != "table" or not found.columns:
            return None
        return found if all(map(found.column, columns)) else None


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """A name as SQLite compares it: ASCII letters lose their case, others keep it."""
    return name.translate(_LOWER)


def quote_identifier(name: str) -> str:
    """The name as an SQL identifier; raises ``ValueError`` for one that SQL cannot spell."""
    if "\0" in name:
        raise ValueError(f"name is {name!r}; expected a name without NUL")
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row of ``sqlite_schema``; a name that is no valid text has its bytes escaped."""

    type: str
    name: str
    table: str
    sql: str
    valid: bool


def describe(connection: apsw.Connection) -> PhysicalSchema:
    """The schema of the main database, without running anything that stands in it.

    Raises :class:`UnreadableDatabase` where ``sqlite_schema`` itself is damaged; what is wrong with
    a single table stands in its ``damage``.
    """
    try:
        with budget(connection, 64 * row_bound(connection) + 10_000_000):
            return _describe(connection)
    except (apsw.Error, BudgetExceeded, UnicodeDecodeError) as error:
        raise UnreadableDatabase(_path(connection), f"{error}; expected a sound schema") from None


def _path(connection: apsw.Connection) -> Path:
    """The file of a connection; apsw cannot return a name that is not UTF-8."""
    try:
        return Path(connection.filename)
    except UnicodeDecodeError:
        return Path("database")


def _describe(connection: apsw.Connection) -> PhysicalSchema:
    encoding = str(connection.pragma("encoding"))
    entries = list(_entries(connection, encoding))
    virtual = {
        entry.name for entry in entries if entry.type == "table" and _VIRTUAL.match(entry.sql)
    }
    shadows = {fold(f"{name}_{suffix}") for name in virtual for suffix in _SHADOWS.split()}
    indexes = {entry.name for entry in entries if entry.type == "index"}
    tables: dict[str, PhysicalTable] = {}
    for entry in entries:
        if entry.type == "view":
            tables[entry.name] = PhysicalTable(entry.name, "view", entry.sql)
        elif entry.type == "table" and entry.name in virtual:
            tables[entry.name] = PhysicalTable(entry.name, "virtual", entry.sql)
        elif entry.type == "table":
            kind: Kind = "shadow" if fold(entry.name) in shadows else "table"
            tables[entry.name] = _table(connection, entry, kind, indexes)
    _, versions = connection.read("main", 0, 18, 2)
    return PhysicalSchema(
        tables=tables,
        triggers=tuple(
            PhysicalTrigger(entry.name, entry.table) for entry in entries if entry.type == "trigger"
        ),
        encoding=encoding,
        user_version=int(str(connection.pragma("user_version"))),
        journal_mode="wal" if versions[1:2] == b"\x02" else "delete",
    )


def _entries(connection: apsw.Connection, encoding: str) -> Iterator[_Entry]:
    # Texts are fetched as bytes: they need not be valid in the encoding of the database.
    rows = connection.execute(
        "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) "
        "FROM sqlite_schema ORDER BY rowid"
    )
    for row in rows:
        kind, name, table, sql = (
            bytes(part or b"").decode(encoding, "backslashreplace") for part in row
        )
        valid = bytes(row[1] or b"").decode(encoding, "ignore") == name
        yield _Entry(kind, name, table, sql, valid)


def _table(
    connection: apsw.Connection, entry: _Entry, kind: Kind, listed: Collection[str]
) -> PhysicalTable:
    try:
        if not entry.valid:
            raise ValueError("the name is not valid text")
        columns = tuple(_columns(connection, entry.name, _COLLATE.search(entry.sql) is not None))
        if not columns:
            raise ValueError("SQLite finds no table of this name")
        indexes = tuple(_indexes(connection, entry.name))
    except (apsw.Error, ValueError) as error:
        damage = clip(printable(str(error)))
        return PhysicalTable(entry.name, kind, entry.sql, damage=damage)
    # The key of a WITHOUT ROWID table is the table: its index has no row in sqlite_schema.
    keys = [index for index in indexes if index.origin == "primary-key"]
    without_rowid = any(index.name not in listed for index in keys)
    key_columns = [column for column in columns if column.primary_key]
    taken = {fold(column.name) for column in columns}
    alias = None
    if len(key_columns) == 1 and not keys and fold(key_columns[0].declared) == "integer":
        alias = key_columns[0].name
    return PhysicalTable(
        name=entry.name,
        kind=kind,
        sql=entry.sql,
        columns=columns,
        indexes=indexes,
        rowid=None
        if without_rowid
        else next((name for name in _ROWID_NAMES if name not in taken), None),
        rowid_alias=alias,
        without_rowid=without_rowid,
        strict=_STRICT.search(entry.sql) is not None,
    )


def _columns(connection: apsw.Connection, table: str, collates: bool) -> Iterator[PhysicalColumn]:
    """``collates``: whether the table says how columns are collated, which is slow to look up."""
    for _, name, declared, not_null, default, key, hidden in connection.execute(
        f"PRAGMA table_xinfo({quote_identifier(table)})"
    ).fetchall():
        yield PhysicalColumn(
            name=str(name),
            declared=str(declared),
            primary_key=int(str(key)),
            not_null=bool(not_null),
            default=None if default is None else str(default),
            collation=str(connection.column_metadata("main", table, str(name))[1])
            if collates
            else "BINARY",
            generated=hidden in (2, 3),
        )


def _indexes(connection: apsw.Connection, table: str) -> Iterator[PhysicalIndex]:
    for _, name, _, origin, _ in connection.execute(
        f"PRAGMA index_list({quote_identifier(table)})"
    ).fetchall():
        rows = connection.execute(f"PRAGMA index_xinfo({quote_identifier(str(name))})").fetchall()
        yield PhysicalIndex(
            name=str(name),
            columns=tuple(None if row[2] is None else str(row[2]) for row in rows if row[5]),
            origin=_ORIGINS.get(origin, "create"),
        )
