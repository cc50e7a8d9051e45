"""The names of a spec in memory: write a name, or ask what a file is by its name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ascend_spec.core import Loader
from ascend_spec.core.loader import without
from ascend_spec.core.names import Field, NameForm

if TYPE_CHECKING:
    from ascend_spec.recording.catalog import Catalogs

Producer = Literal["msprof", "pytorch", "mindspore", "operator"]
Kind = Literal["csv", "timeline", "document", "database", "blocks"]
FOLDER = "layout"
PARTS = "parts.yaml"


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder of a profile; ``below``: the folder of the same producer that it is in; ``also``:
    other names that it had.
    """

    id: str
    producer: Producer
    name: NameForm
    summary: str
    also: tuple[NameForm, ...] = ()
    below: str | None = None

    def is_called(self, name: str) -> bool:
        """Whether a name is one that it has or had."""
        return any(form.fits(name) for form in (self.name, *self.also))


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A kind of file.

    ``also``: other names under which readers take it. ``carrier``: of a database. ``document``:
    whether it is one of the JSON documents of the spec. ``since``: the first day with it.
    """

    id: str
    producer: Producer
    name: NameForm
    summary: str
    also: tuple[NameForm, ...] = ()
    below: str | None = None
    carrier: Literal["msprof", "pytorch", "analysis"] | None = None
    document: bool = False
    since: str | None = None

    def is_written_on(self, day: str) -> bool:
        """Whether there was such a file on a day (ISO)."""
        return self.since is None or self.since <= day

    @property
    def forms(self) -> tuple[NameForm, ...]:
        """Every name under which readers take it."""
        return self.name, *self.also

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

    @cached_property
    def parts(self) -> Mapping[str, Field]:
        """Parts of names; ``csv`` and ``timeline`` are the files of the spec."""
        return _Parts(self)

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
                NamedFolder,
                without(row, "also"),
                place,
                id=name,
                producer=producer,
                name=self._name(row["name"]),
                also=tuple(map(self._name, row.get("also", ()))),
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

    @cached_property
    def signs(self) -> Mapping[tuple[str, str], str]:
        """Texts that files of a producer alone hold, by it and what the spec calls the files."""
        return {(producer, name): text for producer, name, text, _ in self._rows("signs")}

    def folder(self, producer: Producer, which: str, **values: object) -> str:
        """The name of a folder. ``KeyError`` for an unknown one, ``ValueError`` for bad values."""
        return self.folders[producer, which].name.of(**values)

    def file(self, producer: Producer, which: str, **values: object) -> str:
        """The name of a file, as :meth:`folder`."""
        return self.files[producer, which].name.of(**values)

    def is_folder(self, which: str, name: str) -> bool:
        """Whether a name is that of one kind of folder, of any producer."""
        alike = (one for one in self.folders.values() if one.id == which)
        return any(one.is_called(name) for one in alike)

    def is_inner(self, name: str) -> bool:
        """Whether a folder of this name is part of a profile and not named after one."""
        inner = (one for one in self.folders.values() if one.below is not None)
        return any(one.is_called(name) for one in inner)

    def match(self, name: str) -> Match | None:
        """What a file is by its name; ``None`` for a name of no profile."""
        for form, files in self._stages:
            if form.fullmatch(name):
                return next((one for file in files for one in self._matches(file, name)), None)
        return None

    def is_file(self, which: str, name: str) -> bool:
        """Whether a name is that of one kind of file, of any producer."""
        return any(form.fits(name) for form in self._forms.get(which, ()))

    def _matches(self, file: NamedFile, name: str) -> Iterator[Match]:
        for form in file.forms:
            found = form.named(name)
            if found is not None:
                yield self._match(file, found)

    @cached_property
    def _forms(self) -> Mapping[str, Sequence[NameForm]]:
        """Of each kind of file the forms of its names, of all producers."""
        found = defaultdict[str, list[NameForm]](list)
        for file in self.files.values():
            found[file.id] += file.forms
        return dict(found)

    @property
    def _stages(self) -> Iterator[_Stage]:
        """Databases, then all other files: what the spec lists is not read for a database."""
        yield self._databases
        yield self._others

    @cached_property
    def _databases(self) -> _Stage:
        return _stage(one for one in self.files.values() if one.carrier)

    @cached_property
    def _others(self) -> _Stage:
        """What has names of its own, then what the spec lists.

        MindSpore comes last: most names are those of the PyTorch adapter, too.
        """
        return _stage(
            sorted(
                (one for one in self.files.values() if not one.carrier),
                key=lambda one: (one.id in ("csv", "timeline"), one.producer == "mindspore"),
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

    def _name(self, template: str) -> NameForm:
        return NameForm(template, self.parts)

    def _rows(self, key: str) -> Iterator[tuple[str, str, Any, str]]:
        for document, content in self.loader.folder.documents(FOLDER):
            if document != f"{FOLDER}/{PARTS}":
                for name, row in content.get(key, {}).items():
                    yield content["producer"], name, row, f"{document}: {key}.{name}"


_Stage: TypeAlias = tuple[re.Pattern[str], Sequence[NamedFile]]
"""Kinds of files, and one expression for all of their names: a folder may hold any others."""


def _stage(files: Iterable[NamedFile]) -> _Stage:
    found = tuple(files)
    forms = (form.expression for file in found for form in file.forms)
    return re.compile("|".join(f"(?:{one})" for one in forms)), found


class _Parts(dict[str, Field]):
    """Parts of names by id; what lists files of the spec is read when it is asked for."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout.loader.name_parts(f"{FOLDER}/{PARTS}"))
        self._layout = layout

    def __missing__(self, name: str) -> Field:
        if name not in ("csv", "timeline"):
            raise KeyError(name)
        known = self._layout.sheets if name == "csv" else self._layout.timelines
        summary = "A CSV file." if name == "csv" else "A timeline."
        return Field(name, values=tuple(sorted(known, key=len, reverse=True)), summary=summary)
