"""Which files of a folder are text deliverables, what each of them is, and what is judged together.

In a folder the names show it; where a single file is given, its first bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ascend_ref.db.display import show_path
from ascend_ref.sniff import SQLITE_HEADER
from ascend_spec import layout_catalog, text_catalog, timeline_catalog
from ascend_spec.layout import Match
from ascend_spec.text import CsvFile

from ...engine.candidate import Candidate, Listing
from ...engine.folders import is_collection
from ...engine.mindspore import has_sign, is_export_of_iterations, is_of_mindspore

Kind = Literal["csv", "timeline", "document"]

HEAD = 1 << 20
"""Bytes of a single file that may show what it is."""

COMPANIONS = ("profiler_info", "profiler_metadata")
"""Documents about a capture; they make no folder an output folder, and may stand one above it."""

ITERATION = 3
"""Numbers in the name of a file of one iteration: of its device, its model, and its own."""

_ALIKE = 0.5
"""Share of the columns of a header that must be known for a file of any name to be that one."""


@dataclass(frozen=True, slots=True)
class Deliverable:
    """One file: its kind, what the spec calls it, and which slice of it this is.

    ``numbers`` are the rest of its name: the time of export, or device, model and iteration of
    intermediate files. ``of_mindspore``: MindSpore wrote the folder. ``judged_by``: the writer
    that it is to be by.
    """

    path: Path
    kind: Kind
    name: str
    slice: int | None = None
    numbers: tuple[str, ...] = ()

    named: Path | None = None
    of_mindspore: bool = False
    judged_by: str | None = None

    @property
    def label(self) -> str:
        """What reports call it."""
        return show_path(self.named or self.path)

    @property
    def part(self) -> tuple[str, ...]:
        """Device, model and iteration of a file that shows one iteration alone."""
        return self.numbers if len(self.numbers) == ITERATION else ()

    def is_by(self, writer: str) -> bool:
        """Whether a writer of the spec can have written it."""
        if self.judged_by is not None:
            return writer == self.judged_by
        return (text_catalog().writers[writer].output == "mindspore") == self.of_mindspore

    def anywhere(self) -> Deliverable:
        """The same file, with a path that does not depend on the working directory."""
        return replace(self, path=self.path.absolute(), named=self.named or self.path)

    @property
    def place(self) -> str:
        """What places in findings begin with, the same for all slices and exports."""
        if self.kind == "csv":
            return f"{self.name}.csv"
        if self.kind == "document":
            return f"{self.name}.json"
        template = timeline_catalog().files[self.name].name.template
        return re.sub(r"_\{[^}]*\}", "", template)


def deliverable_of_name(path: Path) -> Deliverable | None:
    """What a file is by its name."""
    match = layout_catalog().match(path.name)
    return None if match is None else _of_match(path, match)


def _of_match(path: Path, match: Match) -> Deliverable | None:
    kind = match.file.kind
    if kind not in ("csv", "timeline", "document"):
        return None
    return Deliverable(path, kind, match.called, match.slice, match.numbers)


def deliverables_in(listing: Listing) -> tuple[Deliverable, ...]:
    """The deliverables of a folder; none if only :data:`COMPANIONS` are there."""
    found = _named(listing)
    return found if any(one.name not in COMPANIONS for one in found) else ()


def companions(listing: Listing) -> tuple[Deliverable, ...]:
    """The documents about a capture that stand above its output folder."""
    of_mindspore = is_of_mindspore(listing)
    above = (one for one in _named(listing.above) if one.name in COMPANIONS)
    return tuple(replace(one, of_mindspore=of_mindspore) for one in above)


def _named(listing: Listing) -> tuple[Deliverable, ...]:
    """The files of a folder that are deliverables by their names."""
    return listing.fact("deliverables", _find_named)


def _find_named(listing: Listing) -> tuple[Deliverable, ...]:
    folder = listing.folder.absolute()
    if _is_analysis(folder) or is_export_of_iterations(folder):
        return ()
    named = [_of_match(path, match) for path, match in listing.matches]
    found = [one for one in named if one is not None and one.path.is_file()]
    of_mindspore = bool(found) and is_of_mindspore(listing)
    return tuple(replace(one, of_mindspore=of_mindspore) for one in found)


def _is_analysis(folder: Path) -> bool:
    """Whether msprof --analyze wrote it: documents without steps, which an adapter reads."""
    return folder.name == "analyze" and is_collection(folder.parent.name)


def deliverable_of_content(path: Path) -> Deliverable | None:
    """What a single file is: by its first bytes, and where they leave a choice by its name.

    ``None`` for what is no text deliverable, no file, or cannot be opened.
    """
    try:
        if not path.is_file():
            return None  # a pipe would be waited for
        with path.open("rb") as file:
            head = file.read(HEAD)
    except (OSError, ValueError):
        return None
    named = deliverable_of_name(path)
    if head.startswith(SQLITE_HEADER):
        return None
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if text[:1] in (b"[", b"{"):
        return named if named and named.kind != "csv" else _json_kind(path, text)
    if named is not None:
        return named
    return _csv_kind(path, text)


def _json_kind(path: Path, text: bytes) -> Deliverable | None:
    """A timeline by the keys of its first event, a document by its first keys."""
    if text.startswith(b"[") or b'"traceEvents"' in text[: 1 << 16]:
        has_events = text[1:].lstrip()[:1] in (b"]", b"") or b'"ph"' in text
        return Deliverable(path, "timeline", "trace_view") if has_events else None
    marks = {
        "communication": b'"Communication Time Info"',
        "communication_matrix": b'"Transport Type"',
        "profiler_info": b'"start_info"',
        "profiler_metadata": b'"ENV_VARIABLES"',
    }
    if b'"profiler_parameters"' in text:
        return Deliverable(path, "document", "profiler_info")
    name = next((name for name, mark in marks.items() if mark in text), None)
    return Deliverable(path, "document", name) if name else None


def _csv_kind(path: Path, text: bytes) -> Deliverable | None:
    """The CSV file most of whose columns stand in the header."""
    line = text.partition(b"\n")[0].strip()
    if b"," not in line or b"\0" in line:
        return None
    cells = set(line.decode("utf-8", "replace").split(","))
    best = max(text_catalog().csv.values(), key=lambda file: _likeness(file, cells))
    if _likeness(best, cells) < _ALIKE:
        return None
    return Deliverable(path, "csv", best.name)


def _likeness(file: CsvFile, cells: set[str]) -> float:
    """Known columns by all columns of the header and of the file's own."""
    own = {name for column in file.own_columns for name in column.names}
    known = sum(file.column(cell) is not None for cell in cells)
    return known / (len(cells) + 0.1 * len(own - cells))


