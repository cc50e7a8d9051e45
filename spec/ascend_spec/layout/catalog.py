"""The names of a spec in memory: write a name, or ask what a file is by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from ascend_spec.core import Document, Loader
from ascend_spec.core.loader import without

from .names import Name, Part

if TYPE_CHECKING:
    from ascend_spec.recording.catalog import Catalogs

Producer = Literal["msprof", "pytorch", "mindspore", "operator"]
Kind = Literal["csv", "timeline", "document", "database", "blocks"]
FOLDER = "layout"
PARTS = "parts.yaml"


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder of a profile; ``below``: the folder of the same producer that it is in."""

    id: str
    producer: Producer
    name: Name
    summary: str
    below: str | None = None


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A kind of file.

    ``also``: other names under which readers take it. ``carrier``: of a database. ``document``:
    whether it is one of the JSON documents of the spec.
    """

    id: str
    producer: Producer
    name: Name
    summary: str
    also: tuple[Name, ...] = ()
    below: str | None = None
    carrier: Literal["msprof", "pytorch", "analysis"] | None = None
    document: bool = False

    @property
    def kind(self) -> Kind | None:
        """What has to be judged in it, if anything."""
        if self.carrier is not None:
            return "database"
        if self.document:
            return "document"
        return cast(Kind, self.id) if self.id in ("csv", "timeline", "blocks") else None


@dataclass(frozen=True, slots=True)
class Match:
    """What a file is by its name.

    ``called``: what the spec calls it, such as ``op_summary`` or ``trace_view``. ``rank``,
    ``slice`` and ``numbers`` (times of export first): what else the name says.
    """

    file: NamedFile
    called: str
    rank: int | None = None
    slice: int | None = None
    numbers: tuple[str, ...] = ()


class Layout:
    """The names of every producer; ``Spec.layout`` are the loaded ones."""

    def __init__(self, spec: Catalogs) -> None:
        self.spec = spec
        self.loader: Loader = spec.loader

    def part(self, name: str) -> Part:
        """A part of names; ``csv`` and ``timeline`` are the files of the spec. ``KeyError`` for an
        unknown one.
        """
        return self._spelled[name] if name in ("csv", "timeline") else self._parts[name]

    @cached_property
    def _parts(self) -> Mapping[str, Part]:
        return self.loader.named(Part, f"{FOLDER}/{PARTS}", "id")

    @cached_property
    def _spelled(self) -> Mapping[str, Part]:
        return {
            "csv": Part("csv", "A CSV file.", values=tuple(self.sheets)),
            "timeline": Part("timeline", "A timeline.", values=tuple(self.timelines)),
        }

    @cached_property
    def sheets(self) -> Mapping[str, str]:
        """CSV files by what they are called in names."""
        return {
            module: file.name
            for file in self.spec.text.csv.values()
            for module in file.modules.values()
        }

    @cached_property
    def timelines(self) -> Mapping[str, str]:
        """Timelines by what they are called in names."""
        return {
            file.name.template.partition("_{")[0].removesuffix(".json"): file.file
            for file in self.spec.timeline.files.values()
        }

    @cached_property
    def folders(self) -> Mapping[tuple[str, str], NamedFolder]:
        """Folders by producer and id."""
        return {
            (producer, name): self.loader.fact(
                NamedFolder, row, place, id=name, producer=producer, name=self._name(row["name"])
            )
            for producer, name, row, place in self._rows("folders")
        }

    @cached_property
    def files(self) -> Mapping[tuple[str, str], NamedFile]:
        """Kinds of files by producer and id."""
        return {
            (producer, name): self.loader.fact(
                NamedFile,
                without(row, "also"),
                place,
                id=name,
                producer=producer,
                name=self._name(row["name"]),
                also=tuple(map(self._name, row.get("also", ()))),
            )
            for producer, name, row, place in self._rows("files")
        }

    def folder(self, producer: Producer, which: str, **values: object) -> str:
        """The name of a folder. ``KeyError`` for an unknown one, ``ValueError`` for bad values."""
        return self.folders[producer, which].name.format(**values)

    def file(self, producer: Producer, which: str, **values: object) -> str:
        """The name of a file, as :meth:`folder`."""
        return self.files[producer, which].name.format(**values)

    def is_folder(self, which: str, name: str) -> bool:
        """Whether a name is that of one kind of folder, of any producer."""
        alike = (one for one in self.folders.values() if one.id == which)
        return any(one.name.parse(name) is not None for one in alike)

    def is_inner(self, name: str) -> bool:
        """Whether a folder of this name is part of a profile and not named after one."""
        inner = (one for one in self.folders.values() if one.below is not None)
        return any(one.name.parse(name) is not None for one in inner)

    def match(self, name: str) -> Match | None:
        """What a file is by its name; ``None`` for a name of no profile."""
        return next((one for file in self._ordered for one in self._matches(file, name)), None)

    def is_file(self, which: str, name: str) -> bool:
        """Whether a name is that of one kind of file, of any producer."""
        alike = [file for file in self._ordered if file.id == which]
        return any(True for file in alike for _ in self._matches(file, name))

    def _matches(self, file: NamedFile, name: str) -> Iterator[Match]:
        for form in (file.name, *file.also):
            found = form.parse(name)
            if found is not None:
                yield self._match(file, found)

    @cached_property
    def _ordered(self) -> tuple[NamedFile, ...]:
        """Databases first, then what has names of its own, then what the spec lists."""
        return tuple(
            sorted(
                self.files.values(),
                key=lambda one: (one.carrier is None, one.id in ("csv", "timeline")),
            )
        )

    def _match(self, file: NamedFile, found: Mapping[str, str]) -> Match:
        called = file.id
        if "csv" in found:
            called = self.sheets[found["csv"]]
        if "timeline" in found:
            called = self.timelines[found["timeline"]]
        rank = found.get("rank", found.get("rank_or_none"))
        return Match(
            file,
            called,
            None if rank is None else int(rank),
            int(found["slice"]) if "slice" in found else None,
            tuple(re.findall("[0-9]+", found.get("numbers") or found.get("timestamp", ""))),
        )

    def _name(self, template: str) -> Name:
        return Name(template, self.part)

    def _rows(self, key: str) -> Iterator[tuple[str, str, Document, str]]:
        for document, content in self.loader.folder.documents(FOLDER):
            if document != f"{FOLDER}/{PARTS}":
                for name, row in content[key].items():
                    yield content["producer"], name, row, f"{document}: {key}.{name}"
