"""Which columns the table of a recording has, and of which Arrow types: derived from the spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ascend_ref.db.introspect import fold
from ascend_spec import catalog, per_spec
from ascend_spec.db.model import Carrier, Column, Table

TEXT: Final = pa.dictionary(pa.int32(), pa.string())
NUMBERS_AS_TEXT: Final = frozenset({"timestampText"})
"""Value types that the database stores as decimal text; a recording holds the number."""

CARRIERS: Final[Mapping[str, tuple[Carrier, ...]]] = {
    "pytorch": ("pytorch", "analysis"),
    "msprof": ("msprof",),
}
"""The databases of an output. Tables that stand in both are alike in all columns."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A table at the newest revision. references: of each text column, STRINGS or an enum."""

    name: str
    columns: Mapping[str, Column]
    schema: pa.Schema
    references: Mapping[str, str]

    def empty(self) -> pa.Table:
        """The table without rows."""
        return self.schema.empty_table()


@per_spec
def shape_of(output: str, name: str) -> Shape:
    """The shape of a table. Raises ``KeyError`` naming a table that no database has."""
    newest = catalog().revisions[-1].id
    for carrier in CARRIERS[output]:
        tables = catalog().at(newest, carrier).tables
        if name in tables:
            return _shape(name, tables[name].columns)
    raise KeyError(f"unknown table {name!r} of the output {output}")


def sources(shape: Shape, own: Table | None, present: Iterable[str]) -> Mapping[str, str]:
    """The columns that are present, by the newest names of those that stand in them.

    own: the table at the revision of what is present. A column that once had the name of a newer
    one is known by its revision (blockDim).
    """
    spelling = {fold(name): name for name in present}
    found: dict[str, str] = {}
    for name, column in shape.columns.items():
        same = own is None or name not in own.columns or own.columns[name].type == column.type
        for spelled in (name if same else None, column.renamed_from):
            if spelled and fold(spelled) in spelling and name not in found:
                found[name] = spelling[fold(spelled)]
    return found


def _shape(name: str, columns: Mapping[str, Column]) -> Shape:
    references = {
        column.name: reference
        for column in columns.values()
        if (reference := column.text_reference) is not None
    }
    fields = [
        pa.field(column.name, TEXT if column.name in references else _arrow_type(column))
        for column in columns.values()
    ]
    return Shape(name, columns, pa.schema(fields), references)


def _arrow_type(column: Column) -> pa.DataType:
    if column.type in NUMBERS_AS_TEXT:
        return pa.int64()
    if "text" in column.storage:
        return TEXT
    return pa.float64() if "real" in column.storage else pa.int64()
