"""The reference pages of the site, generated from the spec: path to Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ascend_ref.markdown import Style, page
from ascend_spec import catalog

from .blocks import blocks_index
from .csv_pages import csv_index
from .listing import index
from .lookup import of_kinds, subjects
from .pages import table_page
from .timeline_pages import timeline_index

Targets = Mapping[tuple[str, str], str]
"""By kind and name the path of the page below the site's root, with its fragment."""


@dataclass(frozen=True)
class SiteStyle(Style):
    """Markdown with links, for a page that stands ``depth`` folders below the site's root."""

    escapes: bool = True
    depth: int = 0
    targets: Targets = field(default_factory=dict)

    def link(self, kind: str, name: str, text: str | None = None) -> str:
        """A link to the object, or its bare name where it has no page."""
        shown = f"`{text or name}`"
        target = self.targets.get((kind, name))
        return f"[{shown}]({'../' * self.depth}{target})" if target else shown


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page that holds every subject of some kinds as a section."""

    title: str
    lead: str
    kinds: tuple[str, ...]


SHEETS: Mapping[str, Sheet] = {
    "additions.md": Sheet(
        "Additions of other programs",
        "Tables and columns that other programs add to a profile, or that only old files hold. "
        "Opening a profile in a viewer changes the file. The checker names these objects in a note "
        "and does not condemn them.",
        ("addition",),
    ),
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
    "api/index.md": Sheet("API of MindStudio Insight", "", ("envelope", "generation")),
    "api/commands.md": Sheet("Commands", "", ("command",)),
    "api/events.md": Sheet("Events", "", ("event",)),
    "api/errors.md": Sheet("Error codes", "", ("error",)),
    "blocks/values.md": Sheet("Values in visualize_data.bin", "", ("values",)),
    "csv/writers.md": Sheet("Writers of text", "", ("writer",)),
    "csv/counters.md": Sheet("Performance counters", "", ("counter-group",)),
    "csv/metrics.md": Sheet("Metrics of the counters", "", ("metric",)),
    "timeline/flows.md": Sheet(
        "Arrows of the timelines",
        "An arrow is a pair of events of phase s and f with the same category and id.",
        ("flow",),
    ),
    "timeline/documents.md": Sheet("JSON documents", "", ("document",)),
}

INDEXES = {
    "tables/index.md": ("Tables", "table"),
    "enums/index.md": ("Enums", "enum"),
    "recording/index.md": ("The recording", "entity"),
}
"""Pages that list the subjects of a kind: title and kind."""

ALONE: tuple[str, ...] = ("enum", "csv", "layer", "block", "entity")
"""The kinds of which each subject has a page to itself, as it is looked up."""


def spec_targets() -> dict[tuple[str, str], str]:
    """Where on the site each subject is explained."""
    return {(one.kind, one.name): one.page for one in subjects().values()}


def spec_pages(targets: Targets) -> dict[str, str]:
    """Every page by its path below the site's root."""
    root = SiteStyle(targets=targets)
    below = SiteStyle(depth=1, targets=targets)
    written = {
        "blocks/index.md": blocks_index(below),
        "csv/index.md": csv_index(below),
        "timeline/index.md": timeline_index(below),
    }
    for path, (title, kind) in INDEXES.items():
        written[path] = page(f"# {title}", index(kind, below))
    for one in of_kinds(["table"]):
        written[one.page] = table_page(catalog().tables[one.name], below, details=True)
    written |= {one.page: one.section(below) for one in of_kinds(ALONE)}
    for path, sheet in SHEETS.items():
        style = below if "/" in path else root
        held = [one for kind in sheet.kinds for one in of_kinds([kind])]
        sections = (one.section(style.below()) for one in held)
        written[path] = page(f"# {sheet.title}", sheet.lead, *sections)
    return written
