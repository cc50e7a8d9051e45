"""One folder read into facts: its files, when they were written, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from ascend_ref.mindspore.folder import RawCapture
from ascend_ref.mindspore.generation import Written, find_generation, generation_of
from ascend_ref.mindspore.parse.aicore import write_aicore
from ascend_ref.mindspore.parse.framework import framework_of
from ascend_ref.mindspore.parse.hwts import write_hwts
from ascend_ref.mindspore.parse.operators import write_operators
from ascend_ref.mindspore.parse.parse import PARSERS, run_parsers
from ascend_ref.mindspore.parse.readable_times import write_readable_times
from ascend_ref.mindspore.parse.run import Run
from ascend_ref.mindspore.show import tagged_damage
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.tree import FRAMEWORK
from ascend_spec import layout_catalog, mindspore_catalog, per_spec
from ascend_spec.core import DAYS, packaged
from ascend_spec.mindspore import Generation

from ...engine.candidate import Listing, size_of
from ...engine.file_folder import FolderOfFacts
from ...engine.progress import Progress
from ...engine.sqlite_facts import SqliteFacts, SqlValue
from .facts import KINDS
from .folder import DONE, TableFile, capture_of_file, captures_in, files_of, tables_in
from .gather_host import gather_host
from .gather_raw import Source, gather_device
from .gather_tables import gather_table
from .remade import LARGE, Compared, captures_at_hand, compare
from .tables import days_of_change

_PLACE = re.compile(r"line ([0-9,]+): (.*)", re.DOTALL)

OF_THE_LOG = (write_hwts, write_operators, write_aicore, write_readable_times)
"""Parsers that make files of the log of the scheduler."""

FIRST_OF_ANALYSIS = "G5b"
"""The first generation whose analysis takes raw files of FRAMEWORK and writes all others."""


@dataclass
class Folder(FolderOfFacts):
    """What was read. ``day``: whose facts hold; ``reasons``: what shows the ``generation``.

    ``parsed``: what the parsers of a day state of a capture, where that is known.
    """

    of_kinds: ClassVar[Collection[str]] = KINDS

    captures: Sequence[RawCapture] = ()
    tables: Sequence[TableFile] = ()
    day: str = ""
    reasons: tuple[str, ...] = ()
    compared: Compared = field(default_factory=Compared)
    parsed: dict[tuple[RawCapture, str], Sequence[Damage]] = field(default_factory=dict)

    @property
    def generation(self) -> Generation:
        """The one of the day; in a folder ``*_ascend_ms`` one of those that write such folders."""
        if not self.is_of_analysis:
            return generation_of(self.day, exports=self._exports)
        every = mindspore_catalog().generations
        first = every[FIRST_OF_ANALYSIS]
        known = (one for one in every.values() if first.since <= one.since <= self.day)
        return max(known, key=lambda one: one.since, default=first)

    @property
    def is_of_analysis(self) -> bool:
        """Whether it is what MindSpore's own analysis reads or writes, since 2.5."""
        inner = layout_catalog().folders["mindspore", "output"]
        name = self.path.absolute().name
        return name == FRAMEWORK or inner.is_called(name)

    @property
    def _exports(self) -> bool:
        files = mindspore_catalog().files
        of_device = [
            one
            for one in self.captures
            if any(files[kind].target == "ascend" for kind in one.files)
        ]
        # Intermediate files alone do not show what they were made of.
        return all(one.exports(self.day) for one in of_device)


def devices_of(path: Path) -> list[str]:
    """The devices whose files are in a folder, in order of their numbers; none of a single file."""
    if not path.is_dir():
        return []
    listing = Listing(path)
    tables = (one.device for one in tables_in(listing.paths))
    found = {*(one.device for one in captures_in(listing)), *tables} - {""}
    return sorted(found, key=lambda one: (len(one), one))


