"""The databases at a revision or on a day: carriers, tables, columns, indexes, enums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ascend_spec import Schema, Spec
from ascend_spec.core import Alteration
from ascend_spec.core.bounds import allows
from ascend_spec.db.model import (
    CARRIERS,
    Carrier,
    Column,
    Enum,
    Member,
    Presence,
    Reading,
    Revision,
    Table,
)

from .element import Degree, Element, Fact, Limits
from .facts import alterations, closed, counted, show_text

PRESENCES: tuple[Presence, ...] = ("by-switch", "when-rows", "always")
"""The rarest first."""


def databases(spec: Spec, revision: Revision) -> Mapping[str, Element]:
    """By carrier what a database holds; of a documented revision, what the documents say."""
    reading: Reading = "documented" if revision.grade == "documented" else "observed"
    schemas = (spec.db.schema(revision, carrier, reading) for carrier in CARRIERS)
    return {schema.carrier: _database(spec, schema, schema.tables.values()) for schema in schemas}


def database_of(spec: Spec, table: str, carrier: Carrier, revision: Revision) -> Element:
    """A database of which only one table or enum table is looked at."""
    schema = spec.db.schema(revision, carrier, "observed")
    return _database(spec, schema, [schema.tables[table]] if table in schema.tables else [])


def _database(spec: Spec, schema: Schema, tables: Iterable[Table]) -> Element:
    enums = spec.db.enums
    children = (
        _enum(enums[table.name], table, schema)
        if table.name in enums
        else _table(spec, table, schema)
        for table in tables
    )
    return Element("carrier", schema.carrier, schema.carrier, children=tuple(children))


def _table(spec: Spec, table: Table, schema: Schema) -> Element:
    columns = tuple(_columns(spec, table, schema))
    parts = *columns, *_indexes(table), *_alterations("table", table.name, table.changed, schema)
    return _named("table", table, schema, parts, shown=counted(len(columns), "column"))


def _named(
    kind: str, table: Table, schema: Schema, children: tuple[Element, ...], shown: str, **more: Fact
) -> Element:
    """A table by the name that it has at the state."""
    name, former = table.name, table.renamed_from
    if former is not None and table.renamed_on and schema.revision.date < table.renamed_on:
        name, former = former, None
    return Element(
        kind,
        name,
        name,
        facts={**_table_facts(table, schema.carrier), **more},
        children=children,
        former=(former,) if former else (),
        shown=shown,
    )


def _table_facts(table: Table, carrier: Carrier) -> dict[str, Fact]:
    return {
        "summary": table.summary,
        "presence": Degree(table.carriers[carrier], PRESENCES.index(table.carriers[carrier])),
        "writer": table.writer,
        "switches": frozenset(table.switches),
        "products": closed(table.products),
        "levels": frozenset(map(str, table.levels)),
        "rows": table.rows,
        "interval": table.interval,
        "sample": table.sample,
        "session start": _session_start(table.session_start),
        "device": table.device,
    }


def _session_start(start: str | None) -> Degree:
    """What it says of rows before the session; without it anything."""
    return Degree(start or "not kept", ("hard", "soft", None).index(start))


def _indexes(table: Table) -> Iterator[Element]:
    for name, over in table.indexes.items():
        yield Element(
            "table", table.name, name, {"columns": over}, part="index", place=f"index {name}"
        )


def _columns(spec: Spec, table: Table, schema: Schema) -> Iterator[Element]:
    every = spec.db.tables[table.name].columns.values()
    for column in table.columns.values():
        earlier = any(
            one.name == column.name and one.shows != column.shows and _ends_before(one, column)
            for one in every
        )
        name = f"{table.name}.{column.name}"
        yield Element(
            "column",
            name,
            column.name,
            facts=_column_facts(column),
            children=tuple(_alterations("column", name, column.changed, schema)),
            former=tuple(filter(None, (column.renamed_from,))),
            ordered=True,
            returned=earlier,
            shown=", ".join(filter(None, (column.declared, column.unit))),
        )


def _alterations(
    kind: str, name: str, changed: Iterable[Alteration], schema: Schema
) -> Iterator[Element]:
    """What is otherwise at the state under the same name."""
    here = (one for one in changed if allows(one.carriers, schema.carrier))
    return alterations(kind, name, here, schema.revision.date)


def _column_facts(column: Column) -> dict[str, Fact]:
    return {
        "summary": column.summary,
        "declared": column.declared,
        "storage": frozenset(column.storage),
        "primary key": column.primary_key,
        "unit": column.unit,
        "range": Limits(column.minimum, column.maximum),
        "no value": frozenset(map(str, column.none)),
        "null": column.nullable,
        "members": closed(column.members),
        "references": closed(column.references),
        "reference": Degree(*(("soft", 1) if column.soft_reference else ("hard", 0))),
        "shows": show_text(column.shows),
    }


def _enum(enum: Enum, table: Table, schema: Schema) -> Element:
    members = tuple(_members(enum, schema.enums.get(enum.name, {}), schema))
    changed = (*table.changed, *(one for of in table.columns.values() for one in of.changed))
    parts = *members, *_alterations("enum", table.name, changed, schema)
    return _named("enum", table, schema, parts, counted(len(members), "member"), closed=enum.closed)


def _members(enum: Enum, names: Mapping[int, str], schema: Schema) -> Iterator[Element]:
    for number, name in names.items():
        yield Element(
            "member",
            f"{enum.name}/{number}",
            str(number),
            label=name,
            returned=_meant_something_else(enum.members, number, name, schema.revision.date),
        )


def _meant_something_else(members: Iterable[Member], number: int, name: str, date: str) -> bool:
    """Whether a number had another name in a time that was over before it got this one."""
    since = next((one.since or "" for one in members if (one.id, one.name) == (number, name)), "")
    return any(
        one.id == number
        and one.name != name
        and one.until is not None
        and one.until < since <= date
        for one in members
    )


def _ends_before(one: Column, other: Column) -> bool:
    return one.until is not None and other.since is not None and one.until <= other.since
