"""The database of a cluster analysis in memory: its names, and its tables with their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ascend_spec.core import Grade, Loader, StorageClass
from ascend_spec.core.loader import Row, part, type_facts, typed, without

DOCUMENT = "cluster/database.yaml"


@dataclass(frozen=True, slots=True)
class ClusterColumn:
    """A column, with the facts of its value type merged in.

    ``decimals``: that its numbers are rounded to; ``form``: what its texts are, where it is not the
    characters that count.
    """

    name: str
    type: str
    declared: str
    storage: tuple[StorageClass, ...]
    summary: str
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    references: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    nullable: str | None = None
    decimals: int | None = None
    form: Literal["json", "path"] | None = None


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """A table. ``key``: the columns that tell its rows apart; ``of``: the tables of the ranks, or
    of this database, that it is computed from.
    """

    name: str
    summary: str
    columns: Mapping[str, ClusterColumn]
    key: tuple[str, ...]
    of: tuple[str, ...]
    grade: Grade
    source: tuple[str, ...]
    levels: tuple[int, ...] = (0, 1, 2)
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterDatabase:
    """The file: the folder that it is put into, its name and what it is."""

    folder: str
    file: str
    summary: str
    grade: Grade
    source: tuple[str, ...]
    note: str | None = None


class ClusterCatalog:
    """The facts of the database of a cluster analysis; ``Spec.cluster`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def database(self) -> ClusterDatabase:
        """The file and its place."""
        row = without(self.documents.folder.read(DOCUMENT), "tables")
        return self.documents.fact(ClusterDatabase, row, DOCUMENT)

    @cached_property
    def tables(self) -> Mapping[str, ClusterTable]:
        """Tables by name, in the order of the document."""
        rows = part(self.documents.folder.read(DOCUMENT), "tables", dict, DOCUMENT)
        return {name: self._table(name, row, f"{DOCUMENT}: {name}") for name, row in rows.items()}

    def _table(self, name: str, row: Row, place: str) -> ClusterTable:
        columns = {
            column: self._column(column, facts, f"{place}.{column}")
            for column, facts in part(row, "columns", dict, place).items()
        }
        return self.documents.fact(ClusterTable, row, place, name=name, columns=columns)

    def _column(self, name: str, row: Row, place: str) -> ClusterColumn:
        kind = typed(self.documents.value_types, row, place)
        return self.documents.fact(ClusterColumn, {**type_facts(kind), **row, "name": name}, place)
