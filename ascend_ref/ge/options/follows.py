"""What the exporters of msprof make where some switches are on: tables, files, layers, raw files.

All of it follows from the spec: the switches, levels, products and writers of each thing, and the
matrix of products. Nothing here knows a thing by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from ascend_spec import catalog, ge_catalog, raw_catalog, text_catalog, timeline_catalog
from ascend_spec.db.model import Table
from ascend_spec.raw import RawFile
from ascend_spec.text import CsvFile
from ascend_spec.text.model import Level, Scene, Writer
from ascend_spec.timeline import Layer

Thing: TypeAlias = Table | CsvFile | Layer | RawFile

ENGINE, SECOND = "cpp", "python"
"""The writer of today's texts where a product has it, and the one that stands in for it."""
HIGHEST: Level = 2
"""The highest level of the profiler that exporters distinguish."""
COLLECTOR = "collector"
"""What writes raw files of its own accord, which no switch collects."""
OPERATORS = "tasks"
"""The row of the matrix of products without which files do not know what ran."""
WHOLE = "timeline"
"""The timeline with all layers."""


def profiler_level(task_time: int | None) -> Level:
    """The level that exporters know for a level of task_time."""
    return HIGHEST if task_time is not None and task_time >= HIGHEST else 1 if task_time else 0


@dataclass(frozen=True, slots=True)
class Following:
    """Something that will be there.

    ``switches``: those that are on and collect it, empty for what is there in any case. ``along``:
    those of what it is about, of which one must be on as well. ``columns``: of a table or CSV file,
    in order, those that are repeated once. ``program``: what a program must do, or it stays away; a
    phrase each, of which one will do.
    """

    address: str
    summary: str
    switches: tuple[str, ...]
    along: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    program: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recording:
    """What is recorded on a product. ``data``: rows of the matrix that are recorded without any
    switch. ``level``: of the profiler, 0 to 2. ``metrics``: the group of counters, as texts of
    aic_metrics name it.
    """

    product: str
    switches: frozenset[str]
    level: Level
    metrics: str | None = None
    data: tuple[str, ...] = ()

    def things(self) -> Iterator[Following]:
        """Everything that is made, in the order of the spec."""
        yield from self._tables()
        for file in text_catalog().csv.values():
            if self._writer(file) is not None:
                yield from self._following(f"csv/{file.name}", file, self._header(file))
        yield from self._timelines()
        for layer in timeline_catalog().layers.values():
            if self._has_layer(layer):
                yield from self._following(f"layer/{layer.name}", layer)
        for raw in raw_catalog().files.values():
            if raw.read and self.chips.intersection(raw.chips) and self._is_written(raw):
                yield from self._following(f"raw/{raw.file}", raw)

    def thing(self, address: str) -> Following | None:
        """One of them by its address; ``None`` where it is not made."""
        return next((one for one in self.things() if one.address == address), None)

    @cached_property
    def chips(self) -> frozenset[int]:
        """The chips of the product."""
        return frozenset(catalog().products[self.product].platforms)

    @cached_property
    def _engines(self) -> frozenset[str]:
        writers = text_catalog().writers
        first = writers[ENGINE]
        return frozenset([ENGINE if self.product in first.families else SECOND])

    def _tables(self) -> Iterator[Following]:
        if not catalog().products[self.product].can("database"):
            return
        schema = catalog().at(catalog().revisions[-1].id, "msprof")
        for name, table in schema.tables.items():
            if name not in catalog().enums:
                yield from self._following(f"table/{name}", table, tuple(table.columns))

    def _timelines(self) -> Iterator[Following]:
        """The whole timeline, and those next to the CSV file that shows the same."""
        for name, timeline in timeline_catalog().files.items():
            if self._engines.isdisjoint(timeline.writers):
                continue
            address = f"timeline/{name}"
            if name == WHOLE:
                yield Following(address, timeline.summary, ())
            elif (file := _csv_like(name)) is not None:
                found = self._following(address, file)
                yield from (replace(one, summary=timeline.summary) for one in found)

    def _has_layer(self, layer: Layer) -> bool:
        """Whether a layer is one of its own in a whole timeline."""
        return (
            layer.shown_in is None
            and WHOLE in layer.files
            and not self._engines.isdisjoint(layer.writers)
        )

    def _writer(self, file: CsvFile) -> Writer | None:
        """Who writes a CSV file on the product today, if anybody does."""
        if "msprof" not in file.modules:
            return None
        (engine,) = self._engines
        return file.writers.get(engine) or file.writers.get(SECOND)

    def _header(self, file: CsvFile) -> tuple[str, ...]:
        writer = self._writer(file)
        if writer is None or self.product not in file.families:
            return ()
        scene: tuple[Scene, ...] = () if self._is_recorded(OPERATORS) else ("no-operators",)
        columns = file.columns_at(
            writer=writer.id,
            family=self.product,
            level=self.level,
            metrics=self._group(file),
            scene=scene,
            repeat=1,
        )
        return tuple(dict.fromkeys(one.name_by(writer) for one in columns))

    def _group(self, file: CsvFile) -> str | None:
        if self.metrics is None or file.pmu is None or file.pmu.mode != "task-based":
            return None
        known = ge_catalog().metrics
        texts = {one.text: one.group for one in known.values() if one.text and one.group}
        return texts.get(self.metrics, texts.get(f"{self.metrics.partition(':')[0]}:"))

    def _is_written(self, raw: RawFile) -> bool:
        return not raw.members or any(self.chips.intersection(one.chips) for one in raw.members)

    def _following(
        self, address: str, thing: Thing, columns: tuple[str, ...] = ()
    ) -> Iterator[Following]:
        on = self._switches(thing)
        if on is None or self.level not in self._levels(thing):
            return
        if not isinstance(thing, RawFile):
            families = thing.products if isinstance(thing, Table) else thing.families
            if families and self.product not in families:
                return
        if not self._is_shown_alone(thing):
            return
        along = tuple(self._along(thing))
        yield Following(address, thing.summary, on, along, columns, tuple(self._program(thing)))

    def _switches(self, thing: Thing) -> tuple[str, ...] | None:
        """Those that are on and collect it, ``None`` where nothing does."""
        declared = thing.switches or _of_layers(thing)
        if on := tuple(one for one in declared if one in self.switches):
            return on
        if declared:
            return () if isinstance(thing, RawFile) and self._holds_always(thing) else None
        if thing.data:
            return () if set(thing.data) & set(self.data) else None
        return () if _is_always_there(thing) else None

    def _holds_always(self, raw: RawFile) -> bool:
        """Whether one of its records is made on the chip into what is recorded in any case."""
        made = (one.feeds for one in raw.members if self.chips.intersection(one.chips))
        return any(set(data_of(feed)) & set(self.data) for feeds in made for feed in feeds)

    def _levels(self, thing: Thing) -> tuple[int, ...]:
        if isinstance(thing, CsvFile):
            writer = self._writer(thing)
            return () if writer is None else thing.levels_by(writer.id)
        if isinstance(thing, RawFile):
            return tuple(range(thing.from_level, HIGHEST + 1))
        return thing.levels

    def _is_shown_alone(self, thing: Thing) -> bool:
        """Whether some of its data do not need others that are not recorded."""
        rows = thing.data or _data_of_layers(thing)
        return not rows or any(map(self._is_recorded, rows))

    def _is_recorded(self, row: str) -> bool:
        """Whether a row of the matrix is recorded here, and what it is about."""
        data = catalog().products.data[row]
        if data.switches and self.switches.isdisjoint(data.switches):
            return False
        if not data.switches and row not in self.data:
            return False
        if data.cells and self.product not in data.cells:
            return False
        need = ge_catalog().needs.get(row)
        return need is None or need.along_with is None or self._is_recorded(need.along_with)

    def _along(self, thing: Thing) -> Iterator[str]:
        """The switches that are on of what all of its data are about."""
        rows = [row for row in thing.data or _data_of_layers(thing) if self._is_recorded(row)]
        needs = [ge_catalog().needs.get(row) for row in rows]
        about = [None if one is None else one.along_with for one in needs]
        if None not in about:
            data = catalog().products.data
            switches = (one for row in about if row for one in data[row].switches)
            yield from dict.fromkeys(one for one in switches if one in self.switches)

    def _program(self, thing: Thing) -> Iterator[str]:
        """What a program must do: nothing where some of the data are there in any case."""
        if isinstance(thing, RawFile) and (own := ge_catalog().raw_needs.get(thing.file)):
            yield own.program
            return
        rows = [row for row in thing.data or _data_of_layers(thing) if self._is_recorded(row)]
        needs = [ge_catalog().needs.get(row) for row in rows]
        if None not in needs:
            yield from dict.fromkeys(one.program for one in needs if one is not None)


