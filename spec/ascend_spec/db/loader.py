"""From the YAML documents of this folder to the objects of :mod:`ascend_spec.db.model`.

The packaged documents are validated against ``vocabulary/`` by the test suite, not here: loading
merges each column with its value type and checks the types of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from ascend_spec.core import Document, Loader, SpecError, ValueType
from ascend_spec.core.loader import Row, part, reading, without
from ascend_spec.core.shows import shown

from . import model

FOLDER = "db"


def load_revisions(loader: Loader) -> tuple[model.Revision, ...]:
    """Revisions, oldest first."""
    revisions = loader.by("id", model.Revision, f"{FOLDER}/revisions.yaml").values()
    return tuple(sorted(revisions, key=lambda revision: revision.date))


def load_foreign_objects(loader: Loader) -> tuple[model.ForeignObject, ...]:
    """Tables and columns that exporters do not write."""
    name = f"{FOLDER}/foreign.yaml"
    return tuple(
        loader.fact(model.ForeignObject, {"column": None, **row}, place)
        for _, row, place in loader.rows(name, "table")
    )


def load_enums(loader: Loader) -> dict[str, model.Enum]:
    """Every enum with the members of all revisions."""
    documents = loader.folder.documents(f"{FOLDER}/enums")
    return {part(row, "enum", str, name): _enum(loader, row, name) for name, row in documents}


def _enum(loader: Loader, row: Document, place: str) -> model.Enum:
    source = part(row, "source", list, place)
    members = tuple(
        loader.fact(model.Member, {"source": source, **member}, f"{place}: members.{number}")
        for number, member in enumerate(part(row, "members", list, place))
    )
    own = without(row, "enum", "source")
    return loader.fact(model.Enum, own, place, name=row["enum"], members=members)


def load_tables(loader: Loader) -> dict[str, model.Table]:
    """Every table of every carrier. One document may name several tables of identical shape."""
    tables: dict[str, model.Table] = {}
    for name, row in loader.folder.documents(f"{FOLDER}/tables"):
        with reading(name):
            tables |= {table: _table(loader, table, row, name) for table in _names(row, name)}
    return tables


def _names(row: Document, place: str) -> Iterator[str]:
    names = row["table"]
    yield from names if isinstance(names, list) else [part(row, "table", str, place)]


def _table(loader: Loader, name: str, row: Document, document: str) -> model.Table:
    source = part(row, "source", list, document)
    columns = {
        column: load_column(loader, column, facts, source, f"{document}: columns.{column}")
        for column, facts in part(row, "columns", dict, document).items()
    }
    own = without(loader.products.of_table(row, name), "table")
    return loader.fact(model.Table, own, f"{document}: {name}", name=name, columns=columns)


def load_column(
    loader: Loader, name: str, row: Row, table_source: list[str], place: str
) -> model.Column:
    """A column's own facts laid over those of its value type."""
    kind = typed(loader.value_types, row, place)
    facts = {"name": name, "source": table_source, **type_facts(kind), **row}
    return loader.fact(model.Column, facts, place, shows=shown(row, place))


def typed(types: Mapping[str, ValueType], row: Row, place: str) -> ValueType:
    """The value type that a row names."""
    if not isinstance(row, Mapping):
        raise SpecError(f"{place}: expected a mapping, got {row!r}")
    name = row.get("type")
    if not isinstance(name, str) or name not in types:
        raise SpecError(f"{place}: type: unknown value type {name!r}")
    return types[name]


def type_facts(kind: ValueType) -> dict[str, Any]:
    """What a column of a value type is where it does not say otherwise."""
    return {one.name: getattr(kind, one.name) for one in fields(kind) if one.name != "id"}
