"""The files that exporters are compared by: text deliverables, and tables of databases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import open_readonly

from ..compare.sql import quoted
from ..media.text.deliverables import COMPANIONS, Deliverable, deliverable_of_name


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """One table of a database with rows, or one that only this file has."""

    path: Path
    name: str

    @property
    def place(self) -> str:
        """What places in findings begin with."""
        return f"{re.sub('_[0-9]+(?=[.]db$)', '', self.path.name)}: {self.name}"


def tables_below(folder: Path) -> Iterator[DatabaseTable]:
    """The tables with rows, STRING_IDS apart, of the databases in a folder and below.

    Raises :class:`UnreadableDatabase`.
    """
    for path in sorted(folder.rglob("*.db")):
        if carrier_of_name(path.name)[0] is None:
            continue
        with closing(open_readonly(path)) as connection:
            for name in sorted(describe(connection).tables):
                is_filled = connection.execute(f"SELECT 1 FROM main.{quoted(name)} LIMIT 1")
                if name != "STRING_IDS" and is_filled.fetchone():
                    yield DatabaseTable(path, name)


File: TypeAlias = Deliverable | DatabaseTable


def texts_below(folder: Path) -> Iterator[Deliverable]:
    """The text deliverables in a folder and below, without what describes the capture."""
    for path in sorted(folder.rglob("*")):
        found = deliverable_of_name(path) if path.is_file() else None
        if found is not None and found.name not in COMPANIONS:
            yield found
