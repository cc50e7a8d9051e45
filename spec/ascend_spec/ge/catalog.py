"""The graph engine's profiling in memory.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ascend_spec.core import Erratum, Loader
from ascend_spec.core.values import ValueSet

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