@dataclass(frozen=True, slots=True)
class Output:
    """The text files of a folder, and the database next to them.

    ``alone``: nothing is missed next to them, such as where a single file was given.
    """

    deliverables: tuple[Deliverable, ...]
    alone: bool = False
    database: Path | None = None

    def anywhere(self) -> Output:
        """The same, with paths that do not depend on the working directory."""
        return replace(
            self,
            deliverables=tuple(one.anywhere() for one in self.deliverables),
            database=self.database and self.database.absolute(),
        )

    def candidate(self, path: Path) -> Candidate:
        """The output as a candidate to judge."""
        files = tuple(one.path for one in self.deliverables)
        return Candidate("text", path, files=files, details=self, absolute=Output.anywhere)


def output_of_folder(listing: Listing) -> Iterator[Candidate]:
    """The text files of a folder, if it has any; those of each exported iteration on their own."""
    parts: dict[tuple[str, ...], list[Deliverable]] = {}
    for text in deliverables_in(listing):
        parts.setdefault(text.part, []).append(text)
    for part, texts in parts.items():
        every = (*texts, *companions(listing))
        found = Output(every, database=_database(listing)).candidate(listing.folder)
        yield replace(found, named=listing.folder / f"*_{'_'.join(part)}.*") if part else found


def output_of_file(path: Path, listing: Listing) -> Candidate | None:
    """A single file by its content; who wrote it, also by the folder."""
    text = deliverable_of_content(path)
    if text is None:
        return None
    match = layout_catalog().match(path.name)
    of_mindspore = is_of_mindspore(listing) or (match is not None and has_sign([(path, match)]))
    text = replace(text, of_mindspore=of_mindspore)
    return Output((text,), alone=True).candidate(path)


def _database(listing: Listing) -> Path | None:
    """The profiler's database in a folder or, of msprof, one above it; the last by its name."""
    places = [place.fact("last databases", _last_databases) for place in (listing, listing.above)]
    found = (last.get(carrier) for carrier in ("pytorch", "msprof") for last in places)
    return next(filter(None, found), None)


def _last_databases(listing: Listing) -> Mapping[str, Path]:
    """By carrier, the last database of a folder."""
    named = ((match.file.carrier, path) for path, match in listing.matches)
    return {carrier: path for carrier, path in named if carrier and path.is_file()}