def read_folder(
    facts: SqliteFacts,
    path: Path,
    label: str,
    progress: Progress | None = None,
    device: str | None = None,
) -> Folder:
    """Read all files of a folder, or those of one device and of none, or a single one.

    What cannot be read is among the facts (``damage``).
    """
    folder = Folder(facts, path, label)
    if path.is_dir():
        listing = Listing(path)
        folder.captures, folder.tables = captures_in(listing), tables_in(listing.paths)
        if device is not None:
            folder.captures = [one for one in folder.captures if one.device == device]
            folder.tables = [one for one in folder.tables if one.device in ("", device)]
    else:
        capture = capture_of_file(path)
        folder.captures = [] if capture is None else [capture]
        folder.tables = tables_in([path])
    _list_files(folder)
    sizes = [size_of(one) for one in folder.numbers]
    days = _read_tables(folder, progress, sizes)
    at_hand = captures_at_hand(path, folder.captures) if path.is_dir() else []
    folder.compared = compare(folder.tables, at_hand, days)
    written = [find_generation(one) for one in folder.captures]
    folder.day = _day(folder, written, days)
    facts.add("day", [(None, None, None, folder.day)])
    folder.reasons = tuple(_reasons(folder, written))
    _state_compared(folder)
    for number, capture in enumerate(folder.captures):
        if progress:
            progress(len(folder.tables) + number, len(sizes), f"{capture.job} {capture.device}")
        _read_capture(folder, capture, written[number])
    return folder


def _list_files(folder: Folder) -> None:
    rows: list[Sequence[SqlValue]] = []
    for capture in folder.captures:
        for one in capture.files.values():
            for piece in one.slices:
                bounds = one.bounds.since, one.bounds.until
                number = folder.number(piece.path)
                size = size_of(piece.path)
                own = (one.kind, piece.path.name, capture.device, piece.number, size)
                rows.append((number, None, None, "raw", *own, *bounds))
    for table in folder.tables:
        number = folder.number(table.path)
        own = (table.table.table, table.path.name, table.device, 0, size_of(table.path))
        rows.append((number, None, None, "table", *own, table.dated.since, table.dated.until))
    for mark in _marks(folder):
        row = (folder.number(mark), None, None, "mark", "done", mark.name, "", 0, 0, None, None)
        rows.append(row)
    folder.facts.add("file", rows)


def _marks(folder: Folder) -> Iterable[Path]:
    """The marks of raw files that are complete."""
    if not folder.path.is_dir():
        return
    places = {folder.path, *(path.parent for path in list(folder.numbers))}
    for place in sorted(places):
        for path in Listing(place).paths:
            name = path.name.removesuffix(DONE)
            if name != path.name and mindspore_catalog().file_of(name) is not None:
                yield path


def _read_tables(
    folder: Folder, progress: Progress | None, sizes: Sequence[int]
) -> dict[Path, Sequence[str]]:
    """Fill the facts from the intermediate files; the days on which each can be written."""
    every = days_of_change()
    found: dict[Path, Sequence[str]] = {}
    for number, table in enumerate(folder.tables):
        if progress:
            progress(number, len(sizes), table.path.name)
        try:
            days = gather_table(folder.facts, folder.number(table.path), table, every)
        except OSError as error:
            folder.unreadable = folder.unreadable or _refused(folder, table.path, error)
            days = list(every)
        found[table.path] = [day for day in days if _is_within(table, day)] or days
    return found


def _is_within(table: TableFile, day: str) -> bool:
    return DAYS.in_force(table.table, day) and DAYS.in_force(table.dated, day)


def _refused(folder: Folder, path: Path, error: OSError) -> str:
    return f"{folder.shown(path)}: {error.strerror or error}; expected a readable file"


def _day(folder: Folder, written: Sequence[Written], days: Mapping[Path, Sequence[str]]) -> str:
    """The day that explains intermediate files next to raw ones; else that of the raw files; else
    the first on which most intermediate files can be written.
    """
    if folder.compared.day is not None and folder.compared.equal:
        return folder.compared.day
    first = mindspore_catalog().generations[FIRST_OF_ANALYSIS].since
    every = [one for one in days_of_change() if one >= first or not folder.is_of_analysis]
    counts = {day: sum(day in some for some in days.values()) for day in every or days_of_change()}
    best = max(counts, key=lambda day: counts[day])
    if not written:
        return best
    day = _least_damaged(folder, folder.captures[0], written[0])
    # Files of the data pipeline are the same for years.
    is_possible = all(DAYS.in_force(one.bounds, best) for one in written[0].evidence)
    return best if is_possible and counts[best] > counts.get(day, len(days)) else day


