"""What can be looked up: every thing of the spec under one address, ``kind/name``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Literal, TypeVar

from ascend_ref.markdown import Style, anchor
from ascend_spec import Schema
from ascend_spec.core.bounds import allows

Axis = Literal["carrier", "revision", "reading", "level", "product", "writer", "default"]
Section = Callable[[Style], str]
"""Writes a subject as Markdown."""

Fields = Mapping[str, Any]
"""Some fields of a subject."""

Fact = TypeVar("Fact")
Name = TypeVar("Name", str, int)

SCHEMA: tuple[Axis, ...] = ("carrier", "revision", "reading")


@dataclass(frozen=True, slots=True)
class KindOfSubject:
    """One kind of address: what a list calls many of them, what they are, what narrows them.

    ``short``: whether a name without the kind may mean one. Our own words for what the formats
    show would make many of their names ambiguous. ``names``: what they all look like, a regular
    expression. ``yields``: whether a name without the kind means something else that has it.
    """

    plural: str
    summary: str
    axes: tuple[Axis, ...] = ()
    short: bool = True
    names: str = ".*"
    yields: bool = False

    def has_name(self, text: str) -> bool:
        """Whether one of the kind can have this name."""
        return re.fullmatch(self.names, text, re.IGNORECASE) is not None


KINDS: Mapping[str, KindOfSubject] = {
    "table": KindOfSubject("tables", "a table of a database", (*SCHEMA, "level", "product")),
    "column": KindOfSubject(
        "columns", "a column of a table", (*SCHEMA, "level", "product"), names=".+[.].+"
    ),
    "enum": KindOfSubject("enums", "an enum table", SCHEMA),
    "member": KindOfSubject("members", "a member of an enum table", SCHEMA, names=".+/.+"),
    "addition": KindOfSubject("additions", "what other programs add to a database"),
    "carrier": KindOfSubject("carriers", "a kind of database"),
    "revision": KindOfSubject("revisions", "a state of the database schema", ("revision",)),
    "schema-version": KindOfSubject("schema-versions", "a SCHEMA_VERSION and its revisions"),
    "csv": KindOfSubject("csv", "a CSV file", ("level", "product", "writer", "default")),
    "header": KindOfSubject(
        "headers", "a column of a CSV file", ("level", "product", "writer"), names=".+/.+"
    ),
    "counter-group": KindOfSubject("counter-groups", "a group of core counters", ("product",)),
    "metric": KindOfSubject("metrics", "a metric of the core counters", ("product",)),
    "writer": KindOfSubject("writers", "a generation of exporters of text", ("product",)),
    "timeline": KindOfSubject("timelines", "a file with a timeline"),
    "layer": KindOfSubject("layers", "a process of the timeline", ("level", "product", "writer")),
    "trace-event": KindOfSubject(
        "trace-events", "a kind of event", ("level", "product"), names=".+/.+"
    ),
    "argument": KindOfSubject(
        "arguments", "an argument of an event", ("level", "product"), names=".+/.+/.+"
    ),
    "flow": KindOfSubject("flows", "an arrow of the timeline"),
    "trace-key": KindOfSubject("trace-keys", "a key or metadata event of a timeline"),
    "trace-form": KindOfSubject("trace-forms", "how an exporter writes a timeline"),
    "pid-rule": KindOfSubject("pid-rules", "how the pid of a layer is made"),
    "document": KindOfSubject("documents", "a JSON document"),
    "cluster-table": KindOfSubject("cluster-tables", "a table of cluster_analysis.db"),
    "reader": KindOfSubject("readers", "a program that reads profiles"),
    "behaviour": KindOfSubject(
        "behaviours", "a way in which readers go wrong", names="[a-z0-9]+(-[a-z0-9]+)+"
    ),
    "block": KindOfSubject("blocks", "a block type of visualize_data.bin"),
    "key": KindOfSubject("keys", "a place in the JSON of a block", names="0x[0-9a-f]{2}/.*"),
    "record": KindOfSubject("records", "packed bytes of visualize_data.bin"),
    "values": KindOfSubject("values", "a set of values in visualize_data.bin"),
    "epoch": KindOfSubject("epochs", "a state of visualize_data.bin"),
    "raw": KindOfSubject("raw", "a kind of raw file, and its records", short=False),
    "chip": KindOfSubject("chips", "a generation of chips, by its number", short=False),
    "raw-values": KindOfSubject("raw-values", "a set of values in raw files", short=False),
    "mindspore": KindOfSubject(
        "mindspore", "a kind of raw file of MindSpore's profiler", short=False
    ),
    "intermediate": KindOfSubject(
        "intermediates", "a file that MindSpore's parsers make of raw files"
    ),
    "analyser": KindOfSubject(
        "analysers", "an analyser of MindSpore's viewer, and what it answers"
    ),
    "profiler-call": KindOfSubject(
        "profiler-calls", "a call of MindSpore's Profiler, by what was called before", short=False
    ),
    "interface": KindOfSubject("interfaces", "what a viewer is asked over HTTP"),
    "request": KindOfSubject(
        "requests", "a request to MindSpore's viewer and its answer", names=".+/.+"
    ),
    "refusal": KindOfSubject("refusals", "how MindSpore's viewer refuses a request", short=False),
    "mindspore-generation": KindOfSubject(
        "mindspore-generations", "a generation of MindSpore's profiler", short=False
    ),
    "mindspore-values": KindOfSubject(
        "mindspore-values", "a set of values in files of MindSpore's profiler", short=False
    ),
    "ge-option": KindOfSubject(
        "ge-options", "a key of ge.exec.profilingOptions", ("product",), yields=True
    ),
    "ge-entry": KindOfSubject(
        "ge-entries", "what asks for the graph engine's profiling, and what happens then"
    ),
    "ge-variable": KindOfSubject(
        "ge-variables", "a variable of the environment of the graph engine's profiling"
    ),
    "ge-error": KindOfSubject("ge-errors", "a code by which options are refused"),
    "profiling-type": KindOfSubject(
        "profiling-types", "what the runtime of the graph engine can record"
    ),
    "switch-bit": KindOfSubject("switch-bits", "a bit of profSwitch", yields=True),
    "aic-metric": KindOfSubject(
        "aic-metrics", "a group of core counters by the collector's number", yields=True
    ),
    "ge-call": KindOfSubject(
        "ge-calls", "a function that controls the graph engine's profiling, or that reports to it"
    ),
    "ge-code": KindOfSubject("ge-codes", "what a function of ge/ge_prof.h returns"),
    "ge-state": KindOfSubject(
        "ge-states", "a state of the profiling of a process", names="off|idle|started|cmd|subscribe"
    ),
    "data-type": KindOfSubject("data-types", "a bit of data_type_config", yields=True),
    "ge-component": KindOfSubject(
        "ge-components", "a component of the graph engine's profiling", yields=True
    ),
    "ge-layer": KindOfSubject("ge-layers", "a layer of those components"),
    "ge-values": KindOfSubject(
        "ge-values", "numbers that the msprof library takes and gives", yields=True
    ),
    "log-id": KindOfSubject("log-ids", "a number that marks a point of a training trace"),
    "graph-name": KindOfSubject("graph-names", "a name that the insertion of tasks knows"),
    "insertion": KindOfSubject("insertions", "what takes part in the insertion of tasks"),
    "executor": KindOfSubject("executors", "what runs inserted tasks", short=False),
    "ge-schema": KindOfSubject(
        "ge-schemas", "options, a graph or inserted tasks as a document in JSON", short=False
    ),
    "dump-message": KindOfSubject("dump-messages", "a message of a dump of a graph"),
    "ge-event": KindOfSubject(
        "ge-events", "an event of the graph engine's texts", names="k[A-Z].+"
    ),
    "ge-event-space": KindOfSubject("ge-event-spaces", "the events of a namespace", names=".+::.+"),
    "ge-enumeration": KindOfSubject("ge-enumerations", "an enumeration of types of calls"),
    "ge-report": KindOfSubject("ge-reports", "what the graph engine reports calls as", short=False),
    "acl-call": KindOfSubject("acl-calls", "a call of ACL that is reported", names="(acl|op).+"),
    "ge-structure": KindOfSubject(
        "ge-structures", "a structure that is reported", names="Msprof.+"
    ),
    "ge-dump": KindOfSubject("ge-dumps", "a text of the graph engine about the host"),
    "command": KindOfSubject("commands", "a request to the API and its answer"),
    "event": KindOfSubject("events", "a message of the API that nobody asked for"),
    "error": KindOfSubject("errors", "an error code of the API"),
    "envelope": KindOfSubject("envelopes", "what messages of the API have in common"),
    "generation": KindOfSubject("generations", "a state of the API"),
    "exchange": KindOfSubject("exchanges", "what is exchanged with programs under test"),
    "entity": KindOfSubject("entities", "a thing that is recorded, and what shows it", short=False),
    "layout": KindOfSubject("layouts", "what a producer calls its folders and files", short=False),
    "switch": KindOfSubject("switches", "a collection switch"),
    "product": KindOfSubject("products", "a product family", ("product",)),
    "data": KindOfSubject(
        "data", "data that is collected together, by product", ("product",), short=False
    ),
    "capability": KindOfSubject(
        "capabilities", "what some products can do", ("product",), short=False
    ),
    "level": KindOfSubject("levels", "a profiler level", ("level",)),
    "vocabulary": KindOfSubject("vocabularies", "words that exporters write"),
    "value-type": KindOfSubject("value-types", "a kind of value"),
    "erratum": KindOfSubject(
        "errata", "a disagreement between sources", SCHEMA, names="[a-z]+[0-9]+"
    ),
    "source": KindOfSubject("sources", "where facts come from"),
    "rule": KindOfSubject(
        "rules", "a rule of the checker", names="[a-z]+[0-9]+|[a-z0-9]+(-[a-z0-9]+)+"
    ),
    "change-rule": KindOfSubject(
        "change-rules",
        "a rule of changes of the formats",
        names="chg[0-9]+|[a-z0-9]+(-[a-z0-9]+)+",
    ),
}
"""Every kind of address in the order in which lists show them."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a list or page is narrowed to; an empty field asks nothing.

    ``schemas``: states of the databases, of which one must hold the subject. ``axes``: what was
    asked at all.
    """

    schemas: tuple[Schema, ...] = ()
    level: int | None = None
    product: str | None = None
    writer: str | None = None
    default: bool = False
    axes: frozenset[Axis] = frozenset()

    def keeps(self, levels: Collection[int] | None, products: Collection[str] | None) -> bool:
        """Whether something of these levels and products is asked for; none given: it is of all."""
        return (self.level is None or allows(levels or (), self.level)) and (
            self.product is None or allows(products or (), self.product)
        )


EVERYTHING = Scope()
"""The scope that leaves everything."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that has an address.

    ``section`` writes its page, ``page`` is where the site has it (path and fragment), ``fact`` the
    object of the spec behind it, or what makes it when it is asked for. ``also``: further names,
    such as that of a file or an option. ``cells`` are what a list shows before the summary.
    ``levels`` and ``products``: ``None`` where it is the same for all. ``at`` gives the fields
    that differ where it stands in a schema, ``None`` where it does not; ``part`` those that differ
    in what a level, a product and a writer leave of it. ``writers``: those of text that write it.
    """

    kind: str
    name: str
    summary: str
    page: str
    section: Section
    fact: object
    also: tuple[str, ...] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    levels: tuple[int, ...] | None = None
    products: tuple[str, ...] | None = None
    writers: tuple[str, ...] = ()
    by_default: bool = False
    at: Callable[[Schema], Fields | None] | None = None
    part: Callable[[Scope], Fields] | None = None

    @property
    def address(self) -> str:
        """``kind/name``."""
        return f"{self.kind}/{self.name}"

    def within(self, scope: Scope) -> Subject | None:
        """The subject in a scope; ``None`` where it is not there."""
        if not scope.keeps(self.levels, self.products) or (scope.default and not self.by_default):
            return None
        if scope.writer is not None and scope.writer not in self.writers:
            return None
        changed: Fields | None = {}
        if scope.schemas and self.at is not None:
            changed = next((one for one in map(self.at, scope.schemas) if one is not None), None)
        if changed is None:
            return None
        changes = {**changed, **(self.part(scope) if self.part else {})}
        return replace(self, **changes) if changes else self

    def document(self) -> dict[str, Any]:
        """Address, summary and fact in the types of JSON."""
        fact = self.fact() if callable(self.fact) else self.fact
        return {"address": self.address, "summary": self.summary, "fact": plain(fact)}


def things(
    kind: str,
    facts: Mapping[Any, Fact],
    page: str,
    section: Callable[[Fact, Style], str],
    **more: Callable[[Fact], Any],
) -> Iterator[Subject]:
    """The things of a kind by their names.

    ``page`` may have ``{name}``, ``{anchor}`` or a member of ``{fact}`` in it; ``more`` are further
    fields of the subject, made of its fact. Without them the summary is that of the fact.
    """
    for key, fact in facts.items():
        name = str(key)
        given = {field: make(fact) for field, make in {**_USUAL, **more}.items()}
        path = page.format(name=name, anchor=anchor(name), fact=fact)
        yield Subject(kind, name, page=path, section=partial(section, fact), **given)


def grouped(items: Iterable[Fact], key: Callable[[Fact], Name]) -> dict[Name, list[Fact]]:
    """The items of each key, in their order."""
    found: dict[Name, list[Fact]] = {}
    for one in items:
        found.setdefault(key(one), []).append(one)
    return found


_USUAL: Mapping[str, Callable[[Any], Any]] = {
    "summary": attrgetter("summary"),
    "fact": lambda fact: fact,
}


def plain(value: object) -> Any:
    """A fact as JSON types: what is empty is left out, sets are sorted."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(one) for name, one in _members(value) if one not in (None, (), "")}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    return value


def _members(value: Any) -> Iterator[tuple[str, object]]:
    return ((one.name, getattr(value, one.name)) for one in fields(value) if one.repr)
