"""The products in memory: load once, then ask who has what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from ascend_spec.loader import load_errata, read_document, read_documents
from ascend_spec.model import Erratum

from .model import Capability, DataSet, Product, WithoutValue

FOLDER = "products"
ALL = "all"
NOT = "not "


class ProductCatalog:
    """Every fact about products; :func:`product_catalog` gives the loaded ones."""

    @cached_property
    def _matrix(self) -> Mapping[str, Any]:
        matrix: Mapping[str, Any] = read_document(f"{FOLDER}/matrix.yaml")
        return matrix

    @cached_property
    def products(self) -> Mapping[str, Product]:
        """Products by id, in the order of the matrix."""
        rows = {row["product"]: row for _, row in read_documents(f"{FOLDER}/families")}
        return {name: _product(rows[name]) for name in self._matrix["products"]}

    @cached_property
    def capabilities(self) -> Mapping[str, Capability]:
        """What products can do, by id."""
        rows = read_document(f"{FOLDER}/capabilities.yaml")
        return {row["id"]: Capability(**row) for row in rows}

    @cached_property
    def data(self) -> Mapping[str, DataSet]:
        """The rows of the matrix by id."""
        return {name: self._data_set(name, row) for name, row in self._matrix["data"].items()}

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Disagreements about products, by id."""
        return load_errata(f"{FOLDER}/errata.yaml")

    def having(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """The products that one of the names means, in the order of the matrix.

        A name is a product, a capability (the products that have it), ``not`` and a capability (the
        products without it), or ``all``. Raises ``KeyError`` for any other.
        """
        meant = set().union(*map(self._meant, _listed(names)))
        return tuple(name for name in self.products if name in meant)

    def collected(self, data: str | Sequence[str]) -> tuple[str, ...]:
        """The products that have one of these rows, in the order of the matrix."""
        rows = [self.data[name] for name in _listed(data)]
        return tuple(name for name in self.products if any(name in row.cells for row in rows))

    def switches(self, data: str | Sequence[str]) -> tuple[str, ...]:
        """The switches that collect one of these rows, in the order of the rows."""
        rows = [self.data[name] for name in _listed(data)]
        return tuple(dict.fromkeys(switch for row in rows for switch in row.switches))

    def in_full(self, document: Any) -> Any:
        """A document of text or timelines with its products written out.

        What names rows of the matrix as its ``data`` gets their products as ``families``; the
        document itself also gets their switches, unless it has its own. Other names in ``families``
        become products.
        """
        full = self._in_full(document)
        if "data" in document:
            full["data"] = _listed(document["data"])
            full.setdefault("switches", list(self.switches(full["data"])))
        return full

    def _in_full(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._in_full(one) for one in node]
        if not isinstance(node, dict):
            return node
        full = {name: self._in_full(value) for name, value in node.items()}
        if "families" in full:
            full["families"] = list(self.having(full["families"]))
        if "data" in full:
            full["families"] = list(self.collected(full.pop("data")))
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

    def of_chip(self, chip: str | None) -> Product | None:
        """The product with a name of NPU_INFO.name; ``None`` for a name of no product."""
        return next((one for one in self.products.values() if chip in one.chips), None)

    def _meant(self, name: str) -> set[str]:
        if name == ALL:
            return set(self.products)
        if name in self.products:
            return {name}
        capability = self.capabilities[name.removeprefix(NOT)].id
        having = {one.id for one in self.products.values() if capability in one.capabilities}
        return set(self.products) - having if name.startswith(NOT) else having

    def _data_set(self, name: str, row: Mapping[str, Any]) -> DataSet:
        cells: dict[str, list[str]] = {product: [] for product in self._matrix["products"]}
        for citation, listed in row["says"].items():
            source = citation.partition(" ")[0]
            known = self._matrix["knows"].get(source, self._matrix["products"])
            for product in known if listed == ALL else listed:
                cells[product].append(citation)
        left_out = row.get("not", ())
        return DataSet(
            id=name,
            summary=row["summary"],
            switches=tuple(row.get("switches", ())),
            cells={
                product: tuple(says)
                for product, says in cells.items()
                if says and product not in left_out
            },
            errata=tuple(row.get("errata", ())),
        )


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _product(row: Mapping[str, Any]) -> Product:
    return Product(
        id=row["product"],
        name=row["name"],
        chips=tuple(row["chips"]),
        platforms=tuple(row["platforms"]),
        source=tuple(row["source"]),
        capabilities={name: tuple(source) for name, source in row["capabilities"].items()},
        note=row.get("note"),
        without_value=_without_value(row.get("without_value")),
    )


def _without_value(row: Mapping[str, Any] | None) -> WithoutValue | None:
    if row is None:
        return None
    return WithoutValue(tuple(row["counters"]), tuple(row["source"]), tuple(row.get("errata", ())))


@cache
def product_catalog() -> ProductCatalog:
    """The packaged documents, loaded once per process."""
    return ProductCatalog()
