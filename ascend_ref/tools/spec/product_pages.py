"""Products, what they can do and the data they have, as Markdown sections with addresses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ascend_ref.markdown import Style, bullets, code, commas, table
from ascend_spec import catalog, text_catalog
from ascend_spec.core import Capability, DataSet, Product
from ascend_spec.db.model import Table
from ascend_spec.text import CsvFile
from ascend_spec.timeline import Layer

from .pages import citations, views
from .subject import Subject, things

NO_DATABASE = "No database can be exported."


def product_section(product: Product, style: Style) -> str:
    """One product: chips, capabilities, its data with tables, files and layers, counters without
    value, and who says so.
    """
    groups = (one.name for one in text_catalog().pmu.groups.values() if product.id in one.families)
    writers = (one.id for one in text_catalog().writers.values() if product.id in one.families)
    return style.page(
        product.id,
        product.name,
        ("Chips", map(code, product.chips)),
        ("Platforms", map(str, product.platforms)),
        ("Cores of a device", _cores(product, style)),
        ("Source", citations(product.source, style)),
        style.prose(product.note),
        "" if product.can("database") else NO_DATABASE,
        ("Groups of counters", style.links("counter-group", groups)),
        ("Writers of text", style.links("writer", writers)),
        "What it can do:",
        bullets(_capabilities(product, style)),
        "What it has:",
        table(
            ("data", "switches", "tables", "CSV files", "layers", "source"), _data(product, style)
        ),
        _without_value(product, style),
    )


def data_section(data: DataSet, style: Style) -> str:
    """One row of the matrix: what shows the data, and who says which product has it."""
    tables, files, layers = views(style, lambda one: data.id in one.data)
    rows = (
        (style.link("product", product), citations(source, style))
        for product, source in data.cells.items()
    )
    return style.page(
        data.id,
        data.summary,
        ("Switches", style.links("switch", data.switches)),
        ("Tables", tables),
        ("CSV files", files),
        ("Layers of the timeline", layers),
        ("Errata", style.links("erratum", data.errata)),
        table(("product", "source"), rows),
    )


def capability_section(capability: Capability, style: Style) -> str:
    """Something that products can do, and who says which of them can."""
    rows = (
        (style.link("product", one.id), citations(one.capabilities[capability.id], style))
        for one in catalog().products.values()
        if one.can(capability.id)
    )
    return style.page(capability.id, capability.summary, table(("product", "source"), rows))


def product_subjects() -> Iterator[Subject]:
    """Products, sets of data and capabilities."""
    products = catalog().products
    yield from things(
        "product",
        products,
        "products.md#{anchor}",
        product_section,
        summary=lambda product: product.name,
        also=lambda product: product.chips,
        cells=lambda product: {"chips": commas(product.chips)},
        products=lambda product: (product.id,),
    )
    yield from things(
        "data",
        products.data,
        "data.md#{anchor}",
        data_section,
        cells=lambda data: {"products": commas(data.cells)},
        products=lambda data: tuple(data.cells),
    )
    yield from things(
        "capability",
        products.capabilities,
        "capabilities.md#{anchor}",
        capability_section,
        products=lambda capability: products.having(capability.id),
    )


def _cores(product: Product, style: Style) -> str:
    """What the formulas of the counters need to know of a device."""
    known = product.cores
    if known is None:
        return "not known; nor is the nominal clock"
    return (
        f"{known.cube} cube and {known.vector} vector cores, nominal clock {known.clock} MHz, in "
        f"the real files; other chips may differ ({citations(known.source, style)})"
    )


def _capabilities(product: Product, style: Style) -> Iterator[str]:
    for name, source in product.capabilities.items():
        summary = style.prose(catalog().products.capabilities[name].summary)
        yield f"{code(name)}: {summary} {citations(source, style)}"


def _data(product: Product, style: Style) -> Iterator[tuple[str, ...]]:
    """What a product has, with the tables, CSV files and layers that hold data of it."""
    for data in catalog().products.data.values():
        if product.id in data.cells:
            yield (
                f"{data.id}: {style.prose(data.summary)}",
                style.links("switch", data.switches),
                *views(style, partial(_shows, product, data)),
                _ground(data.cells[product.id], data.errata, style),
            )


def _shows(product: Product, data: DataSet, view: Table | CsvFile | Layer) -> bool:
    products = view.products if isinstance(view, Table) else view.families
    return data.id in view.data and product.id in products


def _ground(source: tuple[str, ...], errata: tuple[str, ...], style: Style) -> str:
    return commas((citations(source, style), *(style.link("erratum", one) for one in errata)))


def _without_value(product: Product, style: Style) -> str:
    lacking = product.without_value
    if lacking is None:
        return ""
    return (
        "Counters that are N/A in text files, each ratio with its time: "
        f"{style.links('metric', lacking.counters)} "
        f"({_ground(lacking.source, lacking.errata, style)})."
    )
