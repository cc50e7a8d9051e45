"""The file's real tables and columns matched against the schema it claims.

Names match exactly, then by letter case (SQLite still finds those), then by likeness
(``deviceld`` for ``deviceId``, ``device_id``): the last kind is recognised but cannot be queried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_ref.db.introspect import PhysicalColumn, PhysicalSchema, PhysicalTable
from ascend_spec import Catalog, Schema
from ascend_spec.db.model import Table

_LOOKALIKES = str.maketrans({"l": "i", "1": "i", "0": "o", "_": None, " ": None})


def likeness(name: str) -> str:
    """The same text for names that a reader would confuse."""
    return name.casefold().translate(_LOOKALIKES)


@dataclass(frozen=True, slots=True)
class TableMatch:
    """One table of the schema that stands in the file as an ordinary table.

    ``columns`` maps the spec's column names to the file's columns that SQL finds under them;
    ``misspelt`` maps the spec's names to look-alikes; ``extra`` holds all other columns.
    """

    table: Table
    physical: PhysicalTable
    columns: Mapping[str, PhysicalColumn]
    misspelt: Mapping[str, PhysicalColumn]
    extra: tuple[PhysicalColumn, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """All matches of one file.

    ``replaced`` are tables of the schema under whose name stands what has no readable rowid: a
    view, a virtual table, a WITHOUT ROWID table. ``unknown`` are ordinary tables that the schema
    does not have.
    """

    tables: Mapping[str, TableMatch]
    replaced: Mapping[str, PhysicalTable]
    unknown: tuple[PhysicalTable, ...]

    def holds(self, use: str) -> bool:
        """Whether ``TABLE`` or ``TABLE.column`` can be queried."""
        table, _, column = use.partition(".")
        match = self.tables.get(table)
        return match is not None and (not column or column in match.columns)


def match_layout(physical: PhysicalSchema, schema: Schema) -> Layout:
    """Match every object of the file with the schema."""
    by_fold = {table.name.casefold(): table for table in physical.tables.values()}
    matches: dict[str, TableMatch] = {}
    replaced: dict[str, PhysicalTable] = {}
    for name, table in schema.tables.items():
        found = by_fold.pop(name.casefold(), None)
        if found is None:
            continue
        if found.kind == "table" and found.rowid == "rowid":
            matches[name] = _match_columns(table, found)
        else:
            replaced[name] = found
    unknown = tuple(table for table in by_fold.values() if table.kind == "table")
    return Layout(matches, replaced, unknown)


def _match_columns(table: Table, physical: PhysicalTable) -> TableMatch:
    """Generated columns run expressions of the file when read, so they match nothing."""
    left = {column.name: column for column in physical.columns if not column.generated}
    folded = {name.casefold(): name for name in left}
    columns: dict[str, PhysicalColumn] = {}
    for name in table.columns:
        found = folded.get(name.casefold())
        if found is not None and found in left:
            columns[name] = left.pop(found)
    misspelt: dict[str, PhysicalColumn] = {}
    alike = {likeness(name): name for name in left}
    for name in table.columns:
        found = alike.get(likeness(name))
        if name not in columns and found is not None and found in left:
            misspelt[name] = left.pop(found)
    return TableMatch(table, physical, columns, misspelt, tuple(left.values()))


def knows_foreign(catalog: Catalog, table: str, column: str | None = None) -> str | None:
    """Who adds this table or column to exporters' files, if it is a known addition."""
    for item in catalog.foreign_objects:
        if item.table.casefold() == table.casefold() and (
            (item.column or "").casefold() == (column or "").casefold()
        ):
            return item.added_by
    return None