def _of_layers(thing: Thing) -> tuple[str, ...]:
    """The switches of the layers that show the same as a table without data and switches."""
    if not isinstance(thing, Table) or thing.data or _is_always_there(thing):
        return ()
    return tuple(dict.fromkeys(one for layer in _layers_of(thing) for one in layer.switches))


def _data_of_layers(thing: Thing) -> tuple[str, ...]:
    if not isinstance(thing, Table):
        return ()
    return tuple(dict.fromkeys(one for layer in _layers_of(thing) for one in layer.data))


def _layers_of(table: Table) -> list[Layer]:
    return [one for one in timeline_catalog().layers.values() if table.name in one.tables]


def _is_always_there(thing: Thing) -> bool:
    if isinstance(thing, Table):
        return thing.carriers.get("msprof") == "always" or thing.rows == "some"
    return isinstance(thing, RawFile) and (
        thing.required or thing.folder == "side" or thing.writer == COLLECTOR
    )


def _csv_like(timeline: str) -> CsvFile | None:
    """The CSV file with the name of a timeline."""
    template = timeline_catalog().files[timeline].name.template
    return text_catalog().csv.get(template.partition("_{")[0])


def data_of(address: str) -> tuple[str, ...]:
    """The rows of the matrix of products that something shows, by its address."""
    kind, _, name = address.partition("/")
    layers = timeline_catalog().layers
    if kind == "timeline":
        file = _csv_like(name)
        return () if file is None else file.data
    found: Mapping[str, Mapping[str, Thing]] = {
        "table": catalog().tables,
        "csv": text_catalog().csv,
        "layer": layers,
        "raw": raw_catalog().files,
    }
    thing = found[kind].get(name)
    return () if thing is None else thing.data or _data_of_layers(thing)
