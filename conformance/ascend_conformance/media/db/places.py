"""Where a rule applies: place selectors expanded over a schema.

A selector is a name from a closed set. Each place is a mapping of placeholders (``table``,
``column``, ``start`` …) that are filled into the rule's SQL. Placeholder values come from the
spec only, never from the file under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ascend_spec import Catalog, Schema
from ascend_spec.db.model import Column, Table

from ...ruleset import fill
from .rules import DbRule, applies_at

Place = Mapping[str, str]
Selector = Callable[[Schema, Catalog], Iterator[Place]]

AFFINITY_STORAGE: Mapping[str, frozenset[str]] = {
    "INTEGER": frozenset({"integer"}),
    "NUMERIC": frozenset({"integer", "real"}),
    "REAL": frozenset({"real"}),
    "TEXT": frozenset({"text"}),
}
"""What a column of this declared type holds after SQLite applied its affinity."""


@dataclass(frozen=True)
class Instance:
    """One rule at one place: the unit that is run, counted, broken and reported.

    ``uses`` holds every ``TABLE.column`` the SQL reads, ``PROFILER.TABLE.column`` excepted.
    """

    rule: DbRule
    table: str | None
    column: str | None
    place: Place
    uses: tuple[str, ...]
    row: str | None = None
    select: str | None = None

    @cached_property
    def at(self) -> str:
        """``TABLE.column``, ``TABLE`` or nothing for the file itself."""
        return ".".join(part for part in (self.table, self.column) if part)

    @property
    def key(self) -> str:
        """``DB203@TASK.taskType``: stable name of the instance."""
        return f"{self.rule.id}@{self.at}"


def instances(rule: DbRule, schema: Schema, catalog: Catalog) -> Iterator[Instance]:
    """The rule at every place of the schema where it applies."""
    if not applies_at(rule, schema.carrier, schema.revision.date):
        return
    selected = (
        SELECTORS[rule.search.places][1](schema, catalog)
        if isinstance(rule.search.places, str)
        else iter(rule.search.places)
    )
    for place in selected:
        table = place.get("table")
        column = fill(rule.column, place) or place.get("column")
        uses = fill(rule.search.uses, place)
        if not rule.search.uses and table and column:
            uses = (f"{table}.{column}", *place.get("further_uses", "").split())
        if _stands_in(schema, rule, table, uses):
            yield Instance(
                rule,
                table,
                column,
                place,
                uses,
                fill(rule.row, place),
                fill(rule.select, place),
            )


def _stands_in(schema: Schema, rule: DbRule, table: str | None, uses: tuple[str, ...]) -> bool:
    """Whether this schema has everything the rule looks at; code rules decide for themselves."""
    if rule.search.code:
        return isinstance(rule.search.places, str) or table is None or table in schema.tables
    local = [use for use in uses if not use.startswith("profiler.")]
    return (table is None or table in schema.tables) and all(
        use in schema.tables if "." not in use else schema.column(use) is not None for use in local
    )


def quoted(values: tuple[str, ...]) -> str:
    """Texts as a SQL list."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def _file(_schema: Schema, _catalog: Catalog) -> Iterator[Place]:
    yield {}


