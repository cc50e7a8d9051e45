"""The files of a rank, opened: what is in them, for readers that look for tables and columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from ascend_ref.db.introspect import describe, fold
from ascend_ref.db.open import UnreadableDatabase, open_readonly, require_sound
from ascend_ref.text.rows import CsvRows
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

PART = 1 << 20
"""Bytes of a document that are looked through at once."""


@dataclass(frozen=True, slots=True)
class RankFiles:
    """The files of one rank: databases by carrier, CSV files and documents by the names of the
    spec. ``label``: what reports call their folder; ``profile``: the name of that of the profile.
    """

    label: str
    profile: str
    databases: Mapping[Carrier, Path] = field(default_factory=dict)
    csv: Mapping[str, Path] = field(default_factory=dict)
    documents: Mapping[str, Path] = field(default_factory=dict)


@dataclass
class Database:
    """An open database. ``tables``: columns by name, both folded as SQLite compares them; none of
    ``views``, which are not looked into.
    """

    connection: apsw.Connection
    tables: Mapping[str, Mapping[str, str]]
    views: frozenset[str] = frozenset()


@dataclass
class Rank:
    """The databases of a rank, opened. ``damaged``: why one cannot be read."""

    files: RankFiles
    databases: dict[Carrier, Database] = field(default_factory=dict)
    damaged: dict[Carrier, str] = field(default_factory=dict)
    _headers: dict[str, frozenset[str]] = field(default_factory=dict)

    def carrier(self, table: str) -> Carrier:
        """The database that has, or should have, a table."""
        if "analysis" in catalog().tables[table].carriers:
            return "analysis"
        return "msprof" if "msprof" in self.files.databases else "pytorch"

    def holder(self, table: str) -> Database | None:
        """The same, opened."""
        return self.databases.get(self.carrier(table))

    def has(self, table: str, column: str | None = None, *, exact: bool = False) -> bool:
        """Whether it has a table, or a column of it; ``exact``: with these capitals."""
        holder = self.holder(table)
        columns = None if holder is None else holder.tables.get(fold(table))
        if columns is None or column is None:
            return columns is not None
        return columns.get(fold(column)) == column if exact else fold(column) in columns

    def headers(self, name: str) -> frozenset[str]:
        """The headers of a CSV file; none where it is not there or cannot be read."""
        if name not in self._headers:
            self._headers[name] = _headers(self.files.csv.get(name))
        return self._headers[name]

    def mentions(self, name: str, key: str) -> bool:
        """Whether a document has a key, wherever."""
        path = self.files.documents.get(name)
        return path is not None and _mentions(path, json.dumps(key).encode())

    def shows(self, table: str) -> bool:
        """Whether it has a view of this name."""
        holder = self.holder(table)
        return holder is not None and fold(table) in holder.views


@contextmanager
def open_rank(files: RankFiles) -> Iterator[Rank]:
    """The files of a rank; a database that cannot be read is damaged."""
    with ExitStack() as stack:
        rank = Rank(files)
        for carrier, path in files.databases.items():
            try:
                connection = stack.enter_context(closing(open_readonly(path)))
                require_sound(connection, path)
                found = describe(connection).tables.values()
                tables = {
                    fold(table.name): {fold(one.name): one.name for one in table.columns}
                    for table in found
                    if table.kind == "table"
                }
                views = frozenset(fold(table.name) for table in found if table.kind == "view")
                rank.databases[carrier] = Database(connection, tables, views)
            except (UnreadableDatabase, apsw.Error) as error:
                rank.damaged[carrier] = str(error)
        yield rank


def _headers(path: Path | None) -> frozenset[str]:
    if path is None:
        return frozenset()
    rows = CsvRows(path)
    try:
        next(rows.batches(), None)
    except OSError:
        return frozenset()
    return frozenset(cell.strip() for cell in rows.header)


def _mentions(path: Path, text: bytes) -> bool:
    """Whether a text stands in a file."""
    rest = b""
    try:
        with path.open("rb") as file:
            while part := file.read(PART):
                if text in rest + part:
                    return True
                rest = part[-len(text) :]
    except OSError:
        return False
    return False
