"""The spec in memory: load once, then ask for the state of one carrier at one revision.

The packaged documents are validated against ``vocabulary/`` by the test suite, not here: loading
merges each column with its value type and checks the types of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TypeVar

from ascend_spec.core import (
    DAYS,
    Decision,
    Document,
    Erratum,
    Loader,
    Products,
    ValueType,
    decisions,
)
from ascend_spec.core.loader import Row, part, reading, tuples, type_facts, typed, without
from ascend_spec.core.shows import shown

from .model import (
    Carried,
    Carrier,
    Column,
    Enum,
    ForeignObject,
    Member,
    Reading,
    Revision,
    Table,
)

FOLDER = "db"

AnyPart = TypeVar("AnyPart", Column, Table)


@dataclass(frozen=True)
class Schema:
    """What one carrier holds at one revision, under one reading.

    ``tables`` holds, in the spec's order, the tables and columns in force; ``enums`` the rows
    that an exporter of this revision writes; ``accepted`` the further names that real files hold
    for an id (other revisions, other carriers, documents). ``adapter``: with what the adapter of
    torch_npu adds to the tables of an analysis. ``device_data``: with what CANN's profiler writes
    into a database of torch_npu.
    """

    carrier: Carrier
    revision: Revision
    reading: Reading
    tables: Mapping[str, Table]
    enums: Mapping[str, Mapping[int, str]]
    accepted: Mapping[str, Mapping[int, frozenset[str]]]
    adapter: bool = True
    device_data: bool = True

    def column(self, place: str) -> Column | None:
        """The column at ``TABLE.column``, or ``None`` where this schema has none."""
        table, _, column = place.partition(".")
        return self.tables[table].columns.get(column) if table in self.tables else None

    @property
    def without_adapter(self) -> Schema:
        """What MindSpore keeps of it: nothing that the adapter of torch_npu alone writes."""
        tables = {
            name: replace(table, columns=_shared(table.columns))
            for name, table in _shared(self.tables).items()
        }
        return replace(self, tables=tables, adapter=False)


def _without_keys(columns: Mapping[str, Column]) -> dict[str, Column]:
    return {name: replace(column, primary_key=False) for name, column in columns.items()}


def _shared(facts: Mapping[str, AnyPart]) -> dict[str, AnyPart]:
    return {name: one for name, one in facts.items() if not one.adapter_only}


class Catalog:
    """Every fact about the databases, all revisions together; ``Spec.db`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents
        revisions = documents.by("id", Revision, f"{FOLDER}/revisions.yaml").values()
        self.revisions = tuple(sorted(revisions, key=lambda revision: revision.date))
        """Oldest first."""
        self.tables: Mapping[str, Table] = dict(_tables(documents))
        """By name, those of every carrier."""

    @property
    def products(self) -> Products:
        """Products by id, and which has which data."""
        return self.documents.products

    @cached_property
    def enums(self) -> Mapping[str, Enum]:
        """Enum tables by name."""
        documents = self.documents.folder.documents(f"{FOLDER}/enums")
        return {
            part(row, "enum", str, name): _enum(self.documents, row, name)
            for name, row in documents
        }

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def decisions(self) -> Mapping[str, Decision]:
        """Where errata decide against the documents, by ``TABLE.column``."""
        return decisions(self.errata, self.documents.sources)

    @cached_property
    def foreign_objects(self) -> tuple[ForeignObject, ...]:
        """What viewers and old exporters add to a file."""
        return tuple(
            self.documents.fact(ForeignObject, {"column": None, **row}, place)
            for _, row, place in self.documents.rows(f"{FOLDER}/foreign.yaml", "table")
        )

    @cached_property
    def carried(self) -> tuple[Carried, ...]:
        """How cells are made across a day, where names, types and sentinels do not say."""
        return tuple(
            self.documents.fact(Carried, row, place)
            for _, row, place in self.documents.rows(f"{FOLDER}/carried.yaml", "table")
        )

    def revision(self, name: str) -> Revision:
        """The revision with this id, or the newest one of a SCHEMA_VERSION.

        Raises ``KeyError`` naming the known ids when there is none.
        """
        for revision in reversed(self.revisions):
            if name in (revision.id, revision.schema_version):
                return revision
        known = ", ".join(revision.id for revision in self.revisions)
        raise KeyError(f"unknown revision {name!r}; known: {known}")

    def state(self, name: str) -> Revision:
        """A revision by its id, or the state of a day (ISO), with the version of the last revision
        until then.
        """
        known = {one.id: one for one in self.revisions}
        if name in known:
            return known[name]
        before = [one for one in self.observed if one.date <= name] or self.observed[:1]
        return replace(before[-1], id=name, date=name, summary=f"The state of {name}.")

    @property
    def observed(self) -> tuple[Revision, ...]:
        """The revisions in the order of time, without what is only a reading of the documents."""
        return tuple(one for one in self.revisions if one.grade != "documented")

    def at(self, revision: str, carrier: Carrier, reading: Reading = "observed") -> Schema:
        """The schema of a carrier at a revision (an id, or a SCHEMA_VERSION for its newest)."""
        return self.schema(self.revision(revision), carrier, reading)

    @cache  # noqa: B019 - the catalog lives as long as the process
    def schema(self, chosen: Revision, carrier: Carrier, reading: Reading) -> Schema:
        """The schema of a carrier at a revision, or on a day (:meth:`state`)."""
        tables = {
            table.name: self._table_at(table, chosen.date, reading)
            for table in self.tables.values()
            if table.is_held(carrier, chosen.date)
        }
        if reading == "documented":
            tables = {name: table for name, table in tables.items() if table.grade == "documented"}
        enums = {
            name: self._members_at(enum, chosen.date, carrier, reading)
            for name, enum in self.enums.items()
            if name in tables
        }
        accepted = {name: self._accepted(self.enums[name]) for name in enums}
        return Schema(carrier, chosen, reading, tables, enums, accepted)

    def without_device_data(self, schema: Schema) -> Schema:
        """What torch_npu writes alone, where CANN's profiler did not run: no keys (erratum E56)."""
        tables = {
            name: replace(table, columns=_without_keys(table.columns))
            for name, table in schema.tables.items()
            if table.writer == "torch_npu" or table.without_device_data
        }
        own = {
            (name, member.id)
            for name in schema.enums
            for member in self.enums[name].members
            if member.carriers
        }
        enums = {
            name: {one: text for one, text in members.items() if (name, one) in own}
            for name, members in schema.enums.items()
            if name in tables
        }
        return replace(schema, tables=tables, enums=enums, device_data=False)

    def _table_at(self, table: Table, date: str, reading: Reading) -> Table:
        columns = {
            column.name: column for column in table.columns.values() if DAYS.in_force(column, date)
        }
        if reading == "documented":
            columns = dict(
                self._documented(f"{table.name}.{name}", column)
                for name, column in columns.items()
                if column.grade == "documented"
            )
        return replace(table, columns=columns)

    def _documented(self, place: str, column: Column) -> tuple[str, Column]:
        """The column as the documents state it: errata patches applied."""
        for erratum in self.errata.values():
            patch = erratum.documented.get(place)
            if patch:
                column = _patched(column, patch, self.documents.value_types)
        return column.name, column

    def _members_at(
        self, enum: Enum, date: str, carrier: Carrier, reading: Reading
    ) -> dict[int, str]:
        return {
            member.id: member.name
            for member in enum.members
            if DAYS.in_force(member, date)
            and (
                member.grade == "documented"
                if reading == "documented"
                else member.emitted and (not member.carriers or carrier in member.carriers)
            )
        }

    @staticmethod
    def _accepted(enum: Enum) -> dict[int, frozenset[str]]:
        names: dict[int, set[str]] = {}
        for member in enum.members:
            names.setdefault(member.id, set()).add(member.name)
        return {identifier: frozenset(found) for identifier, found in names.items()}


def _patched(column: Column, patch: Mapping[str, object], types: Mapping[str, ValueType]) -> Column:
    changes = tuples(patch)
    kind = changes.get("type")
    if isinstance(kind, str):
        changes = {**type_facts(types[kind]), "summary": column.summary, **changes}
    return replace(column, **changes)


def _enum(loader: Loader, row: Document, place: str) -> Enum:
    source = part(row, "source", list, place)
    members = tuple(
        loader.fact(Member, {"source": source, **member}, f"{place}: members.{number}")
        for number, member in enumerate(part(row, "members", list, place))
    )
    own = without(row, "enum", "source")
    return loader.fact(Enum, own, place, name=row["enum"], members=members)


def _tables(loader: Loader) -> Iterator[tuple[str, Table]]:
    """Every table by name. One document may name several tables of identical shape."""
    for name, row in loader.folder.documents(f"{FOLDER}/tables"):
        with reading(name):
            names = row["table"]
            for table in names if isinstance(names, list) else [part(row, "table", str, name)]:
                yield table, _table(loader, table, row, name)


def _table(loader: Loader, name: str, row: Document, document: str) -> Table:
    source = part(row, "source", list, document)
    columns = {
        column: _column(loader, column, facts, source, f"{document}: columns.{column}")
        for column, facts in part(row, "columns", dict, document).items()
    }
    own = without(loader.products.of_table(row, name), "table")
    return loader.fact(Table, own, f"{document}: {name}", name=name, columns=columns)


def _column(loader: Loader, name: str, row: Row, table_source: list[str], place: str) -> Column:
    """A column's own facts laid over those of its value type."""
    kind = typed(loader.value_types, row, place)
    facts = {"name": name, "source": table_source, **type_facts(kind), **row}
    return loader.fact(Column, facts, place, shows=shown(row, place))
