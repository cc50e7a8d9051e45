"""What a table, a file or a layer shows of an entity, as SQL over the facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ascend_spec import catalog, per_spec, recording_catalog, text_catalog
from ascend_spec.core.units import factor
from ascend_spec.db.model import Column

from ...compare.follow import Shown
from ...compare.sql import quoted, text_literal
from ...engine.relations.views import with_interval
from .layers import arg_columns, layers_by_table
from .views import csv_values, event_values, row_condition, scaled, without, words

NO_TEXT = "N/A"
"""What exporters write for a text that they do not have."""


@per_spec
def shown_columns(table: str, entity: str, kinds: tuple[str, ...] = ()) -> Mapping[str, Shown]:
    """What a table of the facts shows of an entity; ``kinds``: of events, else all."""
    schema, _, name = table.partition(".")
    found: Mapping[str, Shown]
    if schema == "db":
        found = dict(_of_database(name, entity))
    elif schema == "raw":
        found = dict(_of_file(name, entity))
    else:
        found = _of_layer(name, entity, kinds)
    shown = {name: one.sql for name, one in found.items()}
    whole = with_interval(shown, recording_catalog().entities[entity].interval)
    return {name: found.get(name) or Shown(sql[1:-1], follows=True) for name, sql in whole.items()}


@per_spec
def shown_rows(table: str, entity: str, kinds: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Conditions of the rows of a table that show the entity."""
    schema, _, name = table.partition(".")
    if schema == "raw":
        file = text_catalog().csv[name]
        test = file.rows.get(entity)
        return (row_condition(f'"{test.cell}"', test, file),) if test else ()
    if schema == "db":
        return ()
    named = kinds or tuple(kind for kind, _ in _kinds(name, entity))
    return (f"kind IN ({', '.join(map(text_literal, named))})",)


def _of_database(table: str, entity: str) -> Iterator[tuple[str, Shown]]:
    for column in catalog().tables[table].columns.values():
        for place, value in enumerate(column.shows.of):
            owner, _, part = value.partition(".")
            if owner == entity and (one := _stored(column, value, place)) is not None:
                yield part, one


def _stored(column: Column, value: str, place: int) -> Shown | None:
    """A value that a column of a database shows; texts stand in the facts as such."""
    cell = quoted(column.name)
    if column.shows.form == "packed":
        return Shown(f"{cell} & 4294967295" if place else f"{cell} >> 32")
    if column.shows.form == "words":
        return Shown(words(cell, column.shows))
    entity, _, part = value.partition(".")
    value_of = recording_catalog().entities[entity].columns[part]
    if value_of.is_text and (column.text_reference or "text" in column.storage):
        return Shown(f"nullif({cell}, '{NO_TEXT}')", bare=cell)
    if column.none and column.text_reference is None:
        return Shown(without(cell, column.none), bare=cell)
    return scaled(cell, factor(column.unit, value_of.unit))


def _of_file(file: str, entity: str) -> Iterator[tuple[str, Shown]]:
    """Of headers that several writers have, as the first of them writes it: databases that such
    files are compared with are its own.
    """
    columns = {column.name: column for column in reversed(text_catalog().csv[file].columns)}
    for column in reversed(columns.values()):
        for value, one in csv_values(column.name, column):
            owner, _, part = value.partition(".")
            if owner == entity:
                yield part, one


def _kinds(table: str, entity: str) -> Iterator[tuple[str, Mapping[str, Shown]]]:
    """The kinds of events that show an entity, with what no other event says; links left out."""
    own = recording_catalog().entities[entity].identity
    there = frozenset(one.name for one in arg_columns(table))
    layer = layers_by_table()[table]
    for kind in layer.events:
        shown = event_values(layer, kind, there)
        if entity in shown:
            yield (
                kind.kind,
                {name: one for name, one in shown[entity].items() if name not in own},
            )


def _of_layer(table: str, entity: str, kinds: Sequence[str]) -> Mapping[str, Shown]:
    """What events show; where their kinds show it in other ways, by kind."""
    ways: dict[str, dict[Shown, list[str]]] = {}
    for kind, columns in _kinds(table, entity):
        for name, one in columns.items():
            if not kinds or kind in kinds:
                ways.setdefault(name, {}).setdefault(one, []).append(kind)
    found: dict[str, Shown] = {}
    for name, ways_of in ways.items():
        found[name] = next(iter(ways_of))
        if len(ways_of) > 1:
            cases = " ".join(
                f"WHEN kind IN ({', '.join(map(text_literal, some))}) THEN {one.sql}"
                for one, some in ways_of.items()
            )
            found[name] = Shown(f"CASE {cases} END")
    return found
