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
from .subject import grouped
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


SHEETS: Mapping[str, tuple[str, str]] = {
    "additions.md": (
        "Additions of other programs",
        "Tables and columns that other programs add to a profile, or that only old files hold. "
        "Opening a profile in a viewer changes the file. The checker names these objects in a note "
        "and does not condemn them.",
    ),
    "errata.md": (
        "Errata",
        "Where sources disagree, and what this spec does about it. The checker accepts what real "
        "exporters write and names the erratum.",
    ),
    "revisions.md": (
        "Revisions",
        "SCHEMA_VERSION does not identify a schema: these are its known states, oldest first. The "
        "checker recognises them by their columns.",
    ),
    "layout.md": (
        "Names of files",
        "What each producer calls its folders and files; what changes in a name is in braces.",
    ),
    "exchange.md": (
        "Exchange with exporters",
        "What `ascend-ref conform` and the exporters that it tries say to each other, and the file "
        "of known failures.",
    ),
    "carriers.md": ("Carriers", "The kinds of databases."),
    "cluster.md": (
        "Analysis of all ranks",
        "The tables of `cluster_analysis.db`, which `msprof-analyze cluster -m all` computes from "
        "the databases of all ranks. A table without rows is not there.",
    ),
    "readers.md": (
        "Readers of profiles",
        "What programs that read profiles need of them, and what they do with the rest. "
        "`ascend-ref who-reads` counts it in a profile.",
    ),
    "behaviours.md": (
        "What readers do wrong",
        "The list is closed: readers are described by these alone.",
    ),
    "value-types.md": (
        "Value types",
        "The kinds of values, each with its unit and range written once.",
    ),
    "switches.md": (
        "Switches",
        "What has to be switched on for a table or a CSV file to be written.",
    ),
    "products.md": ("Products", "Product families: what each one can do, and which data it has."),
    "data.md": (
        "Data by product",
        "What is collected together, under which switch, and which product has it.",
    ),
    "capabilities.md": ("Capabilities", "What some products can do and others cannot."),
    "levels.md": ("Profiler levels", "What a profile holds at each level."),
    "vocabularies.md": (
        "Vocabularies",
        "Words that exporters write without any table of the format listing them.",
    ),
    "sources.md": (
        "Sources",
        "Where the facts come from. A documented fact outranks an observed one, and that an "
        "inferred one.",
    ),
    "api/index.md": ("API of MindStudio Insight", ""),
    "api/commands.md": ("Commands", ""),
    "api/events.md": ("Events", ""),
    "api/errors.md": ("Error codes", ""),
    "blocks/values.md": ("Values in visualize_data.bin", ""),
    "csv/writers.md": ("Writers of text", ""),
    "csv/counters.md": ("Performance counters", ""),
    "csv/metrics.md": ("Metrics of the counters", ""),
    "raw/chips.md": (
        "Chips",
        "What the exporter makes of each generation of chips depends on platform_version of "
        "info.json.",
    ),
    "raw/values.md": ("Values in raw files", ""),
    "mindspore/generations.md": (
        "Generations of MindSpore's profiler",
        "Facts about MindSpore's files have days; a generation is one of them.",
    ),
    "mindspore/life_cycle.md": (
        "Calls of MindSpore's Profiler",
        "What a call does depends on what was called before, and on the day. Done, it leads to the "
        "state behind it; refused, it is an error; ignored, it is a line in the log.",
    ),
    "mindspore/values.md": ("Values in files of MindSpore's profiler", ""),
    "ge/options.md": (
        "Keys of ge.exec.profilingOptions",
        "`ascend-ref ge explain` says what a text of them records. A key that is not listed is an "
        "error.",
    ),
    "ge/entry.md": ("How the graph engine's profiling is asked for", ""),
    "ge/environment.md": (
        "Variables of the graph engine's profiling",
        "What is read of the environment, and names in texts that nothing reads.",
    ),
    "ge/errors.md": ("Errors of profiling options", ""),
    "ge/types.md": (
        "Types of profiling in the graph engine",
        "Each is a bit of a mask; something is recorded where its bit is set.",
    ),
    "ge/bits.md": ("Bits of profSwitch", "With these the collector starts the graph engine."),
    "ge/metrics.md": ("Groups of core counters by number", ""),
    "ge/functions.md": (
        "Functions of the graph engine's profiling",
        "Those of ge/ge_prof.h by the state in which they are called, in two readings: strict is "
        "what documents describe, lenient what the runtime does since 2026-06-03. Then those of "
        "the msprof library. `ascend-ref ge conform-life-cycle` tries an implementation.",
    ),
    "ge/codes.md": ("Codes that functions of ge/ge_prof.h return", ""),
    "ge/states.md": ("States of the graph engine's profiling", ""),
    "ge/data-types.md": (
        "Bits of data_type_config",
        "What aclgrphProfCreateConfig is given, by the name in ge/ge_prof.h where there is one.",
    ),
    "ge/components.md": (
        "Components of the graph engine's profiling",
        "As the picture of the document names them, with its arrows.",
    ),
    "ge/layers.md": ("Layers of the graph engine's profiling", ""),
    "ge/values.md": ("Numbers of the msprof library", ""),
    "ge/log-ids.md": (
        "Numbers of points",
        "What marks the points of a training trace: the LogIDs of inserted tasks, and the tags "
        "that others note in the same records.",
    ),
    "ge/graph-names.md": (
        "Names that the insertion knows",
        "Types, nodes and attributes by which points of a graph are found and marked.",
    ),
    "ge/insertion.md": (
        "Insertion of tasks",
        "What finds the points of a graph and inserts the tasks that note them.",
    ),
    "ge/executors.md": ("Executors", "What runs inserted tasks, and which of them it notes."),
    "ge/documents.md": (
        "Documents in JSON",
        "The text of ge.exec.profilingOptions, the graph that goes into `ascend-ref ge trace`, and "
        "the tasks that come out.",
    ),
    "ge/messages.md": (
        "Messages of dumps",
        "The fields of ge.proto that are read of a dump of the graph engine.",
    ),
    "ge/events.md": (
        "Events of the graph engine's texts",
        "A name may be an event of both namespaces, with another number and text in each.",
    ),
    "ge/event_spaces.md": ("Namespaces of events", ""),
    "ge/enumerations.md": ("Enumerations of types of calls", ""),
    "ge/reports.md": ("What the graph engine reports calls as", ""),
    "ge/calls.md": ("Calls of ACL that are reported", ""),
    "ge/records.md": (
        "Structures that are reported",
        "The fields of each union are on the pages of the raw files.",
    ),
    "ge/dumps.md": (
        "Texts of the graph engine about the host",
        "Written where GE_PROFILING_TO_STD_OUT is set; `ascend-ref decode FILE` reads them.",
    ),
    "rest/index.md": (
        "REST interface of MindSpore's viewer",
        "`ascend-ref serve DIR` answers it; `ascend-ref spec export interface/mindinsight --as "
        "openapi` writes its description.",
    ),
    "rest/requests.md": ("Requests to MindSpore's viewer", ""),
    "rest/refusals.md": ("How MindSpore's viewer refuses requests", ""),
    "timeline/flows.md": (
        "Arrows of the timelines",
        "An arrow is a pair of events of phase s and f with the same category and id.",
    ),
    "timeline/documents.md": ("JSON documents", ""),
}
"""Pages that hold the subjects which stand on them, each as a section: title and lead."""

INDEXES = {
    "tables/index.md": ("Tables", "table"),
    "enums/index.md": ("Enums", "enum"),
    "recording/index.md": ("The recording", "entity"),
    "raw/index.md": ("Raw files", "raw"),
    "mindspore/index.md": ("MindSpore's profiler", "mindspore"),
    "intermediate/index.md": ("Intermediate files of MindSpore's profiler", "intermediate"),
    "analyser/index.md": ("Analysers of MindSpore's viewer", "analyser"),
}
"""Pages that list the subjects of a kind: title and kind."""

ALONE: tuple[str, ...] = (
    "enum",
    "csv",
    "layer",
    "block",
    "entity",
    "raw",
    "mindspore",
    "intermediate",
    "analyser",
)
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
    on_page = grouped(subjects().values(), lambda one: one.page.partition("#")[0])
    for path, (title, lead) in SHEETS.items():
        style = below if "/" in path else root
        sections = (one.section(style.below()) for one in on_page[path])
        written[path] = page(f"# {title}", lead, *sections)
    return written
