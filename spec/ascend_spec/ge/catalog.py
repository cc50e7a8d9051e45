"""The graph engine's profiling in memory.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ascend_spec.core import Document, Erratum, Loader
from ascend_spec.core.loader import reading, without
from ascend_spec.core.values import ValueSet

from .reports import Dump, DumpName, EventSpace, Reported, ReportGroup

FOLDER = "ge"
ACL = 20000
"""The level of calls of ACL."""


class GeCatalog:
    """Every fact about the profiling of the graph engine; ``Spec.ge`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

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
        return {
            group: self.documents.fact(
                ReportGroup,
                without(row, "calls"),
                place,
                level=ACL,
                members=tuple(_calls(row, place)),
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


def _calls(row: Document, place: str) -> Iterator[Reported]:
    """Numbered from the start on; registered with a small first letter (ge-profiling 4.5)."""
    with reading(place):
        for value, name in enumerate(row["calls"], row["start"] + 1):
            yield Reported(ACL, value, name[:1].lower() + name[1:], name)
