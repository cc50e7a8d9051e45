"""The graph engine's profiling in memory.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ascend_spec.core import Document, Erratum, Loader
from ascend_spec.core.dialect import Node
from ascend_spec.core.loader import reading, without
from ascend_spec.core.values import ValueSet

from .components import Component, ComponentLayer
from .expectation import expectation
from .life_cycle import (
    ArgumentCheck,
    CallTransition,
    DataType,
    FunctionArgument,
    GeFunction,
    ProfilingState,
    ReturnCode,
)
from .options import (
    Cost,
    Entry,
    EntryOption,
    InitStep,
    Metric,
    Need,
    Option,
    OptionError,
    ProfilingType,
    SwitchBit,
    Variable,
)
from .reports import Dump, DumpName, EventSpace, Reported, ReportGroup
from .schemas import ge_schema
from .trace import (
    Executor,
    GraphMessage,
    GraphName,
    InsertionStep,
    LogId,
    load_executors,
    load_log_ids,
    load_messages,
)

FOLDER = "ge"


class GeCatalog:
    """Every fact about the profiling of the graph engine; ``Spec.ge`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def options(self) -> Mapping[str, Option]:
        """Keys of ``ge.exec.profilingOptions`` in the order of the documents."""
        nodes = self.options_schema["properties"]
        return {
            name: self.documents.fact(
                Option,
                {"expects": expectation(row, nodes[name]), **row},
                place,
                cost=self.documents.fact(Cost, row["cost"], f"{place}.cost"),
            )
            for name, row, place in self.documents.rows(f"{FOLDER}/options.yaml", "option")
        }

    @cached_property
    def options_schema(self) -> Node:
        """JSON Schema 2020-12 of ``ge.exec.profilingOptions``; nodes keep ``unit``."""
        return ge_schema(self.documents, "profiling_options")

    @cached_property
    def environment(self) -> Mapping[str, Variable]:
        """Variables by name, those that nothing reads among them."""
        return self.documents.by("variable", Variable, f"{FOLDER}/environment.yaml")

    @cached_property
    def entry(self) -> Entry:
        """How the profiling is asked for when the graph engine begins."""
        name = f"{FOLDER}/entry.yaml"
        fact = self.documents.fact
        with reading(name):
            row = self.documents.folder.read(name)
            return fact(
                Entry,
                row,
                name,
                **{
                    one: fact(EntryOption, row[one], f"{name}: {one}")
                    for one in ("mode", "options", "job")
                },
                steps=tuple(
                    fact(InitStep, one, f"{name}: steps: {one['step']}") for one in row["steps"]
                ),
                errors=tuple(
                    fact(OptionError, one, f"{name}: errors: {one['code']}")
                    for one in row["errors"]
                ),
            )

    @cached_property
    def profiling_types(self) -> Mapping[str, ProfilingType]:
        """What the runtime can record, by name."""
        return self.documents.by("name", ProfilingType, f"{FOLDER}/profiling_types.yaml")

    @cached_property
    def switch_bits(self) -> Mapping[str, SwitchBit]:
        """Bits of profSwitch by name, the lowest first."""
        found = {}
        for name, row, place in self.documents.rows(f"{FOLDER}/switch_bits.yaml", "bit"):
            with reading(place):
                of = self.data_types[name]
                found[name] = self.documents.fact(
                    SwitchBit, row, place, mask=of.mask, also=of.also, set_with=of.added_with
                )
        return found

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """Groups of counters by what the collector calls them."""
        return self.documents.by("metric", Metric, f"{FOLDER}/metrics.yaml")

    @cached_property
    def needs(self) -> Mapping[str, Need]:
        """What rows of the matrix of products need besides a switch, by row."""
        return {one.data: one for one in self._needs if one.data is not None}

    @cached_property
    def raw_needs(self) -> Mapping[str, Need]:
        """The same of kinds of raw files, by what the spec calls them."""
        return {one.raw: one for one in self._needs if one.raw is not None}

    @cached_property
    def _needs(self) -> tuple[Need, ...]:
        rows = self.documents.rows(f"{FOLDER}/needs.yaml", "program")
        return tuple(self.documents.fact(Need, row, place) for _, row, place in rows)

    @cached_property
    def functions(self) -> Mapping[str, GeFunction]:
        """Functions that control the profiling, and those of the library, by name."""
        return {
            name: self.documents.fact(
                GeFunction,
                row,
                place,
                arguments=tuple(
                    self.documents.fact(FunctionArgument, one, place)
                    for one in row.get("arguments", ())
                ),
                checks=tuple(
                    self.documents.fact(ArgumentCheck, one, place) for one in row.get("checks", ())
                ),
            )
            for name, row, place in self.documents.rows(f"{FOLDER}/functions.yaml", "function")
        }

    @cached_property
    def codes(self) -> Mapping[int, ReturnCode]:
        """What functions that control the profiling return, before and after folding."""
        return {
            code: self.documents.fact(ReturnCode, row, place)
            for code, row, place in self.documents.rows(f"{FOLDER}/codes.yaml", "code")
        }

    @cached_property
    def states(self) -> Mapping[str, ProfilingState]:
        """States of the profiling of a process by name."""
        return self.documents.by("state", ProfilingState, f"{FOLDER}/states.yaml")

    @cached_property
    def life_cycle(self) -> tuple[CallTransition, ...]:
        """What functions answer, by state and reading."""
        return tuple(
            self.documents.fact(CallTransition, row, place)
            for _, row, place in self.documents.rows(f"{FOLDER}/life_cycle.yaml", "call")
        )

    @cached_property
    def data_types(self) -> Mapping[str, DataType]:
        """Bits of what is collected, by the collector's name of each."""
        return self.documents.by("name", DataType, f"{FOLDER}/data_types.yaml")

    @cached_property
    def library_values(self) -> Mapping[str, ValueSet]:
        """Sets of numbers that the library takes and gives, by name."""
        return self.documents.named(ValueSet, f"{FOLDER}/library_values.yaml")

    @cached_property
    def layers(self) -> Mapping[str, ComponentLayer]:
        """Layers of components by name, from the user to the tools."""
        return self.documents.by("layer", ComponentLayer, f"{FOLDER}/layers.yaml")

    @cached_property
    def components(self) -> Mapping[str, Component]:
        """Components by the name that documents give them."""
        return self.documents.by("component", Component, f"{FOLDER}/components.yaml")

    @cached_property
    def log_ids(self) -> Mapping[str, LogId]:
        """Points of a training trace by name."""
        sets = self.documents.named(ValueSet, "raw/vocabularies.yaml")
        tags = {str(one.name): int(one.value) for one in sets["step_tags"].members}
        return load_log_ids(self.documents, tags, f"{FOLDER}/log_ids.yaml")

    @cached_property
    def graph_names(self) -> Mapping[str, GraphName]:
        """Types, nodes and attributes that the insertion knows, by name."""
        return self.documents.by("name", GraphName, f"{FOLDER}/graph_names.yaml")

    @cached_property
    def insertion(self) -> Mapping[str, InsertionStep]:
        """What takes part in the insertion, by name."""
        return self.documents.by("step", InsertionStep, f"{FOLDER}/insertion.yaml")

    @cached_property
    def executors(self) -> Mapping[str, Executor]:
        """What runs inserted tasks, by name."""
        return load_executors(self.documents, f"{FOLDER}/executors.yaml")

    @cached_property
    def messages(self) -> Mapping[str, GraphMessage]:
        """Messages of dumps of graphs by name."""
        return load_messages(self.documents, f"{FOLDER}/messages.yaml")

    @cached_property
    def events(self) -> Mapping[str, EventSpace]:
        """Events of the texts about the host by namespace."""
        return {
            space: self.documents.fact(EventSpace, row, place, events=_events(row, place))
            for space, row, place in self.documents.rows(f"{FOLDER}/events.yaml", "space")
        }

    @cached_property
    def report_types(self) -> Mapping[str, ReportGroup]:
        """GeProfInfoType: what the graph engine reports calls as, by group."""
        return {
            group: self.documents.fact(
                ReportGroup,
                without(row, "set", "values", "first", "calls"),
                place,
                members=tuple(self._report_types(row, place)),
            )
            for group, row, place in self.documents.rows(f"{FOLDER}/report_types.yaml", "group")
        }

    @cached_property
    def calls(self) -> Mapping[str, ReportGroup]:
        """AclProfType: calls of ACL that are reported, by group."""
        level = self.report_types["acl"].level
        return {
            group: self.documents.fact(
                ReportGroup,
                without(row, "calls"),
                place,
                level=level,
                members=tuple(_calls(row, place, level)),
            )
            for group, row, place in self.documents.rows(f"{FOLDER}/calls.yaml", "group")
        }

    @cached_property
    def dumps(self) -> Mapping[DumpName, Dump]:
        """The texts about the host by their writers."""
        every = self.documents.by("dump", Dump, f"{FOLDER}/dumps.yaml").values()
        return {one.dump: one for one in every}

    @cached_property
    def enumerated(self) -> Mapping[tuple[int, int], str]:
        """What the types of calls of both enumerations are registered as, by level and type."""
        groups = (*self.report_types.values(), *self.calls.values())
        return {(one.level, one.value): one.text for group in groups for one in group.members}

    @cached_property
    def registered(self) -> Mapping[tuple[int, int], str]:
        """What the graph engine calls types of calls, by level and type.

        Kernels of further kinds have numbers behind those of nodes, in the order of their texts,
        which begins with the events of the executor.
        """
        nodes = self.report_types["node"]
        executor = self.events["gert::profiling"]
        first = nodes.end or 0
        kernels = {(nodes.level, first + one.value): one.text for one in executor.events}
        return {**self.enumerated, **kernels}

    def _report_types(self, row: Document, place: str) -> Iterator[Reported]:
        """Those of a set of raw files, or those that are listed by name."""
        with reading(place):
            level: int = row["level"]
            if "set" in row:
                sets = self.documents.named(ValueSet, "raw/vocabularies.yaml")
                texts = {one.value: one.label for one in sets[row["set"]].members}
                for value in row["values"]:
                    yield Reported(level, value, texts[value] or "")
            for value, text in enumerate(row.get("calls", ()), row.get("first", 0)):
                yield Reported(level, value, text)


def _events(row: Document, place: str) -> list[Document]:
    with reading(place):
        return [{"text": one["name"].removeprefix("k"), **one} for one in row["events"]]


def _calls(row: Document, place: str, level: int) -> Iterator[Reported]:
    """Numbered from the start on; registered with a small first letter (ge-profiling 4.5)."""
    with reading(place):
        for value, name in enumerate(row["calls"], row["start"] + 1):
            yield Reported(level, value, name[:1].lower() + name[1:], name)
