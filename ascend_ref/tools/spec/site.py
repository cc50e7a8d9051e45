"""The reference pages of the site, generated from the spec: path to Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ascend_ref.markdown import Kind, Style, page
from ascend_spec import Catalog, bin_catalog

from . import blocks, lexicon, pages
from .api_pages import api_site
from .csv_pages import csv_site
from .document_pages import document_site
from .lookup import of_kinds, subjects
from .recording_pages import recording_site
from .timeline_pages import timeline_site

Targets = Mapping[tuple[Kind, str], str]
"""By kind and name the path of the page below the site's root, with its fragment."""


@dataclass(frozen=True)
class SiteStyle(Style):
    """Markdown with links, for a page that stands ``depth`` folders below the site's root."""

    escapes: bool = True
    depth: int = 0
    targets: Targets = field(default_factory=dict)

    def link(self, kind: Kind, name: str, text: str | None = None) -> str:
        """A link to the object, or its bare name where it has no page."""
        shown = f"`{text or name}`"
        target = self.targets.get((kind, name))
        return f"[{shown}]({'../' * self.depth}{target})" if target else shown


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page that holds every subject of some kinds as a section."""

    title: str
    lead: str
    kinds: tuple[Kind, ...]


SHEETS: Mapping[str, Sheet] = {
    "errata.md": Sheet(
        "Errata",
        "Where sources disagree, and what this spec does about it. The checker accepts what real "
        "exporters write and names the erratum.",
        ("erratum",),
    ),
    "revisions.md": Sheet(
        "Revisions",
        "SCHEMA_VERSION does not identify a schema: these are its known states, oldest first. The "
        "checker recognises them by their columns.",
        ("revision", "schema-version"),
    ),
    "layout.md": Sheet(
        "Names of files",
        "What each producer calls its folders and files; what changes in a name is in braces.",
        ("layout",),
    ),
    "carriers.md": Sheet("Carriers", "The kinds of databases.", ("carrier",)),
    "value-types.md": Sheet(
        "Value types",
        "The kinds of values, each with its unit and range written once.",
        ("value-type",),
    ),
    "switches.md": Sheet(
        "Switches",
        "What has to be switched on for a table or a CSV file to be written.",
        ("switch",),
    ),
    "products.md": Sheet(
        "Products",
        "Product families: what each one can do, and which data it has.",
        ("product",),
    ),
    "data.md": Sheet(
        "Data by product",
        "What is collected together, under which switch, and which product has it.",
        ("data",),
    ),
    "capabilities.md": Sheet(
        "Capabilities", "What some products can do and others cannot.", ("capability",)
    ),
    "levels.md": Sheet("Profiler levels", "What a profile holds at each level.", ("level",)),
    "vocabularies.md": Sheet(
        "Vocabularies",
        "Words that exporters write without any table of the format listing them.",
        ("vocabulary",),
    ),
    "sources.md": Sheet(
        "Sources",
        "Where the facts come from. A documented fact outranks an observed one, and that an "
        "inferred one.",
        ("source",),
    ),
}


def spec_targets(catalog: Catalog) -> dict[tuple[Kind, str], str]:
    """Where on the site each subject is explained."""
    return {(one.kind, one.name): one.page for one in subjects(catalog).values()}


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
        written[f"blocks/{block.slug}.md"] = blocks.block_page(catalog, bins, block, below)
    written |= csv_site(catalog, below)
    written |= timeline_site(catalog, below)
    written |= document_site(catalog, below)
    written |= api_site(catalog, below)
    written |= recording_site(below)
    for path, sheet in SHEETS.items():
        held = [one for kind in sheet.kinds for one in of_kinds(catalog, [kind])]
        sections = (one.section(root, 2).rstrip("\n") for one in held)
        written[path] = page(f"# {sheet.title}", sheet.lead, *sections)
    return written
