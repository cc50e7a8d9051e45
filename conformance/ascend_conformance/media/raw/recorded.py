"""The recording that a ``PROF_*`` holds, as what relations between entities are judged in.

Our own reader joins the records; what it has read lies in files, and goes from there to a private
DuckDB with the place of each row, table by table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture import Integers
from ascend_ref.raw.context import Context
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.decode.origins import Origin, Origins
from ascend_ref.raw.decode.read import read_prof
from ascend_ref.raw.dictionaries import TEXTS, TYPES
from ascend_ref.raw.entities import ENTITIES, values_shown
from ascend_ref.raw.tree import kind_of
from ascend_ref.recorded import Recorded, from_captures
from ascend_ref.spill import Spill
from ascend_spec import recording_catalog

from ...compare.sql import quoted, text_literal
from ...engine.relations.views import Part, View, Views, with_interval
from ..text.database import AskedOfFacts, Facts, open_facts
from ..text.shown import shown_columns
from .folder import MEDIUM

MEMORY = "100MB"
"""What DuckDB may hold, less than of texts: our own reader holds some as well."""

WITHOUT_RECORD = 1 << 62
"""Places below 0, which are of no record, are the numbers of rows less this."""


@dataclass
class ShownByRecords(AskedOfFacts):
    """What was read, in DuckDB. ``names``: what shows each entity, ``columns``: what it shows."""

    facts: Facts
    origins: Origins
    damage: Sequence[Damage]
    contexts: Sequence[Context]
    names: dict[str, str]
    columns: dict[str, Sequence[str]]

    def views(self) -> Sequence[View]:
        """One view for each entity that is there."""
        return self._views

    @cached_property
    def _views(self) -> Views:
        return Views(self._view(entity, name) for entity, name in self.names.items())

    def _view(self, entity: str, name: str) -> View:
        table = ENTITIES[entity].table
        shown = shown_columns(f"db.{table}", entity)
        known = {column: shown[column].sql for column in self.columns[entity]}
        if entity == "task" and {"model", "connection"} <= known.keys():
            known["model"] = _model(known["model"], known["connection"])
        whole = with_interval(known, recording_catalog().entities[entity].interval)
        part = Part(f"db.{quoted(table)}", f"db.{quoted(table)}.place", whole)
        return View(entity, name, MEDIUM, (part,), MEDIUM)

    def contents(self) -> Mapping[str, tuple[int, int]]:
        """By table, how many rows it has, and a sum of them that other rows hardly have."""
        query = "SELECT count(*), coalesce(sum(hash(t)), 0)::HUGEINT FROM db.{table} t"
        tables = {ENTITIES[entity].table for entity in self.names}
        return {one: self.facts.rows(query.format(table=quoted(one)))[0] for one in sorted(tables)}

    def damaged(self, entity: str, columns: Iterable[str]) -> str | None:
        """What of the files that columns of an entity are read from cannot be read, in words."""
        kinds = ENTITIES[entity].kinds
        if any(recording_catalog().entities[entity].columns[one].is_text for one in columns):
            kinds = (*kinds, TEXTS, TYPES)
        for one in self.damage:
            kind = one.kind or getattr(kind_of(one.file), "file", None)
            if kind in kinds:
                return one.message if one.kind else f"{one.file.name}: {one.message}"
        return None


def _model(model: str, connection: str) -> str:
    """SQL for the model of a task, -1 where it is not known: the launch has it, and that is lost or
    of another process.
    """
    return f"(CASE WHEN {connection} IS NULL THEN coalesce({model}, -1) ELSE {model} END)"


@contextmanager
def open_recorded(path: Path) -> Iterator[ShownByRecords]:
    """The recording of a folder, as long as the block lasts.

    Raises :class:`ascend_ref.raw.Unreadable` where nothing states when it was taken, ``OSError``.
    """
    with open_facts() as facts:
        facts.connection.execute(f"SET memory_limit = {text_literal(MEMORY)}")
        shown = _read(facts, path)
        facts.settle()
        pa.default_memory_pool().release_unused()
        yield shown


def _read(facts: Facts, path: Path) -> ShownByRecords:
    """The tables of a folder; nothing else of it is held any longer than that takes."""
    read = read_prof(path, with_origins=True)
    origins = read.origins or Origins()
    recorded = from_captures([read.capture], "msprof", spill=read.spill)
    kinds = {kind for context in read.contexts for kind in context.folder.files}
    shown = ShownByRecords(facts, origins, read.damage, read.contexts, {}, {})
    for entity, joined in ENTITIES.items():
        if joined.table in recorded.tables and len(recorded.tables[joined.table]):
            name = next((one for one in joined.kinds if one in kinds), joined.kinds[0])
            shown.names[entity] = name
            origin = origins.tables.get(joined.table)
            shown.columns[entity] = _load(facts, recorded, origin, entity)
    return shown


def _load(facts: Facts, recorded: Recorded, origin: Origin | None, entity: str) -> Sequence[str]:
    """Hand the table of an entity over; the columns that it shows."""
    name = ENTITIES[entity].table
    table = recorded.tables[name]
    shown = shown_columns(f"db.{name}", entity)
    wanted = [
        one
        for one in sorted(values_shown()[entity])
        if one in shown and _read_by(shown[one].sql, table.column_names)
    ]
    names = {cell for one in wanted for cell in _read_by(shown[one].sql, table.column_names)}
    if origin is not None and origin.column is not None:
        names.add(origin.column)
    part = table.select([one for one in table.column_names if one in names])
    schema = part.schema.append(pa.field("place", pa.int64()))
    placed = _with_places(part, schema, origin, recorded.spill)
    batches = pa.RecordBatchReader.from_batches(schema, placed)
    facts.scan("records", batches, f"CREATE TABLE db.{quoted(name)} AS FROM records")
    return wanted


def _read_by(sql: str, columns: Iterable[str]) -> list[str]:
    return [one for one in columns if quoted(one) in sql]


def _with_places(
    table: pa.Table, schema: pa.Schema, origin: Origin | None, spill: Spill
) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in spill.batches(len(table)):
        for one in table.slice(batch.start, batch.stop - batch.start).to_batches():
            rows = np.arange(first, first + one.num_rows)
            places = _places(one, rows, origin)
            yield pa.RecordBatch.from_arrays([*one.columns, pa.array(places)], schema=schema)
            first += one.num_rows


def _places(batch: pa.RecordBatch, rows: Integers, origin: Origin | None) -> Integers:
    """The places of rows, below 0 where no record holds them."""
    found = rows - WITHOUT_RECORD
    if origin is None:
        return found
    numbers = rows
    if origin.column is not None:
        numbers = integers(batch.column(origin.column), -1) - origin.first
    known = (numbers >= 0) & (numbers < len(origin.places))
    places = np.where(known, origin.places[np.where(known, numbers, 0)], -1)
    return np.where(places >= 0, places, found)