def _least_damaged(folder: Folder, capture: RawCapture, written: Written) -> str:
    """The day of raw files, or another one on which they can be written and more of them be read.

    What the same fields mean changed on days that no name shows.
    """
    best, least = written.day, len(_damage_on(folder, capture, written.day))
    if not least or written.contradicts or sum(map(size_of, files_of(capture))) > LARGE:
        return best
    for day in reversed(days_of_change()):
        if least and all(DAYS.in_force(one.bounds, day) for one in written.evidence):
            found = parse_damage(capture, day, fewer_than=least)
            if found is not None:
                best, least = day, len(found)
                folder.parsed[capture, day] = found
    return best


def _damage_on(folder: Folder, capture: RawCapture, day: str) -> Sequence[Damage]:
    """What the parsers of a day state of a capture, worked out once."""
    key = (capture, day)
    if key not in folder.parsed:
        folder.parsed[key] = parse_damage(capture, day) or ()
    return folder.parsed[key]


def _reasons(folder: Folder, written: Sequence[Written]) -> Iterable[str]:
    generation = folder.generation
    yield f"{generation.id}, as on {folder.day}"
    equal = len(folder.compared.equal)
    if equal:
        yield f"{equal} of the intermediate files are what parsers of that day make"
    for one in written[:1]:
        for entry in one.evidence[:2]:
            yield f"{entry.path.name}: {entry.reason}"


def _state_compared(folder: Folder) -> None:
    kinds = {one.path: one.table.table for one in folder.tables}
    folder.facts.add(
        "remade",
        [
            (folder.number(path), one.line, None, kinds[path], int(is_own), one.found, one.wanted)
            for path, (one, is_own) in folder.compared.differences.items()
        ],
    )


def _read_capture(folder: Folder, capture: RawCapture, written: Written) -> None:
    """Fill the facts from the raw files of a device, with what cannot be read."""
    run = Run(capture, folder.day, folder.path)
    source = Source(folder.facts, run, folder.numbers)
    gather_device(source)
    gather_host(source)
    framework_of.cache_clear()
    parsed = _damage_on(folder, capture, folder.day)
    damage = list(dict.fromkeys([*source.damage, *parsed, *_of_tagged(capture)]))
    damage += (
        Damage(one.path, f"{one.reason}: which parsers of {folder.day} do not expect")
        for one in written.contradicts
    )
    folder.facts.add("damage", (_damage_row(folder, one) for one in damage))


def _of_tagged(capture: RawCapture) -> Iterator[Damage]:
    for kind, one in capture.files.items():
        for piece in one.slices:
            try:
                yield from tagged_damage(piece.path, mindspore_catalog().files[kind])
            except OSError:
                continue  # stated as unreadable elsewhere


def parse_damage(
    capture: RawCapture, day: str, fewer_than: int | None = None
) -> list[Damage] | None:
    """What the parsers of a day state of a capture, but for its log: reading it states all.

    ``None`` where that is not ``fewer_than`` so much, which ends the parsing.
    """
    found: list[Damage] = []
    for one in _sides(capture, day):
        with TemporaryDirectory(prefix=".ascend-ref-") as place:
            run = Run(one, day, Path(place))
            for parser in PARSERS:
                if parser not in OF_THE_LOG:
                    run_parsers(run, (parser,))
                    if fewer_than is not None and len(found) + len(run.damage) >= fewer_than:
                        return None
            found += run.damage
    return found


def _sides(capture: RawCapture, day: str) -> Iterable[RawCapture]:
    """A capture; where parsers take an export in place of raw files, these without it as well."""
    yield capture
    if capture.exports(day):
        files = mindspore_catalog().files
        raw = {kind: one for kind, one in capture.files.items() if not files[kind].is_exported}
        yield replace(capture, files=raw)


def _damage_row(folder: Folder, one: Damage) -> Sequence[str | int | None]:
    found = _PLACE.match(one.message)
    line = int(found[1].replace(",", "")) if found else None
    text = found[2] if found else one.message
    of = one.kind or _kind_of(one.file)
    return folder.number(one.file), line, one.offset, damage_kind(one.message), of, text


def _kind_of(path: Path) -> str:
    found = mindspore_catalog().file_of(path.name, path.parent.name)
    return "" if found is None else found[0].file


@per_spec
def _kinds() -> Sequence[tuple[str, re.Pattern[str]]]:
    rows = packaged(__package__, "damage.yaml")
    return [(row["kind"], re.compile(row["text"])) for row in rows]


def damage_kind(text: str) -> str:
    """The kind of a damage by its text (``damage.yaml``)."""
    return next((kind for kind, form in _kinds() if form.search(text)), "other")
