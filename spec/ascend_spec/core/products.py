"""Products: what each one is and can do, and which has which data under which switch.

In the folder ``products``, ``families/`` has one document for each product, ``capabilities.yaml``
the names of what they can do, and ``matrix.yaml`` the products, switches and sources of each set of
data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .facts import Erratum

ALL = "all"
NOT = "not "


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that some products can do."""

    id: str
    summary: str


@dataclass(frozen=True, slots=True)
class WithoutValue:
    """Counters whose columns are there and hold N/A, by names without prefix.

    With a ratio the time that belongs to it is without value as well.
    """

    counters: tuple[str, ...]
    source: tuple[str, ...]
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cores:
    """Cube and vector cores of one device of a product, and their nominal clock in MHz."""

    cube: int
    vector: int
    clock: int
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A product family.

    ``chips``: the names in NPU_INFO.name that belong to it alone; ``platforms``: the values of
    platform_version in info.json. ``capabilities``: what it can do, with the sources that say so.
    ``cores``: None where no real file shows them.
    """

    id: str
    name: str
    chips: tuple[str, ...]
    platforms: tuple[int, ...]
    source: tuple[str, ...]
    capabilities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str | None = None
    without_value: WithoutValue | None = None
    cores: Cores | None = None

    def can(self, capability: str) -> bool:
        """Whether it has a capability."""
        return capability in self.capabilities


@dataclass(frozen=True, slots=True)
class DataSet:
    """A row of the matrix: what is collected together.

    ``switches``: each of them collects it; none: it is collected always, or nobody says by what.
    ``cells``: by product that has it, in the order of the matrix, the sources that say so.
    """

    id: str
    summary: str
    cells: Mapping[str, tuple[str, ...]]
    switches: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True)
class Products(Mapping[str, Product]):
    """Products by id in the order of the matrix, and who has what."""

    families: Mapping[str, Product]
    capabilities: Mapping[str, Capability]
    data: Mapping[str, DataSet]
    errata: Mapping[str, Erratum]

    def __getitem__(self, name: str) -> Product:
        return self.families[name]

    def __iter__(self) -> Any:
        return iter(self.families)

    def __len__(self) -> int:
        return len(self.families)

    def having(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """The products that one of the names means, in the order of the matrix.

        A name is a product, a capability (the products that have it), ``not`` and a capability (the
        products without it), or ``all``. Raises ``KeyError`` for any other.
        """
        meant = set().union(*map(self._meant, _listed(names)))
        return tuple(name for name in self if name in meant)

    def collected(self, data: str | Sequence[str]) -> tuple[str, ...]:
        """The products that have one of these rows, in the order of the matrix."""
        rows = [self.data[name] for name in _listed(data)]
        return tuple(name for name in self if any(name in row.cells for row in rows))

    def switches(self, data: str | Sequence[str]) -> tuple[str, ...]:
        """The switches that collect one of these rows, in the order of the rows."""
        rows = [self.data[name] for name in _listed(data)]
        return tuple(dict.fromkeys(switch for row in rows for switch in row.switches))

    def of_chip(self, chip: str | None) -> Product | None:
        """The product with a name of NPU_INFO.name; ``None`` for a name of no product."""
        return next((one for one in self.values() if chip in one.chips), None)

    def chip_name(self, product: str) -> str:
        """What NPU_INFO.name has on a product: the name that its platform number has."""
        own = self[product]
        return next(
            one.chips[0]
            for one in (own, *self.values())
            if one.chips and set(one.platforms) & set(own.platforms)
        )

    def in_full(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A document of text or timelines with its products written out.

        What names rows of the matrix as its ``data`` gets their products as ``families``; the
        document itself also gets their switches, unless it has its own. Other names in ``families``
        become products.
        """
        full: dict[str, Any] = self._in_full(document)
        if "data" in document:
            full["data"] = _listed(document["data"])
            full.setdefault("switches", list(self.switches(full["data"])))
        return full

    def of_table(self, document: Mapping[str, Any], table: str) -> dict[str, Any]:
        """A document of a table with ``products``, and with switches unless it has its own.

        Its ``data`` are rows of the matrix, given by table where the document is about several;
        without it every product has the table of which a database can be exported.
        """
        full = dict(document)
        data = full.pop("data", None)
        exported = self.having("database")
        if data is None:
            return {**full, "products": list(exported)}
        rows = _listed(data[table] if isinstance(data, Mapping) else data)
        full["data"] = rows
        full["products"] = [one for one in self.collected(rows) if one in exported]
        full.setdefault("switches", list(self.switches(rows)))
        return full

    def _in_full(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._in_full(one) for one in node]
        if not isinstance(node, dict):
            return node
        full = {
            name: self._in_full(value) if isinstance(value, dict | list) else value
            for name, value in node.items()
        }
        if "families" in full:
            full["families"] = list(self.having(full["families"]))
        if "data" in full:
            full["families"] = list(self.collected(full.pop("data")))
        return full

    def _meant(self, name: str) -> set[str]:
        if name == ALL:
            return set(self)
        if name in self:
            return {name}
        capability = self.capabilities[name.removeprefix(NOT)].id
        having = {one.id for one in self.values() if capability in one.capabilities}
        return set(self) - having if name.startswith(NOT) else having


def cells_of(row: Mapping[str, Any], matrix: Mapping[str, Any]) -> dict[str, list[str]]:
    """The sources of each product that has the data of a row, in the order of the matrix."""
    every: list[str] = matrix["products"]
    cells: dict[str, list[str]] = {product: [] for product in every}
    for citation, listed in row["says"].items():
        known = matrix["knows"].get(citation.partition(" ")[0], every)
        for product in known if listed == ALL else listed:
            cells[product].append(citation)
    left_out = row.get("not", ())
    return {one: says for one, says in cells.items() if says and one not in left_out}


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