def _tables(fits: Callable[[Schema, Table], object] = lambda *_: True) -> Selector:
    """The tables of which this holds."""

    def select(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
        for table in schema.tables.values():
            if fits(schema, table):
                yield {"table": table.name}

    return select


def _columns(fits: Callable[[Column], object] = lambda _: True) -> Selector:
    """The columns of which this holds."""

    def select(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
        for _, column, place in _all_columns(schema):
            if fits(column):
                yield place

    return select


def _all_columns(schema: Schema) -> Iterator[tuple[Table, Column, dict[str, str]]]:
    for table in schema.tables.values():
        for column in table.columns.values():
            yield table, column, {"table": table.name, "column": column.name}


def sound_storage(column: Column) -> set[str]:
    """The storage classes that a value may have under any of the declared types."""
    further = (AFFINITY_STORAGE[declared] for declared in column.also_declared)
    return set(column.storage).union(*further)


def _typed_columns(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
    """Columns whose values can have a wrong storage class; a rowid alias cannot."""
    for _, column, place in _all_columns(schema):
        if not column.primary_key:
            classes = {*sound_storage(column), "null"}
            yield {
                **place,
                "classes": quoted(tuple(sorted(classes))),
                "storage": " or ".join(sorted(classes - {"null"})),
                "wrong": "x'00'",
            }


def _spare(column: Column) -> str:
    """SQL that leaves the sentinels of a column out."""
    sentinels = ", ".join(map(str, column.none))
    return f" AND {column.name} NOT IN ({sentinels})" if sentinels else ""


def _bounded(bound: str) -> Selector:
    """Columns with this bound; the ids of an enum table are judged by their names instead."""

    def select(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
        for table, column, place in _all_columns(schema):
            value = getattr(column, bound)
            if value is not None and table.name not in schema.enums:
                unit = column.unit or ""
                yield {**place, bound: str(value), "spare": _spare(column), "unit": unit}

    return select


def reference_kind(target: str) -> str:
    """``string``, ``enum`` or ``row``: what a reference into this ``TABLE.column`` means."""
    table = target.partition(".")[0]
    if table == "STRING_IDS":
        return "string"
    return "enum" if table.startswith("ENUM_") else "row"


def _references(kind: str) -> Selector:
    """References of one kind; ``soft`` selects those that real exporters may leave open."""

    def select(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
        for _, column, place in _all_columns(schema):
            targets = [target for target in column.references if schema.column(target)]
            found = "soft" if column.soft_reference else reference_kind((targets or ["."])[0])
            if targets and found == kind:
                yield {
                    **place,
                    "targets": " ".join(targets),
                    "target": " or ".join(targets),
                    "spare": _spare(column),
                }

    return select


def _member_columns(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
    """Columns whose texts form a closed set, held directly or through STRING_IDS."""
    for _, column, place in _all_columns(schema):
        if column.members:
            through = "STRING_IDS.id" in column.references
            texts = quoted(column.members)
            held = (
                f"(SELECT id FROM STRING_IDS WHERE value IN ({texts}))" if through else f"({texts})"
            )
            yield {
                **place,
                "members": texts,
                "held": held,
                "known": f" AND {column.name} IN (SELECT id FROM STRING_IDS)" if through else "",
                "further_uses": "STRING_IDS.id STRING_IDS.value" if through else "",
            }


def _timed(what: Literal["interval", "sample"], session_start: str | None = None) -> Selector:
    """Tables of intervals or of samples, all or those that none may stand in before the session."""

    def select(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
        for table in schema.tables.values():
            if session_start not in (None, table.session_start):
                continue
            if what == "sample" and table.sample:
                yield {"table": table.name, "sample": table.sample}
            elif what == "interval" and table.interval:
                start, end = table.interval
                yield {"table": table.name, "start": start, "end": end}

    return select


def _indexes(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
    for table in schema.tables.values():
        for index, over in table.indexes.items():
            yield {"table": table.name, "index": index, "over": ", ".join(over)}


def _enum_members(schema: Schema, _catalog: Catalog) -> Iterator[Place]:
    for enum, members in schema.enums.items():
        for identifier, name in members.items():
            yield {"table": enum, "id": str(identifier), "name": name.replace("'", "''")}


def _other_tables(schema: Schema, catalog: Catalog) -> Iterator[Place]:
    """Tables that the spec knows, but not for this carrier at this revision."""
    foreign = {item.table for item in catalog.foreign_objects if item.column is None}
    for name in catalog.tables:
        if name not in schema.tables and name not in foreign:
            yield {"table": name}


def _other_columns(schema: Schema, catalog: Catalog) -> Iterator[Place]:
    """Columns that the spec knows at another revision of a table that stands here."""
    foreign = {(item.table, item.column) for item in catalog.foreign_objects}
    for name, table in schema.tables.items():
        for column in catalog.tables[name].columns.values():
            if column.name not in table.columns and (name, column.name) not in foreign:
                yield {"table": name, "column": column.name, "declared": column.declared}


def _foreign_tables(schema: Schema, catalog: Catalog) -> Iterator[Place]:
    for item in catalog.foreign_objects:
        if item.column is None and item.table not in schema.tables:
            yield {"table": item.table, "added_by": item.added_by}


def _foreign_columns(schema: Schema, catalog: Catalog) -> Iterator[Place]:
    for item in catalog.foreign_objects:
        table = schema.tables.get(item.table)
        if item.column is not None and table and item.column not in table.columns:
            yield {"table": item.table, "column": item.column, "added_by": item.added_by}


SELECTORS: Mapping[str, tuple[str, Selector]] = {
    "file": ("the file", _file),
    "table": ("every table", _tables()),
    "always-table": (
        "every table that a database always holds",
        _tables(lambda schema, table: table.carriers[schema.carrier] == "always"),
    ),
    "optional-table": (
        "every table that a database may lack",
        _tables(lambda schema, table: table.carriers[schema.carrier] != "always"),
    ),
    "one-row-table": (
        "every table of exactly one row",
        _tables(lambda _, table: table.rows == "one"),
    ),
    "column": ("every column", _columns()),
    "key-column": ("every primary key", _columns(lambda column: column.primary_key)),
    "plain-column": (
        "every column but primary keys",
        _columns(lambda column: not column.primary_key),
    ),
    "typed-column": ("every column but primary keys", _typed_columns),
    "never-null-column": (
        "every column that is never NULL",
        _columns(lambda column: not column.primary_key and not column.nullable),
    ),
    "minimum-column": ("every column with a least value", _bounded("minimum")),
    "maximum-column": ("every column with a greatest value", _bounded("maximum")),
    "real-column": (
        "every column of floating point numbers",
        _columns(lambda column: "real" in column.storage and not column.primary_key),
    ),
    "text-column": (
        "every column of texts",
        _columns(lambda column: "text" in column.storage),
    ),
    "string-reference": ("every reference into STRING_IDS", _references("string")),
    "enum-reference": ("every reference into an enum table", _references("enum")),
    "row-reference": ("every reference to a row of another table", _references("row")),
    "soft-reference": ("every reference that may lead nowhere", _references("soft")),
    "time-text-column": (
        "every column of times written as text",
        _columns(lambda column: column.type == "timestampText"),
    ),
    "member-column": ("every column with a closed set of texts", _member_columns),
    "interval": ("every table of intervals", _timed("interval")),
    "hard-interval": (
        "every table of intervals in which none starts before the session",
        _timed("interval", "hard"),
    ),
    "sample": ("every sampled table", _timed("sample")),
    "hard-sample": (
        "every sampled table without a sample before the session",
        _timed("sample", "hard"),
    ),
    "index": ("every index", _indexes),
    "enum": ("every enum", _tables(lambda schema, table: table.name in schema.enums)),
    "enum-member": ("every enum member", _enum_members),
    "other-table": ("every table of another revision or database", _other_tables),
    "other-column": ("every column of another revision", _other_columns),
    "foreign-table": ("every table that another program adds", _foreign_tables),
    "foreign-column": ("every column that another program adds", _foreign_columns),
}
"""The place selectors of rules: in words, and the places of a schema."""
