"""MindSpore's files in memory, all generations together.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import construct

from ascend_spec.core import Erratum, Loader
from ascend_spec.core.dialect import Node
from ascend_spec.core.loader import reading, without
from ascend_spec.core.names import Field, NameForm
from ascend_spec.core.shows import shown
from ascend_spec.core.values import ValueSet
from ascend_spec.raw.text import Grammar, load_grammars

from . import records
from .analysers import Analyser, AnswerColumn, AnswerSwitch
from .framework import TAGGED_RECORDS
from .life_cycle import Transition
from .model import (
    CaptureFile,
    DatedLine,
    DatedName,
    DatedRecord,
    Generation,
    IntermediateFile,
    Method,
    ReadColumn,
    TableColumn,
    Way,
)
from .proposals import Proposal
from .requests import Argument, DatedVerb, Refusal, Request

FOLDER = "mindspore"


def _any_of(names: Iterable[DatedName]) -> re.Pattern[str]:
    """What every name is: most files of a folder are none of these, and are compared once."""
    return re.compile("|".join(one.form.pattern for one in names))


class MindSporeCatalog:
    """Every fact about the files of MindSpore's profiler; ``Spec.mindspore`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def generations(self) -> Mapping[str, Generation]:
        """Generations by id, the oldest first."""
        return self.documents.by("id", Generation, f"{FOLDER}/generations.yaml")

    @cached_property
    def files(self) -> Mapping[str, CaptureFile]:
        """Kinds of raw files by what the spec calls them."""
        return {
            file: self._file(row, place)
            for file, row, place in self.documents.rows(f"{FOLDER}/files.yaml", "file")
        }

    @cached_property
    def tables(self) -> Mapping[str, IntermediateFile]:
        """Kinds of intermediate files by what the spec calls them."""
        return {
            row["table"]: self._table(row, name)
            for name, row in self.documents.folder.documents(f"{FOLDER}/tables")
        }

    @cached_property
    def methods(self) -> Mapping[str, Method]:
        """What parsers do in another way on other days, by name."""
        return {
            name: self._method(row, place)
            for name, row, place in self.documents.rows(f"{FOLDER}/methods.yaml", "method")
        }

    @cached_property
    def analysers(self) -> Mapping[str, Analyser]:
        """Analysers by the name by which they are asked for."""
        return {
            name: self._analyser(row, place)
            for name, row, place in self.documents.rows(f"{FOLDER}/analysers.yaml", "analyser")
        }

    @cached_property
    def full_names(self) -> tuple[str, ...]:
        """What files call the column of full names of operators."""
        columns = self.analysers["aicore_detail"].columns
        return next(one.takes for one in columns if one.name == "full_op_name")

    @cached_property
    def proposals(self) -> Mapping[str, Proposal]:
        """Rules of proposers by name, in the order in which they are asked."""
        return self.documents.by("proposal", Proposal, f"{FOLDER}/proposals.yaml")

    @cached_property
    def requests(self) -> Mapping[str, Request]:
        """Requests over HTTP by their paths below the common one."""
        return {
            name: self.documents.fact(
                Request,
                row,
                place,
                methods=tuple(self.documents.fact(DatedVerb, one, place) for one in row["methods"]),
                arguments=tuple(
                    self.documents.fact(Argument, one, f"{place}.{one['name']}")
                    for one in row.get("arguments", ())
                ),
            )
            for name, row, place in self.documents.rows(f"{FOLDER}/requests.yaml", "request")
        }

    @cached_property
    def refusals(self) -> Mapping[str, Refusal]:
        """How requests are refused, by name."""
        return self.documents.by("refusal", Refusal, f"{FOLDER}/refusals.yaml")

    @cached_property
    def answers(self) -> Mapping[str, Node]:
        """Schemas of answers to requests by name, as they are written down."""
        found: Mapping[str, Node] = self.documents.folder.read(f"{FOLDER}/answers.schema.yaml")[
            "$defs"
        ]
        return found

    @cached_property
    def life_cycle(self) -> tuple[Transition, ...]:
        """What calls of the Profiler do, by state and day."""
        return tuple(
            self.documents.fact(Transition, row, place)
            for _, row, place in self.documents.rows(f"{FOLDER}/life_cycle.yaml", "call")
        )

    @cached_property
    def grammars(self) -> Mapping[str, Grammar]:
        """The lines of raw files of text by the name of the grammar, with those of ``raw``."""
        own = load_grammars(self.documents, f"{FOLDER}/text.yaml")
        return {**load_grammars(self.documents, "raw/text.yaml"), **own}

    @cached_property
    def vocabularies(self) -> Mapping[str, ValueSet]:
        """Sets of values by name."""
        return self.documents.named(ValueSet, f"{FOLDER}/vocabularies.yaml")

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def parts(self) -> Mapping[str, Field]:
        """The parts of names that change."""
        shared = self.documents.name_parts("layout/parts.yaml")
        return {**shared, **self.documents.name_parts(f"{FOLDER}/parts.yaml")}

    def record(self, name: str) -> construct.Struct:
        """The declaration of a record, of one with texts its fixed part.

        ``KeyError`` for an unknown one.
        """
        if name in TAGGED_RECORDS:
            return TAGGED_RECORDS[name].fixed
        found = getattr(records, name, None)
        if not isinstance(found, construct.Struct):
            raise KeyError(f"unknown record {name!r}")
        return found

    def day_of(self, generation: str) -> str:
        """The day of a generation, or a day (ISO) as it is.

        Raises ``KeyError`` naming the known generations for any other text.
        """
        if generation in self.generations:
            return self.generations[generation].day
        if len(generation) == 10 and generation[:2] == "20" and generation[4::3] == "--":
            return generation
        known = ", ".join(self.generations)
        raise KeyError(f"unknown generation {generation!r}; known: {known}, or a day as 2021-12-16")

    def file_of(
        self, name: str, folder: str | None = None
    ) -> tuple[CaptureFile, DatedName, Mapping[str, str]] | None:
        """The kind of a file by its name, the name that it is, and its changing parts; ``None`` for
        a name of no kind. folder: the name of the one that it is in; some names mean nothing
        without it.
        """
        if not self._file_names.fullmatch(name):
            return None
        for file in self.files.values():
            found = file.named(name, folder)
            if found is not None:
                return file, *found
        return None

    def table_of(self, name: str) -> tuple[IntermediateFile, DatedName, Mapping[str, str]] | None:
        """The same of an intermediate file, by the newest of its names."""
        if not self._table_names.fullmatch(name):
            return None
        for table in self.tables.values():
            for dated in reversed(table.names):
                parts = dated.form.named(name)
                if parts is not None:
                    return table, dated, parts
        return None

    @cached_property
    def _file_names(self) -> re.Pattern[str]:
        return _any_of(one for file in self.files.values() for one in file.names)

    @cached_property
    def _table_names(self) -> re.Pattern[str]:
        return _any_of(one for table in self.tables.values() for one in table.names)

    def _file(self, row: Mapping[str, Any], place: str) -> CaptureFile:
        with reading(place):
            rest = without(row, "names", "members", "record", "columns")
            return self.documents.fact(
                CaptureFile,
                rest,
                place,
                names=tuple(self._names(row["names"], place)),
                members=tuple(self._members(row, place)),
                columns=tuple(
                    self.documents.fact(ReadColumn, one, f"{place}.{one['name']}")
                    for one in row.get("columns", ())
                ),
            )

    def _table(self, row: Mapping[str, Any], place: str) -> IntermediateFile:
        with reading(place):
            return self.documents.fact(
                IntermediateFile,
                without(row, "names", "columns", "exported", "lines"),
                place,
                names=tuple(self._names(row["names"], place)),
                columns=tuple(self._columns(row.get("columns", ()), place)),
                exported=tuple(self._columns(row.get("exported", ()), place)),
                lines=tuple(
                    self.documents.fact(DatedLine, one, place) for one in row.get("lines", ())
                ),
            )

    def _columns(self, rows: Sequence[Mapping[str, Any]], place: str) -> Iterator[TableColumn]:
        for row in rows:
            at = f"{place}.{row['name']}"
            yield self.documents.fact(TableColumn, row, at, shows=shown(row, place))

    def _method(self, row: Mapping[str, Any], place: str) -> Method:
        with reading(place):
            ways = tuple(self.documents.fact(Way, one, place) for one in row["ways"])
            return self.documents.fact(Method, without(row, "ways"), place, ways=ways)

    def _analyser(self, row: Mapping[str, Any], place: str) -> Analyser:
        with reading(place):
            return self.documents.fact(
                Analyser,
                row,
                place,
                columns=tuple(
                    self.documents.fact(AnswerColumn, one, f"{place}.{one['name']}")
                    for one in row.get("columns", ())
                ),
                switches=tuple(
                    self.documents.fact(AnswerSwitch, one, f"{place}.{one['name']}")
                    for one in row.get("switches", ())
                ),
            )

    def _names(self, rows: Sequence[Mapping[str, Any]], place: str) -> Iterator[DatedName]:
        for row in rows:
            form = NameForm.made(row["name"], self.parts)
            yield self.documents.fact(DatedName, without(row, "name"), place, form=form)

    def _members(self, row: Mapping[str, Any], place: str) -> Iterator[DatedRecord]:
        alone = [{"record": row["record"]}] if "record" in row else []
        for one in row.get("members", alone):
            yield self.documents.fact(DatedRecord, one, place)
