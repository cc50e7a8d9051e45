"""The reference pages of the site, generated from the spec: path to Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ascend_spec import Catalog
from ascend_spec.bin import BlockType, bin_catalog
from ascend_spec.text import text_catalog

from . import blocks, lexicon, pages
from .csv_pages import csv_site, csv_targets
from .disagreements import disagreements
from .document_pages import document_site, document_targets
from .product_pages import product_section
from .recording_pages import recording_site, recording_targets
from .style import Kind, Style, page
from .timeline_pages import timeline_site, timeline_targets

Subject = TypeVar("Subject")
Targets = Mapping[tuple[Kind, str], str]


@dataclass(frozen=True)
class SiteStyle(Style):
    """Markdown with links, for a page that stands ``depth`` folders below the site's root."""

    escapes: bool = True
    depth: int = 0
    targets: Targets = field(default_factory=dict)

    def link(self, kind: Kind, name: str, text: str | None = None) -> str:
        """A link to the column or object, or its bare name where it has no page."""
        shown = f"`{text or name}`"
        target = self.targets.get((kind, text or name)) or self.targets.get((kind, name))
        return f"[{shown}]({'../' * self.depth}{target})" if target else shown


def spec_targets(catalog: Catalog) -> dict[tuple[Kind, str], str]:
    """Where on the site each object of the spec, and each column of a table, is explained."""
    targets: dict[tuple[Kind, str], str] = {}
    for table in catalog.tables.values():
        if table.name in catalog.enums:
            continue
        targets["table", table.name] = f"tables/{table.name}.md"
        for column in table.columns.values():
            place = f"{table.name}.{column.name}"
            targets["table", place] = f"tables/{table.name}.md#{anchor(column.name)}"
    for name in catalog.enums:
        targets["enum", name] = f"enums/{name}.md"
    for block in bin_catalog().blocks.values():
        targets["block", blocks.hexed(block.code)] = _block_path(block)
    targets |= {**csv_targets(), **timeline_targets(), **document_targets(), **recording_targets()}
    for kind, sheet, known in _sheets(catalog):
        targets.update({(kind, name): f"{sheet}#{anchor(name)}" for name in known})
    return targets


def spec_pages(catalog: Catalog, targets: Targets) -> dict[str, str]:
    """Every page by its path below the site's root."""
    root = SiteStyle(targets=targets)
    below = SiteStyle(depth=1, targets=targets)
    written = {
        "tables/index.md": pages.tables_index(catalog, below),
        "enums/index.md": pages.enums_index(catalog, below),
        "additions.md": lexicon.additions_page(catalog, root),
    }
    for table in catalog.tables.values():
        if table.name not in catalog.enums:
            written[f"tables/{table.name}.md"] = pages.table_page(
                catalog, table, below, details=True
            )
    for enum in catalog.enums.values():
        written[f"enums/{enum.name}.md"] = pages.enum_page(catalog, enum, below)
    bins = bin_catalog()
    written["blocks/index.md"] = blocks.blocks_index(catalog, bins, below)
    written["blocks/values.md"] = blocks.values_page(catalog, bins.enums.values(), below)
    for block in bins.blocks.values():
        written[_block_path(block)] = blocks.block_page(catalog, bins, block, below)
    written |= csv_site(catalog, below)
    written |= timeline_site(catalog, below)
    written |= document_site(catalog, below)
    written |= recording_site(below)
    written |= {
        "errata.md": _sheet(
            "Errata",
            "Where sources disagree, and what this spec does about it. The checker accepts what "
            "real exporters write and names the erratum.",
            disagreements(catalog),
            lambda one: one.section(catalog, root, level=2),
        ),
        "revisions.md": _sheet(
            "Revisions",
            "SCHEMA_VERSION does not identify a schema: these are its known states, oldest first. "
            "The checker tells them apart by their columns.",
            catalog.revisions,
            lambda one: lexicon.revision_section(catalog, one, root, level=2),
        ),
        "value-types.md": _sheet(
            "Value types",
            "The kinds of values, each with its unit and range written once.",
            text_catalog().value_types.values(),
            lambda one: lexicon.type_section(catalog, one, root, level=2),
        ),
        "switches.md": _sheet(
            "Switches",
            "What has to be switched on for a table or a CSV file to be written.",
            catalog.switches.values(),
            lambda one: lexicon.switch_section(catalog, one, root, level=2),
        ),
        "products.md": _sheet(
            "Products",
            "Product families: what each one can do, and which data it has.",
            catalog.products.values(),
            lambda one: product_section(catalog, one, root, level=2),
        ),
        "sources.md": _sheet(
            "Sources",
            "Where the facts come from. A documented fact outranks an observed one, and that an "
            "inferred one.",
            catalog.sources.values(),
            lambda one: lexicon.source_section(catalog, one, root, level=2),
        ),
    }
    return written


def anchor(heading: str) -> str:
    """The fragment that the site gives to a heading of ASCII letters, digits and ``.-_``."""
    return re.sub(r"[^\w-]", "", heading.lower())


def _block_path(block: BlockType) -> str:
    return f"blocks/{block.slug}.md"


def _sheets(catalog: Catalog) -> Iterable[tuple[Kind, str, Iterable[str]]]:
    yield "erratum", "errata.md", [one.erratum.id for one in disagreements(catalog)]
    yield "revision", "revisions.md", [revision.id for revision in catalog.revisions]
    yield "type", "value-types.md", text_catalog().value_types
    yield "switch", "switches.md", catalog.switches
    yield "product", "products.md", catalog.products
    yield "source", "sources.md", catalog.sources


def _sheet(
    title: str, lead: str, subjects: Iterable[Subject], section: Callable[[Subject], str]
) -> str:
    return page(f"# {title}", lead, *(section(one).rstrip("\n") for one in subjects))
