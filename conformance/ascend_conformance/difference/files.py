"""The files that exporters are compared by: text deliverables, and tables of databases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from filecmp import cmp
from pathlib import Path
from typing import TypeAlias

import apsw

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import UnreadableDatabase, open_readonly

from ..compare.sql import quoted
from ..media.text.deliverables import COMPANIONS, Deliverable, deliverable_of_name


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """One table of a database with rows, or one that only this file has."""

    path: Path
    name: str

    @property
    def is_readable(self) -> bool:
        """Whether it is a table, not a whole database that cannot be read."""
        return self.name != self.path.name

    @property
    def place(self) -> str:
        """What places in findings begin with."""
        return f"{name_without_number(self.path)}: {self.name}"


def name_without_number(path: Path) -> str:
    """The name of a database without its rank or time."""
    return re.sub("_[0-9]+(?=[.]db$)", "", path.name)


def tables_below(folder: Path) -> Iterator[DatabaseTable]:
    """The tables with rows, STRING_IDS apart, of the databases in a folder and below.

    A database that cannot be read stands there itself, as a table of its own name.
    """
    for path in sorted(folder.rglob("*.db")):
        if carrier_of_name(path.name)[0] is None:
            continue
        try:
            yield from [DatabaseTable(path, name) for name in tables_of(path)]
        except (UnreadableDatabase, apsw.Error):
            yield DatabaseTable(path, path.name)


def tables_of(path: Path) -> Iterator[str]:
    """The tables with rows of a database, STRING_IDS apart. Raises :class:`UnreadableDatabase`."""
    with closing(open_readonly(path)) as connection:
        for name, table in sorted(describe(connection).tables.items()):
            if table.kind == "table" and name != "STRING_IDS":
                rows = connection.execute(f"SELECT 1 FROM main.{quoted(name)} LIMIT 1")
                if rows.fetchone():
                    yield name


def rowid(path: Path, table: str, row: int) -> int:
    """The rowid of a row by its turn in the order of the rowids, counted from 1."""
    with closing(open_readonly(path)) as connection:
        select = f"SELECT rowid FROM main.{quoted(table)} ORDER BY rowid LIMIT 1 OFFSET ?"
        found = connection.execute(select, (row - 1,)).fetchall()
    return number if found and isinstance(number := found[0][0], int) else row


def have_same_bytes(left: Sequence[Path], right: Sequence[Path]) -> bool:
    """Whether files are equal byte for byte, one after the other."""
    return len(left) == len(right) and all(
        cmp(one, other, shallow=False) for one, other in zip(left, right, strict=True)
    )


File: TypeAlias = Deliverable | DatabaseTable


def texts_below(folder: Path) -> Iterator[Deliverable]:
    """The text deliverables in a folder and below, without what describes the capture."""
    for path in sorted(folder.rglob("*")):
        found = deliverable_of_name(path) if path.is_file() else None
        if found is not None and found.name not in COMPANIONS:
            yield found
