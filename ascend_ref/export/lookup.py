"""Any name of the spec to the page about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ascend_spec import Catalog
from ascend_spec.bin import bin_catalog

from . import blocks, lexicon, pages
from .disagreements import disagreements
from .style import Style

Render = Callable[[Style], str]


def find(catalog: Catalog, name: str) -> Render | None:
    """What renders the page of a table, ``TABLE.column``, enum, erratum, revision, SCHEMA_VERSION,
    switch, product, value type, source, block type (``0x08``, its name or slug) or set of values,
    capitals aside; ``None`` for a name of none of them.
    """
    wanted = name.casefold()
    for known, render in _subjects(catalog):
        if known.casefold() == wanted:
            return render
    return None


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
        yield product.id, partial(lexicon.product_section, catalog, product)
    for kind in catalog.value_types.values():
        yield kind.id, partial(lexicon.type_section, catalog, kind)
    for source in catalog.sources.values():
        yield source.id, partial(lexicon.source_section, catalog, source)
    yield from _block_subjects(catalog)


def _block_subjects(catalog: Catalog) -> Iterator[tuple[str, Render]]:
    bins = bin_catalog()
    for block in bins.blocks.values():
        for name in dict.fromkeys((blocks.hexed(block.code), block.slug, block.name)):
            yield name, partial(blocks.block_page, catalog, bins, block)
    for values in bins.enums.values():
        yield values.name, partial(blocks.values_section, catalog, values)
