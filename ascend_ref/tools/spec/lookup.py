"""Any name of the spec to the page about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from ascend_spec import Catalog
from ascend_spec.bin import bin_catalog
from ascend_spec.text import text_catalog

from . import blocks, lexicon, pages
from .csv_pages import csv_subjects
from .disagreements import disagreements
from .document_pages import document_subjects
from .product_pages import product_section
from .style import Style
from .timeline_pages import timeline_subjects

Render = Callable[[Style], str]


def find(catalog: Catalog, name: str) -> Render | None:
    """What renders the page of a table, ``TABLE.column``, enum, erratum, revision, SCHEMA_VERSION,
    switch, product, value type, source, block type (``0x08``, its name or slug), set of values, CSV
    file, column of one (``op_summary/Block Num``), writer, metric group, layer of the timeline,
    kind of event (``CANN/call``), category of arrows or JSON document; ``None`` for a name of none
    of them. Capitals matter only where two names differ in nothing else: ``HBM`` is a table,
    ``hbm`` a CSV file; the layer is ``timeline/HBM``.
    """
    exact = (render for known, render in _subjects(catalog) if known == name)
    wanted = name.casefold()
    alike = (render for known, render in _subjects(catalog) if known.casefold() == wanted)
    return next(chain(exact, alike), None)


def names(catalog: Catalog) -> list[str]:
    """Every name that :func:`find` knows."""
    return [name for name, _ in _subjects(catalog)]


def _subjects(catalog: Catalog) -> Iterator[tuple[str, Render]]:
    for enum in catalog.enums.values():
        yield enum.name, partial(pages.enum_page, catalog, enum)
    for table in catalog.tables.values():
        yield table.name, partial(pages.table_page, catalog, table)
        for column in dict.fromkeys(column.name for column in table.columns.values()):
            yield f"{table.name}.{column}", partial(pages.column_page, catalog, table, column)
    for one in disagreements(catalog):
        yield one.erratum.id, partial(one.section, catalog)
    for revision in catalog.revisions:
        yield revision.id, partial(lexicon.revision_section, catalog, revision)
    for version in dict.fromkeys(revision.schema_version for revision in catalog.revisions):
        yield version, partial(lexicon.version_page, catalog, version)
    for switch in catalog.switches.values():
        yield switch.id, partial(lexicon.switch_section, catalog, switch)
    for product in catalog.products.values():
        yield product.id, partial(product_section, catalog, product)
    for kind in text_catalog().value_types.values():
        yield kind.id, partial(lexicon.type_section, catalog, kind)
    for source in catalog.sources.values():
        yield source.id, partial(lexicon.source_section, catalog, source)
    yield from _block_subjects(catalog)
    yield from csv_subjects(catalog)
    yield from document_subjects(catalog)
    yield from timeline_subjects(catalog)


def _block_subjects(catalog: Catalog) -> Iterator[tuple[str, Render]]:
    bins = bin_catalog()
    for block in bins.blocks.values():
        for name in dict.fromkeys((blocks.hexed(block.code), block.slug, block.name)):
            yield name, partial(blocks.block_page, catalog, bins, block)
    for values in bins.enums.values():
        yield values.name, partial(blocks.values_section, catalog, values)
