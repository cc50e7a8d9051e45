"""Intermediate files next to the raw files that they are made of: the parsers of the day make them
once more, and what they make is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

from ascend_ref.mindspore.folder import RawCapture
from ascend_ref.mindspore.generation import Written, find_generation
from ascend_ref.mindspore.parse.parse import run_parsers
from ascend_ref.mindspore.parse.run import Run
from ascend_ref.raw.lines import LONGEST
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS

from ...engine.candidate import Listing, size_of
from .folder import TableFile, captures_in, files_of
from .tables import cells_of

LARGEST = 1 << 28
"""Bytes of raw files that are parsed once more."""

LARGE = 1 << 25
"""Bytes from which on they are parsed for one day alone."""

MOST_DAYS = 24
"""Days of which it is tried whether they explain the files."""

SHOWN = 80
"""Characters of a value that are kept."""

_JOBS = re.compile(r"(?:JOB|PROF_).*")


class AtHand(NamedTuple):
    """A capture near intermediate files. ``is_own``: it is of the same job by its place."""

    capture: RawCapture
    is_own: bool


class Difference(NamedTuple):
    """The first place at which a file is not what is made."""

    line: int
    found: str
    wanted: str


@dataclass
class Compared:
    """What came of the comparison of files with those that are made of raw files.

    ``day``: the one that explains most of them. ``differences``: of files that none explains.
    ``equal``: files that are as they are made. ``reasons``: by file, why it was not compared.
    """

    day: str | None = None
    differences: dict[Path, tuple[Difference, bool]] = field(default_factory=dict)
    equal: set[Path] = field(default_factory=set)
    reasons: dict[Path, str] = field(default_factory=dict)


def captures_at_hand(folder: Path, own: Sequence[RawCapture]) -> list[AtHand]:
    """The captures of the folder itself, of the one above it, below it and next to it."""
    found = [AtHand(one, True) for one in own]
    above = folder.absolute().parent
    found += (AtHand(one, True) for one in captures_in(Listing(above)) if above.name)
    below = [one for one in _folders(folder) if _JOBS.fullmatch(one.name)]
    found += (AtHand(one, True) for place in below for one in captures_in(Listing(place)))
    if not found:
        next_to = [one for one in _folders(above) if _JOBS.fullmatch(one.name)]
        found += (AtHand(one, False) for place in next_to for one in captures_in(Listing(place)))
    return found


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(one for one in place.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return []


def compare(
    files: Sequence[TableFile], at_hand: Sequence[AtHand], days: Mapping[Path, Sequence[str]]
) -> Compared:
    """Compare intermediate files with what is made of the captures. ``days``: on which each can
    have been written.
    """
    result = Compared()
    for device in dict.fromkeys(one.device for one in files):
        some = [one for one in files if one.device == device]
        near = [one for one in at_hand if device in ("", one.capture.device)]
        _compare(result, some, near, days)
    return result


def _compare(
    result: Compared,
    files: Sequence[TableFile],
    at_hand: Sequence[AtHand],
    days: Mapping[Path, Sequence[str]],
) -> None:
    file_of = mindspore_catalog().file_of
    left = [one for one in files if _sources(one.table.table) and file_of(one.path.name) is None]
    for one in left:
        result.reasons[one.path] = "no raw files that it is made of are at hand"
    for capture, is_own in at_hand:
        here = [one for one in left if one.path not in result.equal and _is_source(capture, one)]
        size = sum(map(size_of, files_of(capture)))
        if size > LARGEST:
            reason = f"the raw files have {size:,} bytes, too many to parse"
            result.reasons |= dict.fromkeys((one.path for one in here), reason)
            continue
        day, differences = _best(capture, here, days, size)
        if _equal(differences) > len(result.equal):
            result.day = day
        result.equal |= {path for path, one in differences.items() if one is None}
        for file in here:
            found = differences.get(file.path)
            if found is not None and _lacks_names(capture, file, day):
                result.reasons[file.path] = "no file of the framework, which has names, is at hand"
            elif found is not None:
                result.differences.setdefault(file.path, (found, is_own))
    for path in result.equal:
        result.differences.pop(path, None)
    for path in (*result.equal, *result.differences):
        result.reasons.pop(path, None)


def _best(
    capture: RawCapture,
    files: Sequence[TableFile],
    days: Mapping[Path, Sequence[str]],
    size: int,
) -> tuple[str, Mapping[Path, Difference | None]]:
    """The day that explains most of the files, and where each differs from what it makes."""
    best: tuple[str, Mapping[Path, Difference | None]] = ("", {})
    for day in _days(capture, files, days, size) if files else ():
        found = dict(_differences(capture, day, files))
        if not found:
            break
        if not best[1] or _equal(found) > _equal(best[1]):
            best = day, found
        if _equal(found) == len(found):
            break
    return best


def _equal(differences: Mapping[Path, Difference | None]) -> int:
    return sum(one is None for one in differences.values())


def _sources(table: str) -> frozenset[str]:
    """The kinds of raw files that a table is made of, through other tables as well."""
    catalog = mindspore_catalog()
    found: set[str] = set()
    todo, seen = [table], {table}
    while todo:
        for one in catalog.tables[todo.pop()].made_of:
            if one in catalog.files:
                found.add(one)
            if one in catalog.tables and one not in seen:
                seen.add(one)
                todo.append(one)
    return frozenset(found)


def _is_source(capture: RawCapture, file: TableFile) -> bool:
    """Whether a capture has raw files that a table is made of, and is not of that file alone."""
    needed = _sources(file.table.table) & capture.files.keys()
    return bool(needed) and file.path not in set(files_of(capture))


def _lacks_names(capture: RawCapture, file: TableFile, day: str) -> bool:
    """Whether a table is made of files of the framework as well, and there are none."""
    files = mindspore_catalog().files
    if capture.exports(day):
        return False
    named = {
        one
        for one in _sources(file.table.table)
        if files[one].parser == "framework" and DAYS.in_force(files[one], day)
    }
    return bool(named) and not named & capture.files.keys()


def _days(
    capture: RawCapture,
    files: Sequence[TableFile],
    days: Mapping[Path, Sequence[str]],
    size: int,
) -> Iterator[str]:
    """The days to try: that of the raw files, and those on which they and the files can be."""
    written: Written = find_generation(capture)
    possible = [
        day
        for day in dict.fromkeys(day for one in files for day in days[one.path])
        if all(DAYS.in_force(one.bounds, day) for one in written.evidence)
    ]
    every = sum(all(day in days[one.path] for one in files) for day in possible)
    if every:
        possible = [day for day in possible if all(day in days[one.path] for one in files)]
    first = [written.day] if written.day in possible or not possible else []
    order = dict.fromkeys([*first, *possible])
    yield from list(order)[: 1 if size > LARGE else MOST_DAYS]


def _differences(
    capture: RawCapture, day: str, files: Sequence[TableFile]
) -> Iterator[tuple[Path, Difference | None]]:
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        run = Run(capture, day, Path(place))
        run_parsers(run)
        made = set(run.written)
        for one in files:
            if one.path.name in made:
                is_csv = one.table.form == "csv"
                yield one.path, difference(one.path, Path(place) / one.path.name, is_csv=is_csv)


def difference(found: Path, made: Path, *, is_csv: bool) -> Difference | None:
    """The first place at which two files differ, ends of lines aside."""
    with found.open("rb") as one, made.open("rb") as other:
        pairs = zip_longest(_lines(one), _lines(other))
        for line, (here, there) in enumerate(pairs, 1):
            if here != there:
                return Difference(line, *_shown(here, there, is_csv))
    return None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    for line in iter(lambda: file.readline(LONGEST), b""):
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def _shown(here: bytes | None, there: bytes | None, is_csv: bool) -> tuple[str, str]:
    texts = [
        "no line" if one is None else one.decode("utf-8", "backslashreplace")
        for one in (here, there)
    ]
    if is_csv:
        rows = [cells_of(one) or [] for one in texts]
        pairs = [(a, b) for a, b in zip(*rows, strict=False) if a != b]
        if len(rows[0]) == len(rows[1]) and pairs:
            texts = list(pairs[0])
    first = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0)
    start = max(first - SHOWN // 2, 0)
    return texts[0][start : start + SHOWN], texts[1][start : start + SHOWN]
