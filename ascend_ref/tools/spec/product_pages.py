"""A product as a Markdown section: what it can do, and which data it has under which switch."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import Catalog
from ascend_spec.core import DataSet, Product
from ascend_spec.text import text_catalog
from ascend_spec.timeline import timeline_catalog

from .pages import citations, place_link
from .style import PLAIN, Style, bullets, code, facts, page, table

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
            (
                ("Chips", ", ".join(map(code, product.chips))),
                ("Platforms", ", ".join(map(str, product.platforms))),
                ("Source", citations(catalog, product.source, style)),
            )
        ),
        style.prose(product.note or ""),
        "" if "database" in product.capabilities else NO_DATABASE,
        "What it can do:",
        bullets(_capabilities(catalog, product, style)),
        "What it has:",
        table(
            ("data", "switches", "tables", "CSV files", "layers", "source"),
            _data(catalog, product, style),
        ),
        _without_value(catalog, product, style),
    )


def _capabilities(catalog: Catalog, product: Product, style: Style) -> Iterator[str]:
    for name, source in product.capabilities.items():
        summary = style.prose(catalog.products.capabilities[name].summary)
        yield f"{code(name)}: {summary} {citations(catalog, source, style)}"


def _data(catalog: Catalog, product: Product, style: Style) -> Iterator[tuple[str, ...]]:
    for data in catalog.products.data.values():
        if product.id in data.cells:
            yield (
                f"{data.id}: {style.prose(data.summary)}",
                ", ".join(style.link("switch", one) for one in data.switches),
                *_showers(catalog, product, data, style),
                _ground(catalog, data, product, style),
            )


def _showers(
    catalog: Catalog, product: Product, data: DataSet, style: Style
) -> tuple[str, str, str]:
    """The tables, CSV files and layers that hold data of a product."""
    tables = (
        place_link(style, one.name)
        for one in catalog.tables.values()
        if data.id in one.data and product.id in one.products
    )
    files = (
        style.link("file", one.name)
        for one in text_catalog().csv.values()
        if data.id in one.data and product.id in one.families
    )
    layers = (
        style.link("layer", one.name)
        for one in timeline_catalog().layers.values()
        if data.id in one.data
    )
    return ", ".join(tables), ", ".join(files), ", ".join(layers)


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
        f"{', '.join(map(code, lacking.counters))} "
        f"({citations(catalog, lacking.source, style)}{errata})."
    )
