"""What a table, a file or a layer shows of an entity, as SQL over the facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ascend_spec import catalog, per_spec, recording_catalog, text_catalog
from ascend_spec.core.units import factor
from ascend_spec.db.model import Column
from ascend_spec.recording import Entity

from ...compare.follow import Shown
from ...compare.sql import quoted, text_literal
from ...engine.relations.views import with_interval
from .layers import arg_columns, layers_by_table
from .views import csv_values, event_parts, row_condition, words

_ALIAS = re.compile(r"\b[ep]\.")
"""Of events and processes, which layers have in one."""
NO_TEXT = "N/A"
"""What exporters write for a text that they do not have."""

_WHOLE = re.compile(r"CAST\(round\((.+) \* ([0-9]+)\) AS BIGINT\)")
"""A cell in the unit of its entity, as views have it."""
_KNOWN = (
    re.compile(r"\(CASE WHEN CAST\((.+) AS VARCHAR\) IN \([^()]*\) THEN NULL ELSE \1 END\)"),
    re.compile(rf"""nullif\(("[^"]+"), '{NO_TEXT}'\)"""),
)
"""A cell without what stands for no value."""


@per_spec
def shown_columns(table: str, entity: str, kinds: tuple[str, ...] = ()) -> Mapping[str, Shown]:
    """What a table of the facts shows of an entity; ``kinds``: of events, else all."""
    facts = recording_catalog().entities[entity]
    found = _columns(table, entity, kinds)
    whole = with_interval(found, facts.interval)
    known = set(_with_sentinels(table, entity))
    return {
        name: _cell(sql, name in known) if name in found else Shown(sql[1:-1], follows=True)
        for name, sql in whole.items()
    }


def _cell(sql: str, has_sentinel: bool) -> Shown:
    """A value with what views make of its cell taken apart again."""
    if scaled := _WHOLE.fullmatch(sql):
        return Shown(sql, scaled[1], int(scaled[2]))
    found = next(filter(None, (one.fullmatch(sql) for one in _KNOWN)), None)
    return Shown(sql, bare=found[1] if found else sql if has_sentinel else None)


def _with_sentinels(table: str, entity: str) -> Iterator[str]:
    """The columns whose sentinels a CSV file's facts do not have any more."""
    schema, _, name = table.partition(".")
    for column in text_catalog().csv[name].columns if schema == "raw" else ():
        for value in column.shows.of if column.sentinels else ():
            owner, _, part = value.partition(".")
            if owner == entity:
                yield part


def _columns(table: str, entity: str, kinds: Sequence[str]) -> Mapping[str, str]:
    """SQL by column of the entity."""
    schema, _, name = table.partition(".")
    if schema == "db":
        return dict(_of_database(name, entity))
    if schema == "raw":
        return dict(_of_file(name, entity))
    return _of_layer(name, entity, kinds)


@per_spec
def shown_rows(table: str, entity: str, kinds: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Conditions of the rows of a table that show the entity."""
    schema, _, name = table.partition(".")
    if schema == "raw":
        test = text_catalog().csv[name].rows.get(entity)
        return (row_condition(f'"{test.cell}"', test),) if test else ()
    if schema == "db":
        return ()
    named = kinds or tuple(kind for kind, _ in _kinds(name, entity))
    return (f"kind IN ({', '.join(map(text_literal, named))})",)


def _of_database(table: str, entity: str) -> Iterator[tuple[str, str]]:
    for column in catalog().tables[table].columns.values():
        for place, value in enumerate(column.shows.of):
            owner, _, part = value.partition(".")
            if owner == entity and (sql := _stored(column, value, place)) is not None:
                yield part, sql


def _stored(column: Column, value: str, place: int) -> str | None:
    """A value that a column of a database shows; texts stand in the facts as such."""
    cell = quoted(column.name)
    if column.shows.form == "packed":
        return f"{cell} & 4294967295" if place else f"{cell} >> 32"
    if column.shows.form == "words":
        return words(cell, column.shows)
    entity, _, part = value.partition(".")
    value_of = recording_catalog().entities[entity].columns[part]
    if value_of.is_text and (column.text_reference or "text" in column.storage):
        return f"nullif({cell}, '{NO_TEXT}')"
    times = factor(column.unit, value_of.unit)
    if column.none and column.text_reference is None:
        listed = ", ".join(text_literal(str(one)) for one in column.none)
        return f"(CASE WHEN CAST({cell} AS VARCHAR) IN ({listed}) THEN NULL ELSE {cell} END)"
    if times is None or times == 1:
        return cell if times else None
    return f"CAST(round({cell} * {times}) AS BIGINT)"


def _of_file(file: str, entity: str) -> Iterator[tuple[str, str]]:
    for column in text_catalog().csv[file].columns:
        for value, sql in csv_values(column.name, column):
            owner, _, part = value.partition(".")
            if owner == entity:
                yield part, sql


def _kinds(table: str, entity: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The kinds of events that show an entity, with SQL by column of what no other event says."""
    facts = recording_catalog().entities[entity]
    there = frozenset(one.name for one in arg_columns(table))
    layer = layers_by_table()[table]
    for kind in layer.events:
        for owner, part in event_parts(layer, kind, table, there):
            if owner == entity:
                yield (
                    kind.kind,
                    {
                        name: _ALIAS.sub("", sql)
                        for name, sql in part.columns.items()
                        if "h." not in sql and not _is_own(facts, name, sql)
                    },
                )


def _is_own(entity: Entity, name: str, sql: str) -> bool:
    """Whether a value is the medium's own: a number that only links, or worked out of others."""
    return name in entity.identity or (name in (entity.interval or ()) and sql.startswith("("))


def _of_layer(table: str, entity: str, kinds: Sequence[str]) -> Mapping[str, str]:
    """What events show; where their kinds show it in other ways, by kind."""
    ways: dict[str, dict[str, list[str]]] = {}
    for kind, columns in _kinds(table, entity):
        for name, sql in columns.items():
            if not kinds or kind in kinds:
                ways.setdefault(name, {}).setdefault(sql, []).append(kind)
    found: dict[str, str] = {}
    for name, ways_of in ways.items():
        found[name] = next(iter(ways_of))
        if len(ways_of) > 1:
            cases = " ".join(
                f"WHEN kind IN ({', '.join(map(text_literal, some))}) THEN {sql}"
                for sql, some in ways_of.items()
            )
            found[name] = f"CASE {cases} END"
    return found
