"""A profile as numbered items (files, parts, rows), and copies of it with some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

from ascend_ref.below import files_of
from ascend_ref.db.open import UnreadableDatabase

from ..discover import candidates_in
from ..media.text.deliverables import Deliverable, Output
from .databases import Database
from .reducible import NEVER, Flags, Integers, Reducible, Seed, Tie
from .sheets import Sheet
from .timelines import timeline_of

MOST_TIED = 100
"""Rows that a value ties; what more of them share is no key."""


class Bounds(NamedTuple):
    """Where the items of a file begin, its parts and its rows, and what is behind them."""

    parts: int
    rows: int
    behind: int


class Items:
    """The items of a profile: first its files, then for each file its parts and its rows.

    What is kept of it is a flag for each item. A row needs its part, and a part its file;
    a part that has rows needs one of them, since no exporter writes an empty table.
    """

    def __init__(self, profile: Path) -> None:
        self.profile = profile
        self.called = profile.resolve().name
        known = _known_files(profile)
        self.files: Sequence[Reducible] = [
            known.get(path) or Reducible(path) for path in files_of(profile)
        ]
        self.bounds: list[Bounds] = []
        holder = [np.arange(len(self.files))]
        at = len(self.files)
        for number, file in enumerate(self.files):
            rows = at + len(file.parts)
            self.bounds.append(Bounds(at, rows, rows + len(file.part)))
            holder += [np.full(len(file.parts), number), at + file.part]
            at = self.bounds[-1].behind
        self.holder = np.concatenate(holder)
        """Of each item the one that it needs; of a file itself."""
        self.count = at
        self._is_part = np.zeros(at, np.bool_)
        for bounds in self.bounds:
            self._is_part[bounds.parts : bounds.rows] = True
        self.is_row = ~self._is_part
        self.is_row[: len(self.files)] = False
        self._had_rows = np.bincount(self.holder[self.is_row], minlength=at) > 0

    def whole(self, kept: Flags) -> Flags:
        """The same without what needs an item that is left out, and parts that lost all rows."""
        found = kept.copy()
        for some in (self._is_part, self.is_row):
            found[some] &= found[self.holder[some]]
        counts = np.bincount(self.holder[self.is_row & found], minlength=self.count)
        found[self._had_rows & (counts == 0)] = False
        return found

    @cached_property
    def parts(self) -> Mapping[int, Integers]:
        """The items that are parts, each with its rows."""
        found: dict[int, Integers] = {}
        for (first, rows, _), file in zip(self.bounds, self.files, strict=True):
            if not file.parts:
                continue
            order = np.argsort(file.part, kind="stable")
            cuts = np.searchsorted(file.part[order], np.arange(1, len(file.parts)))
            found |= dict(zip(range(first, rows), np.split(rows + order, cuts), strict=True))
        return found

    @cached_property
    def describing(self) -> Integers:
        """The rows that are likely to describe others, of all files."""
        pairs = zip(self.files, self.bounds, strict=True)
        return np.concatenate([bounds.rows + file.describing for file, bounds in pairs])

    @cached_property
    def metadata(self) -> Integers:
        """The rows that say what others mean, of all files."""
        pairs = zip(self.files, self.bounds, strict=True)
        return np.concatenate([bounds.rows + file.metadata for file, bounds in pairs])

    def counted(self, kept: Flags) -> Iterator[tuple[Path, dict[str, int]]]:
        """The files that are kept, with the number of rows of each part that has some."""
        for number in np.flatnonzero(kept[: len(self.files)]).tolist():
            file, (parts, _, _) = self.files[number], self.bounds[number]
            counts = {
                name: int(kept[self.parts[parts + place]].sum())
                for place, name in enumerate(file.parts)
            }
            yield self.name(file), {name: count for name, count in counts.items() if count}

    def name(self, file: Reducible) -> Path:
        """A file below the profile; the profile's own name where it is one."""
        if file.path == self.profile:
            return Path()
        return file.path.relative_to(self.profile)

    def write(self, copy: Path, kept: Flags) -> None:
        """A copy of the profile with some items. Raises ``OSError``, ``apsw.Error``."""
        for number in np.flatnonzero(kept[: len(self.files)]).tolist():
            file, (parts, rows, behind) = self.files[number], self.bounds[number]
            target = copy / self.name(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.write(target, kept[parts:rows], kept[rows:behind])

    def keep(self, copy: Path, kept: Flags) -> None:
        """Write further copies of this one, as long as it has all that they have."""
        for number, (file, bounds) in enumerate(zip(self.files, self.bounds, strict=True)):
            parts, rows, behind = bounds
            written = copy / self.name(file) if kept[number] else None
            file.keep(written, kept[parts:rows], kept[rows:behind])

    def rows_at(self, copy: Path, kept: Flags, seeds: Iterable[Seed]) -> Integers:
        """The rows that findings on a copy with some items point at."""
        numbers = {self.name(file): number for number, file in enumerate(self.files)}
        found = set()
        for name, part, place in seeds:
            number = numbers.get(name)
            if number is None or place is None:
                continue
            _, first, behind = self.bounds[number]
            row = self.files[number].row_at(copy / name, kept[first:behind], part, place)
            if row is not None:
                found.add(first + row)
        return np.array(sorted(found), np.int64)

    def with_part(self, kept: Flags, part: int, rows: Integers) -> Flags:
        """Items with a further part and rows of it, if it has any."""
        found = kept.copy()
        found[part] = found[self.holder[part]] = True
        return self.with_rows(found, rows)

    def with_rows(self, kept: Flags, rows: Integers) -> Flags:
        """Items with further rows, what these need, and the rows that they refer to."""
        found = kept.copy()
        parts = self.holder[rows]
        found[rows] = found[parts] = found[self.holder[parts]] = True
        return self.whole(found | self.needed_by(np.flatnonzero(found & self.is_row)))

    def needed_by(self, rows: Integers) -> Flags:
        """The rows that some refer to, and the rows that those refer to, with what these need."""
        found = np.zeros(self.count, np.bool_)
        while len(rows):
            needed = np.concatenate(
                [
                    np.array(
                        [first + row for row in file.needed_by(rows[is_here] - first)], np.int64
                    )
                    for file, (_, first, behind) in zip(self.files, self.bounds, strict=True)
                    if (is_here := (rows >= first) & (rows < behind)).any()
                ]
            )
            rows = np.unique(needed[~found[needed]])
            found[rows] = found[self.holder[rows]] = True
        return found

    def components(self, kept: Flags) -> list[Integers]:
        """The rows that are kept, those that ties hold together in one array, by time."""
        rows = np.flatnonzero(kept & self.is_row)
        leader = np.arange(self.count)

        def find(item: int) -> int:
            while leader[item] != item:
                leader[item] = item = leader[leader[item]]
            return item

        for tied in self.tied(kept):
            for other in tied[1:]:
                one, another = find(tied[0]), find(other)
                leader[max(one, another)] = min(one, another)
        leaders = np.array([find(row) for row in rows.tolist()], np.int64)
        times = np.full(self.count, NEVER)
        np.minimum.at(times, leaders, self.times[rows])
        order = np.lexsort((leaders, times[leaders]))
        cuts = np.flatnonzero(np.diff(leaders[order])) + 1
        return np.split(rows[order], cuts) if len(rows) else []

    def tied(self, kept: Flags) -> Iterator[list[int]]:
        """Rows that are kept and have a value of a kind in common."""
        for rows, values in self._ties:
            some = kept[rows]
            cuts = np.flatnonzero(np.diff(values[some])) + 1
            for tied in np.split(rows[some], cuts):
                if 1 < len(tied) <= MOST_TIED:
                    yield tied.tolist()

    def tied_to(self, rows: Integers) -> Integers:
        """Some rows, and all that have a value of a kind, or a later time, in common with
        one of them.
        """
        found = [rows]
        is_asked = np.zeros(self.count, np.bool_)
        is_asked[rows] = True
        for every, values in self._every_tie:
            shown = np.unique(values[is_asked[every]])
            first, behind = (np.searchsorted(values, shown, side) for side in ("left", "right"))
            few = behind - first <= MOST_TIED
            pairs = zip(first[few].tolist(), behind[few].tolist(), strict=True)
            found += [every[begin:end] for begin, end in pairs]
        return np.unique(np.concatenate(found))

    @cached_property
    def _ties(self) -> list[tuple[Integers, Integers]]:
        return self._shown(lambda file: file.ties)

    @cached_property
    def _every_tie(self) -> list[tuple[Integers, Integers]]:
        return self._shown(lambda file: (*file.ties, *file.later_times))

    def _shown(self, ties: Callable[[Reducible], Iterable[Tie]]) -> list[tuple[Integers, Integers]]:
        """For each kind of ties the rows that show a value, and the values, in their order."""
        found: dict[str, list[tuple[Integers, Integers]]] = {}
        for file, bounds in zip(self.files, self.bounds, strict=True):
            for kind, rows, values in ties(file):
                found.setdefault(kind, []).append((bounds.rows + rows, values))
        every = []
        for shown in found.values():
            rows, values = map(np.concatenate, zip(*shown, strict=True))
            order = np.argsort(values, kind="stable")
            every.append((rows[order], values[order]))
        return every

    @cached_property
    def times(self) -> Integers:
        """Of each row its time in ns, or :data:`.NEVER`."""
        found = np.full(self.count, NEVER)
        for file, bounds in zip(self.files, self.bounds, strict=True):
            found[bounds.rows : bounds.behind] = file.times
        return found


def _known_files(profile: Path) -> dict[Path, Reducible]:
    """The files of a profile whose rows can be left out one by one."""
    found: dict[Path, Reducible] = {}
    for candidate in candidates_in(profile):
        if candidate.medium == "db":
            try:
                found[candidate.path] = Database(candidate.path)
            except (apsw.Error, UnreadableDatabase):
                continue  # is kept or left out as a whole
        elif isinstance(candidate.details, Output):
            for text in candidate.details.deliverables:
                if (file := _text_file(text)) is not None:
                    found[text.path] = file
    return found


def _text_file(text: Deliverable) -> Reducible | None:
    if text.kind == "csv":
        return Sheet(text.path, text.name)
    return timeline_of(text.path) if text.kind == "timeline" else None
