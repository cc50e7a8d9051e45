"""The recording in memory: entities by name, and everything that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ascend_spec.core import Document
from ascend_spec.core.loader import typed, without
from ascend_spec.core.shows import Show

from .model import Entity, EntityColumn, Shower

if TYPE_CHECKING:
    from ascend_spec.core import Loader
    from ascend_spec.db import Catalog
    from ascend_spec.mindspore import MindSporeCatalog
    from ascend_spec.text import TextCatalog
    from ascend_spec.timeline import TimelineCatalog

FOLDER = "recording"


class Catalogs(Protocol):
    """The media of one spec, as :class:`ascend_spec.Spec` has them."""

    @property
    def loader(self) -> Loader:
        """Reads the documents."""

    @property
    def db(self) -> Catalog:
        """Databases."""

    @property
    def text(self) -> TextCatalog:
        """CSV files."""

    @property
    def timeline(self) -> TimelineCatalog:
        """Timelines."""

    @property
    def mindspore(self) -> MindSporeCatalog:
        """Intermediate files of MindSpore's profiler."""


class Recording:
    """The entities of one spec and what shows them; ``Spec.recording`` is the loaded one."""

    def __init__(self, spec: Catalogs) -> None:
        self._spec = spec

    @cached_property
    def entities(self) -> Mapping[str, Entity]:
        """Every entity by name."""
        documents = self._spec.loader.folder.documents(FOLDER)
        return {row["entity"]: self._entity(row, name) for name, row in documents}

    @cached_property
    def showers(self) -> tuple[Shower, ...]:
        """Every table, CSV file and kind of event, with the cells of all revisions and writers."""
        return tuple(self._showers())

    def showers_of(self, entity: str) -> tuple[Shower, ...]:
        """Everything that shows a column of an entity."""
        return tuple(one for one in self.showers if entity in one.entities)

    def enum_of(self, show: Show) -> str | None:
        """The enum table whose names a cell shows; ``None`` where it shows something else."""
        if show.form != "plain":
            return None
        entity, _, column = show.of[0].partition(".")
        return self.entities[entity].columns[column].enum

    def _entity(self, row: Document, document: str) -> Entity:
        loader, types = self._spec.loader, self._spec.text.value_types
        columns: dict[str, EntityColumn] = {}
        for name, facts in row["columns"].items():
            place = f"{document}: columns.{name}"
            kind = typed(types, facts, place)
            more: dict[str, Any] = {"unit": kind.unit, "is_text": "text" in kind.storage}
            columns[name] = loader.fact(EntityColumn, facts, place, name=name, **more)
        own = without(row, "entity")
        return loader.fact(Entity, own, document, name=row["entity"], columns=columns)

    def _showers(self) -> Iterator[Shower]:
        for table in self._spec.db.tables.values():
            cells = {name: column.shows for name, column in table.columns.items()}
            yield Shower("database", table.name, cells)
        for file in self._spec.text.csv.values():
            cells = {column.name: column.shows for column in file.own_columns}
            yield Shower("csv", file.name, cells, file.rows)
        for layer in self._spec.timeline.layers.values():
            for kind in layer.events:
                args = {arg.name.template: arg.shows for arg in kind.args}
                cells = {**kind.shows, **args}
                yield Shower("timeline", f"{layer.slug}/{kind.kind}", cells, kind.rows, kind.fixed)
        for made in self._spec.mindspore.tables.values():
            cells = {column.name: column.shows for column in made.columns if column.each is None}
            yield Shower("mindspore", made.table, cells)
