"""The raw files in memory: what lies in ``PROF_*`` and ``FRAMEWORK`` before anyone exports it.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, get_args

import construct

from ascend_spec.core import Document, Erratum, Loader
from ascend_spec.core.dialect import Node
from ascend_spec.core.loader import part, reading, without
from ascend_spec.core.names import Field, NameForm
from ascend_spec.core.values import ValueSet

from . import records
from .model import MARKS, Chip, Member, RawFile, Side
from .side_files import side_schema
from .text import Grammar, load_grammars

FOLDER = "raw"
SLICE = "{slice}"
"""How the name of a file goes on that is cut into slices."""


class RawCatalog:
    """Every fact about raw files, all chips together; ``Spec.raw`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def chips(self) -> Mapping[int, Chip]:
        """Chips by id, ascending."""
        chips = self.documents.by("id", Chip, f"{FOLDER}/chips.yaml").values()
        return {one.id: one for one in chips}

    @cached_property
    def files(self) -> Mapping[str, RawFile]:
        """Kinds of files by what the spec calls them, those of the host first."""
        return {
            file: self._file(row, place)
            for file, row, place in self.documents.rows(f"{FOLDER}/files.yaml", "file")
        }

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def vocabularies(self) -> Mapping[str, ValueSet]:
        """Sets of values by name."""
        return self.documents.named(ValueSet, f"{FOLDER}/vocabularies.yaml")

    @cached_property
    def grammars(self) -> Mapping[str, Grammar]:
        """The lines of files of text by the name of the grammar."""
        return load_grammars(self.documents, f"{FOLDER}/text.yaml")

    def grammar_of(self, file: str) -> Grammar:
        """The lines of a kind of files of text; ``KeyError`` for any other."""
        return self.grammars[self.files[file].grammar or ""]

    @cached_property
    def parts(self) -> Mapping[str, Field]:
        """The parts of names that change."""
        shared = self.documents.name_parts("layout/parts.yaml")
        return {**shared, **self.documents.name_parts(f"{FOLDER}/parts.yaml")}

    def document_schema(self, name: str) -> Node:
        """JSON Schema 2020-12 of a side file; ``KeyError`` for an unknown one."""
        return side_schema(self.documents.folder, name)

    def record(self, name: str) -> construct.Struct:
        """The declaration of a record; ``KeyError`` for an unknown one."""
        found = getattr(records, name, None)
        if not isinstance(found, construct.Struct):
            raise KeyError(f"unknown record {name!r}")
        return found

    def record_size(self, name: str) -> int | None:
        """The bytes of a record; ``None`` for one whose length varies."""
        try:
            size: int = self.record(name).sizeof()
        except construct.SizeofError:
            return None
        return size

    def files_of(self, chip: int) -> tuple[RawFile, ...]:
        """The files of a chip that the exporter reads, or that nobody reads; ``KeyError`` for an
        unknown chip.
        """
        if chip not in self.chips:
            known = ", ".join(map(str, self.chips))
            raise KeyError(f"unknown chip {chip!r}; known: {known}")
        return tuple(one for one in self.files.values() if chip in one.chips)

    def file_of(self, name: str, side: Side) -> RawFile | None:
        """The kind of a file by its name and its side; ``None`` for a name of no kind."""
        found = None if name.endswith(MARKS) else self._kinds[side].fullmatch(name)
        return self.files[found.lastgroup] if found and found.lastgroup else None

    @cached_property
    def _kinds(self) -> Mapping[Side, re.Pattern[str]]:
        """One expression for the names of each side, with a group for each kind of file: a folder
        may hold any number of slices.
        """
        return {
            side: re.compile(
                "|".join(
                    f"(?P<{one.file}>{'|'.join(form.expression for form in one.forms)})"
                    for one in self.files.values()
                    if one.side == side
                )
            )
            for side in get_args(Side)
        }

    def _file(self, row: Document, place: str) -> RawFile:
        with reading(place):
            sliced = row.get("sliced", row.get("folder") != "side" and row["side"] != "framework")
            chips = self._chips(row)
            data = _listed(row.get("data", ()))
            return self.documents.fact(
                RawFile,
                without(row, "name", "aliases", "record", "members", "not_on", "data", "feeds"),
                place,
                name=self._name(part(row, "name", str, place), sliced),
                aliases=tuple(self._name(one, sliced) for one in row.get("aliases", ())),
                sliced=sliced,
                members=tuple(self._members(row, chips, place)),
                chips=chips,
                data=data,
                switches=row.get("switches", self.documents.products.switches(data)),
                feeds=tuple(_feeds(row)),
            )

    def _name(self, template: str, sliced: bool) -> NameForm:
        return NameForm.made(template + (SLICE if sliced else ""), self.parts)

    def _chips(self, row: Mapping[str, Any]) -> tuple[int, ...]:
        missing = row.get("not_on", ())
        return tuple(row.get("chips") or (one for one in self.chips if one not in missing))

    def _members(
        self, row: Mapping[str, Any], chips: tuple[int, ...], place: str
    ) -> Iterator[Member]:
        rows = row.get("members") or ([{"record": row["record"]}] if "record" in row else [])
        for one in rows:
            yield self.documents.fact(Member, {"chips": chips, **one}, place)


def _listed(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _feeds(row: Mapping[str, Any]) -> dict[str, None]:
    """What is made of the whole file and of each of its members, once each."""
    members = (address for one in row.get("members", ()) for address in one.get("feeds", ()))
    return dict.fromkeys((*row.get("feeds", ()), *members))
