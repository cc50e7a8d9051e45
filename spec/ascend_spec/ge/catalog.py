"""The graph engine's profiling in memory.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ascend_spec.core import Erratum, Loader
from ascend_spec.core.dialect import DIALECT, Node, compile_schema
from ascend_spec.core.loader import reading

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
        return {
            name: self.documents.fact(
                Option, row, place, cost=self.documents.fact(Cost, row["cost"], f"{place}.cost")
            )
            for name, row, place in self.documents.rows(f"{FOLDER}/options.yaml", "option")
        }

    @cached_property
    def options_schema(self) -> Node:
        """JSON Schema 2020-12 of ``ge.exec.profilingOptions``; nodes keep ``unit``."""
        source = self.documents.folder.read(f"{FOLDER}/profiling_options.schema.yaml")
        schema = compile_schema(source, {}, lambda node: True)
        return {"$schema": DIALECT, "$id": "urn:ascend-ref:ge:profiling_options", **schema}

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
        return self.documents.by("bit", SwitchBit, f"{FOLDER}/switch_bits.yaml")

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
