"""Products, what they can do and the data they have, as Markdown sections with addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

from ascend_ref.markdown import PLAIN, Style, anchor, bullets, code, facts, page, table
from ascend_spec import Catalog, text_catalog, timeline_catalog
from ascend_spec.core import Capability, DataSet, Product
from ascend_spec.db.model import Table
from ascend_spec.text import CsvFile
from ascend_spec.timeline import Layer

from .pages import citations, place_link
from .subject import Subject, headed

Shower = TypeVar("Shower", Table, CsvFile, Layer)

NO_DATABASE = "No database can be exported."


def product_section(
    catalog: Catalog, product: Product, style: Style = PLAIN, level: int = 1
) -> str:
    """One product: chips, capabilities, its data with tables, files and layers, counters without
    value, and who says so.
    """
    return page(
        f"{'#' * level} {product.id}",
        style.prose(product.name),
        facts(
            ("Chips", ", ".join(map(code, product.chips))),
            ("Platforms", ", ".join(map(str, product.platforms))),
            ("Source", citations(catalog, product.source, style)),
        ),
        style.prose(product.note or ""),
        "" if "database" in product.capabilities else NO_DATABASE,
        facts(
            ("Groups of counters", ", ".join(_groups(product, style))),
            ("Writers of text", ", ".join(_writers(product, style))),
        ),
        "What it can do:",
        bullets(_capabilities(catalog, product, style)),
        "What it has:",
        table(
            ("data", "switches", "tables", "CSV files", "layers", "source"),
            _data(catalog, product, style),
        ),
        _without_value(catalog, product, style),
    )


def data_section(catalog: Catalog, data: DataSet, style: Style = PLAIN, level: int = 1) -> str:
    """One row of the matrix: what shows the data, and who says which product has it."""
    tables = [place_link(style, one.name) for one in _of(catalog.tables.values(), data)]
    files = [style.link("csv", one.name) for one in _of(text_catalog().csv.values(), data)]
    layers = [
        style.link("layer", one.name) for one in _of(timeline_catalog().layers.values(), data)
    ]
    return page(
        f"{'#' * level} {data.id}",
        style.prose(data.summary),
        facts(
            ("Switches", style.links("switch", data.switches)),
            ("Tables", ", ".join(tables)),
            ("CSV files", ", ".join(files)),
            ("Layers of the timeline", ", ".join(layers)),
            ("Errata", style.links("erratum", data.errata)),
        ),
        table(
            ("product", "source"),
            (
                (style.link("product", product), citations(catalog, source, style))
                for product, source in data.cells.items()
            ),
        ),
    )


def capability_section(
    catalog: Catalog, capability: Capability, style: Style = PLAIN, level: int = 1
) -> str:
    """Something that products can do, and who says which of them can."""
    return page(
        f"{'#' * level} {capability.id}",
        style.prose(capability.summary),
        table(
            ("product", "source"),
            (
                (
                    style.link("product", one.id),
                    citations(catalog, one.capabilities[capability.id], style),
                )
                for one in catalog.products.values()
                if one.can(capability.id)
            ),
        ),
    )


def product_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Products, sets of data and capabilities."""
    products = catalog.products
    for product in products.values():
        yield Subject(
            kind="product",
            name=product.id,
            summary=product.name,
            page=f"products.md#{anchor(product.id)}",
            section=partial(product_section, catalog, product),
            fact=product,
            also=product.chips,
            cells={"chips": ", ".join(product.chips)},
            products=(product.id,),
        )
    yield from headed(
        "data",
        products.data,
        "data.md",
        partial(data_section, catalog),
        cells=lambda data: {"products": ", ".join(data.products)},
        products=lambda data: data.products,
    )
    yield from headed(
        "capability",
        products.capabilities,
        "capabilities.md",
        partial(capability_section, catalog),
        products=lambda capability: products.having(capability.id),
    )


def _capabilities(catalog: Catalog, product: Product, style: Style) -> Iterator[str]:
    for name, source in product.capabilities.items():
        summary = style.prose(catalog.products.capabilities[name].summary)
        yield f"{code(name)}: {summary} {citations(catalog, source, style)}"


def _groups(product: Product, style: Style) -> Iterator[str]:
    for group in text_catalog().pmu.groups.values():
        if product.id in group.families:
            yield style.link("counter-group", group.name)


def _writers(product: Product, style: Style) -> Iterator[str]:
    for writer in text_catalog().writers.values():
        if product.id in writer.families:
            yield style.link("writer", writer.id)


def _data(catalog: Catalog, product: Product, style: Style) -> Iterator[tuple[str, ...]]:
    for data in catalog.products.data.values():
        if product.id in data.cells:
            yield (
                f"{data.id}: {style.prose(data.summary)}",
                style.links("switch", data.switches),
                *_showers(catalog, product, data, style),
                _ground(catalog, data, product, style),
            )


def _showers(
    catalog: Catalog, product: Product, data: DataSet, style: Style
) -> tuple[str, str, str]:
    """The tables, CSV files and layers that hold data of a product."""
    tables = (
        place_link(style, one.name)
        for one in _of(catalog.tables.values(), data)
        if product.id in one.products
    )
    files = (
        style.link("csv", one.name)
        for one in _of(text_catalog().csv.values(), data)
        if product.id in one.families
    )
    layers = (
        style.link("layer", one.name) for one in _of(timeline_catalog().layers.values(), data)
    )
    return ", ".join(tables), ", ".join(files), ", ".join(layers)


def _of(showers: Iterable[Shower], data: DataSet) -> Iterator[Shower]:
    """Those that show the data."""
    return (one for one in showers if data.id in one.data)


def _ground(catalog: Catalog, data: DataSet, product: Product, style: Style) -> str:
    errata = "".join(f", {style.link('erratum', one)}" for one in data.errata)
    return citations(catalog, data.cells[product.id], style) + errata


def _without_value(catalog: Catalog, product: Product, style: Style) -> str:
    lacking = product.without_value
    if lacking is None:
        return ""
    errata = "".join(f", {style.link('erratum', one)}" for one in lacking.errata)
    return (
        "Counters that are N/A in text files, each ratio with its time: "
        f"{', '.join(style.link('metric', one) for one in lacking.counters)} "
        f"({citations(catalog, lacking.source, style)}{errata})."
    )
