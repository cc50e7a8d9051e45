"""Each thing that an exporter makes of raw files: its sources, and the reasons of its absence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ascend_ref.raw.decode.read import RawCapture
from ascend_ref.timeline.session import engine_of
from ascend_spec import catalog, raw_catalog, text_catalog, timeline_catalog
from ascend_spec.db.model import Carrier, Table
from ascend_spec.text import CsvFile
from ascend_spec.text.model import Output
from ascend_spec.timeline import Layer

from .found import Found, by_kind, find_kind
from .switched import Switched, Switches

Thing: TypeAlias = Table | CsvFile | Layer


@dataclass(frozen=True, slots=True)
class Explained:
    """Why something is there or absent.

    ``address``: ``table/TASK``, ``csv/op_summary`` or ``layer/CANN``. ``rows``: rows or events; 0
    where it is absent. ``sources``: the raw files that it is made of, in each folder. ``switches``:
    those that collect it. ``products``: those that have it; ``on_product``: whether this one is
    among them, ``None`` where the product is not known. ``needs``: tables that its rows refer to or
    show, of which there are no rows. ``reasons``: why it is absent, or what it lacks, a sentence
    each.
    """

    address: str
    summary: str
    rows: int
    sources: tuple[Found, ...]
    switches: tuple[Switched, ...]
    products: tuple[str, ...]
    on_product: bool | None
    needs: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """What was made of the raw files of one process.

    ``general``: damage of side files and whole folders, which concerns all of it.
    """

    folder: str
    chip: int | None
    product: str | None
    level: int
    folders: tuple[str, ...]
    general: tuple[str, ...]
    things: tuple[Explained, ...]


def explain(
    raw: RawCapture,
    made: Mapping[str, int],
    revision: str,
    kinds: Collection[str],
    carrier: Carrier,
    writer: str | None = None,
) -> Account:
    """Why each thing of some kinds of output (db, csv, timeline) is there or absent.

    made: rows and events by address, of :func:`.made.count_made`. revision: of the schema. carrier:
    of the database that was written. writer: the generation of exporters that wrote the texts.
    """
    return _Explanation(raw, made, revision, kinds, carrier, writer).account()


class _Explanation:
    def __init__(
        self,
        raw: RawCapture,
        made: Mapping[str, int],
        revision: str,
        kinds: Collection[str],
        carrier: Carrier,
        writer: str | None,
    ) -> None:
        self.raw = raw
        self.writer = writer or engine_of(raw.capture.origin.family)
        self.made = made
        self.kinds = kinds
        self.carrier = carrier
        self.schema = catalog().at(revision, carrier)
        self.damage = by_kind(raw.contexts, raw.damage)
        self.switches = Switches(raw.contexts)
        product = catalog().products.of_chip(raw.capture.origin.chip)
        self.product = None if product is None else product.id
        self.chip = next((one.side.chip for one in raw.contexts if one.side.chip is not None), None)

    def account(self) -> Account:
        """All of it, in the order of the spec."""
        side = {one.file for one in raw_catalog().files.values() if one.folder == "side"}
        general = [
            f"{folder}: {text}" if folder else text
            for (folder, kind), texts in self.damage.items()
            if not kind or kind in side
            for text in texts
        ]
        return Account(
            folder=self.raw.folder.name,
            chip=self.chip,
            product=self.product,
            level=self.raw.capture.switches.level,
            folders=tuple(one.folder.name for one in self.raw.contexts),
            general=tuple(general),
            things=tuple(self._explained(address, one) for address, one in self._things()),
        )

    def _things(self) -> Iterator[tuple[str, Thing]]:
        output: Output = "msprof" if self.carrier == "msprof" else "pytorch"
        if "db" in self.kinds:
            for name, table in self.schema.tables.items():
                if name not in catalog().enums:
                    yield f"table/{name}", table
        if "csv" in self.kinds:
            for file in text_catalog().csv.values():
                if output in file.modules:
                    yield f"csv/{file.name}", file
        if "timeline" in self.kinds:
            writers = {one.id for one in text_catalog().writers.values() if one.output == output}
            for layer in timeline_catalog().layers.values():
                if not writers.isdisjoint(layer.writers):
                    yield f"layer/{layer.name}", layer

    def _explained(self, address: str, thing: Thing) -> Explained:
        kinds = [one for one in raw_catalog().files.values() if address in one.feeds]
        sources = tuple(
            found
            for kind in kinds
            for found in find_kind(kind, address, self.raw.contexts, self.damage)
            if found.here or found.files
        )
        products = thing.products if isinstance(thing, Table) else thing.families
        found = Explained(
            address=address,
            summary=thing.summary,
            rows=self.made.get(address, 0),
            sources=sources,
            switches=tuple(map(self.switches.state, thing.switches)),
            products=products,
            on_product=self._is_on_product(products),
            needs=tuple(self._lacking(thing)),
            reasons=(),
        )
        return replace(found, reasons=tuple(self._reasons(found, thing, bool(kinds))))

    def _is_on_product(self, products: Sequence[str]) -> bool | None:
        """Products of one chip are not told apart by raw files."""
        known = catalog().products
        if self.product is None or self.chip is None:
            return None
        alike = {one.id for one in known.values() if self.chip in one.platforms}
        return not products or not alike.isdisjoint(products)

    def _elsewhere(self, found: Explained, thing: Thing) -> str | None:
        """Who has it, where neither this product nor this exporter does.

        Timelines of the framework take what either exporter of msprof has.
        """
        if found.on_product is False:
            return f"{self.product} has no such data; {', '.join(found.products)} have it"
        if not isinstance(thing, Layer) or self.carrier != "msprof" or self.writer in thing.writers:
            return None
        others = [one for one in thing.writers if text_catalog().writers[one].current]
        return f"the exporter {self.writer} does not write it, {' and '.join(others)} does"

    def _lacking(self, thing: Thing) -> Iterator[str]:
        if "db" not in self.kinds:
            return
        tables = self._referred(thing) if isinstance(thing, Table) else dict.fromkeys(thing.tables)
        for name in tables:
            if name in self.schema.tables and not self.made.get(f"table/{name}"):
                yield name

    @staticmethod
    def _referred(table: Table) -> Mapping[str, None]:
        """Other tables that hold what its columns name."""
        targets = (one for column in table.columns.values() for one in column.references)
        names = (one.partition(".")[0] for one in targets)
        others = {*catalog().enums, table.name}
        return dict.fromkeys(one for one in names if one not in others)

    def _reasons(self, found: Explained, thing: Thing, has_kinds: bool) -> Iterator[str]:
        if found.rows:
            return
        if (elsewhere := self._elsewhere(found, thing)) is not None:
            yield elsewhere
            return
        part_of = thing.shown_in if isinstance(thing, Layer) else None
        if part_of is not None:
            yield f"a whole timeline shows it as part of the layer {part_of}"
        levels = _levels(thing)
        level = self.raw.capture.switches.level
        if level not in levels:
            listed = " and ".join(map(str, levels))
            yield f"level {level} does not collect it, {listed} do"
        there = [one for one in found.sources if one.files]
        off = [one for one in found.switches if one.on is False]
        if off and len(off) == len(found.switches):
            yield "what collects it was off"
        elif found.switches and not there and not any(one.on for one in found.switches):
            yield "no file states whether what collects it was on"
        if not has_kinds:
            yield "the spec names no raw file of its own that it is made of"
        elif not there:
            yield "no raw file that it is made of is there"
        read = [one for one in there if one.records is not None]
        if there and not read:
            yield "its raw files are there, but this exporter does not read them"
        elif read and not any(one.records for one in read):
            yield "its raw files are there, but no record of them can be read"
        elif read and part_of is None:
            yield "no row follows from its raw files that are there"
        if found.needs and (there or not has_kinds):
            yield f"it is about the rows of {', '.join(found.needs)}, of which there are none"


def _levels(thing: Thing) -> tuple[int, ...]:
    if isinstance(thing, CsvFile):
        every = {level for levels in thing.levels.values() for level in levels}
        return tuple(sorted(every)) or (0, 1, 2)
    return thing.levels
