"""The recording in memory: entities by name, and everything that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ascend_spec.catalog import catalog
from ascend_spec.loader import Document, read_documents
from ascend_spec.model import ValueType
from ascend_spec.shows import Show
from ascend_spec.text import text_catalog
from ascend_spec.timeline import timeline_catalog

from .model import Entity, EntityColumn, Medium, Shower


@cache
def entities() -> Mapping[str, Entity]:
    """Every entity by name."""
    types = text_catalog().value_types
    return {row["entity"]: _entity(row, types) for _, row in read_documents("recording")}


def _entity(row: Document, types: Mapping[str, ValueType]) -> Entity:
    interval = row.get("interval")
    return Entity(
        name=row["entity"],
        summary=row["summary"],
        key=tuple(row["key"]),
        columns={
            name: EntityColumn(
                name,
                facts["type"],
                facts["summary"],
                unit=types[facts["type"]].unit,
                is_text="text" in types[facts["type"]].storage,
                enum=facts.get("enum"),
            )
            for name, facts in row["columns"].items()
        },
        identity=tuple(row.get("identity", ())),
        interval=tuple(interval) if interval else None,
        capture=row.get("capture"),
        derived_by=row.get("derived_by"),
    )


def enum_of(show: Show) -> str | None:
    """The enum table whose names a cell shows; ``None`` where it shows something else."""
    if show.form != "plain":
        return None
    entity, _, column = show.of[0].partition(".")
    return entities()[entity].columns[column].enum


@cache
def showers() -> tuple[Shower, ...]:
    """Every table, CSV file and kind of event, with the cells of all revisions and writers."""
    return (*_tables(), *_csv_files(), *_events())


def shower(medium: Medium, name: str) -> Shower:
    """One of them. Raises ``KeyError`` for an unknown name."""
    return _by_name()[medium, name]


def showers_of(entity: str) -> tuple[Shower, ...]:
    """Everything that shows a column of an entity."""
    return tuple(one for one in showers() if entity in one.entities)


@cache
def _by_name() -> Mapping[tuple[Medium, str], Shower]:
    return {(one.medium, one.name): one for one in showers()}


def _tables() -> Iterator[Shower]:
    for table in catalog().tables.values():
        cells = {name: column.shows for name, column in table.columns.items()}
        yield Shower("database", table.name, cells)


def _csv_files() -> Iterator[Shower]:
    for file in text_catalog().csv.values():
        cells = {column.name: column.shows for column in file.own_columns}
        yield Shower("csv", file.name, cells, file.rows)


def _events() -> Iterator[Shower]:
    for layer in timeline_catalog().layers.values():
        for kind in layer.events:
            args = {arg.name.template: arg.shows for arg in kind.args}
            cells = {**kind.shows, **args}
            yield Shower("timeline", f"{layer.slug}/{kind.kind}", cells, kind.rows, kind.fixed)
