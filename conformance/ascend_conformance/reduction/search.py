"""The fewest items of a profile that show what is looked for, and nothing else.

What is left out at once becomes smaller: files, tables and lanes, what belongs together in a span
of time, rows. Copies are judged by the rule alone. What else is seen in the smallest one is
forbidden from then on, and the search goes back to the last copy that does not show it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import apsw
import numpy as np

from ..engine.fewest import fewest_of
from .items import Items
from .reducible import Flags, Integers
from .sought import Sought

SMALL = 10
"""Rows of a part that are all guessed to be needed, since they describe the others."""

FEW = 64
"""Groups that are all tried one by one."""

MOST_FAILED = 64
"""Copies that show nothing, one after the other, after which more groups than few stay."""

WIDER = (4, 32, 256, 2048)
"""Groups before and behind a seed that are guessed to be enough."""

Advance = Callable[[int, int, str], None]
"""Is called with the rows that are left out, all rows, and words on what was done."""


def _print_of(kept: Flags) -> bytes:
    return sha256(np.packbits(kept).tobytes()).digest()


class _GivenUp(Exception):
    pass


class _NoChecksLeft(Exception):
    """As many copies were judged as may be."""


class Search:
    """Copies of a profile in a folder, ``work``, each judged once.

    ``max_checks``: how many are judged at most, about; ``None``: all that it takes.
    ``is_stopped``: it was not enough.
    """

    def __init__(
        self,
        items: Items,
        sought: Sought,
        work: Path,
        max_checks: int | None = None,
        advance: Advance | None = None,
    ) -> None:
        self.items, self.sought = items, sought
        self.checks, self.max_checks = 0, max_checks
        self.is_stopped = False
        self._work, self._advance = work, advance
        self._every = np.ones(items.count, np.bool_)
        self._judged: dict[bytes, frozenset[str] | None] = {}
        self._others: dict[bytes, Mapping[str, str]] = {}
        self._trail: list[Flags] = []
        """What was shown to hold, each smaller than the one before."""
        self._base: Path | None = None
        self._seeds: Integers = np.empty(0, np.int64)
        self._seeded: Integers = np.empty(0, np.int64)

    def smallest(self) -> Flags | None:
        """The items that are left; ``None`` where all of them together do not show it."""
        if self.unwanted_in(self._every) is None:
            return None
        try:
            return self._searched()
        except _NoChecksLeft:
            self.is_stopped = True
            return self._trail[-1] if self._trail else self._every

    def others_in(self, kept: Flags) -> frozenset[str]:
        """What else a copy shows, where the search was stopped."""
        return frozenset(self._others_in(kept))

    def _searched(self) -> Flags:
        self._find_seeds()
        found = self._reduced(self._start())
        while others := self._others_in(found):
            self._forbid(others)
            found = self._reduced(self._repaired(found, others) or self._gone_back())
        return found

    def unwanted_in(self, kept: Flags) -> frozenset[str] | None:
        """What a copy with some items shows that is forbidden.

        ``None`` where it does not show what is looked for.
        """
        kept = self.items.whole(kept)
        key = _print_of(kept)
        if key not in self._judged:
            if self.max_checks is not None and self.checks >= self.max_checks:
                raise _NoChecksLeft
            self._judged[key] = self._judge(kept)
            if self._judged[key] == frozenset():
                self._trail.append(kept)
        return self._judged[key]

    def holds(self, kept: Flags) -> bool:
        """Whether a copy with some items shows what is looked for, and nothing forbidden."""
        return self.unwanted_in(kept) == frozenset()

    def _forbid(self, others: Collection[str]) -> None:
        """Nothing that showed too much becomes better by that."""
        self.sought.forbid(others)
        self._judged = {key: found for key, found in self._judged.items() if found != frozenset()}

    def _judge(self, kept: Flags) -> frozenset[str] | None:
        self.checks += 1
        copy = self._new_copy()
        try:
            self.items.write(copy, kept)
        except apsw.Error:
            return None  # SQLite does not take these rows out
        found = self.sought.unwanted_in(copy)
        if found == frozenset() and self.sought.only_reads:
            self._drop(self._base)
            self._base = copy
            self.items.keep(copy, kept)
        else:
            self._drop(copy)
        if self._advance:
            rows = self.items.is_row
            left = int((self._trail[-1] if self._trail else kept)[rows].sum())
            every = int(rows.sum())
            self._advance(every - left, every, f"{left:,} rows, {self.checks:,} checks")
        return found

    def _new_copy(self) -> Path:
        folder = self._work / str(self.checks)
        folder.mkdir()
        return folder / self.items.called

    def _drop(self, copy: Path | None) -> None:
        if copy is not None:
            shutil.rmtree(copy.parent)

    def _find_seeds(self) -> None:
        """The rows that the findings on the whole profile point at, and their files."""
        if self._base is None:
            return
        files = {self.items.name(file): number for number, file in enumerate(self.items.files)}
        rows, seeded = set(), set()
        for name, part, place in self.sought.seeds_in(self._base):
            number = files.get(name)
            if number is None:
                continue
            seeded.add(number)
            row = None if place is None else self.items.files[number].row_at(part, place)
            if row is not None:
                rows.add(self.items.bounds[number].rows + row)
        self._seeds = np.array(sorted(rows), np.int64)
        self._seeded = np.array(sorted(seeded), np.int64)

    def _others_in(self, kept: Flags) -> Mapping[str, str]:
        key = _print_of(kept)
        if key not in self._others:
            self._others[key] = self._judge_whole(kept)
        return self._others[key]

    def _judge_whole(self, kept: Flags) -> Mapping[str, str]:
        copy = self._work / "whole" / self.items.called
        copy.parent.mkdir()
        self.items.write(copy, kept)
        self.checks += 1
        others = self.sought.others_in(copy)
        self._drop(copy)
        return others

    def _start(self) -> Flags:
        """A likely guess with all that it needs in order to show nothing else, or everything."""
        for guess in self._guesses():
            found = self.items.whole(guess)
            if self.unwanted_in(found) is None:
                continue
            others = self._others_in(found)
            self._forbid(others)
            repaired = self._repaired(found, others) if others else found
            if repaired is not None:
                return repaired
        for found in self._wider_guesses():
            if self.holds(found):
                return self.items.whole(found)
        return self._all()

    def _repaired(self, kept: Flags, others: Mapping[str, str]) -> Flags | None:
        """Items changed so that nothing forbidden is shown; ``None`` where no way is found.

        A part of which nothing is left gets back the fewest rows that belong together, another one
        goes; first those that findings name.
        """
        found, unwanted = kept, self.unwanted_in(kept)
        words = " ".join(others.values())
        fewest = self._fewest_with
        parts = sorted(fewest, key=lambda part: (self._names[part] not in words, part))
        for part in parts:
            if not unwanted:
                break
            tried = found.copy()
            tried[part] = False
            if not found[part]:
                tried = self.items.with_rows(found, fewest[part])
            shown = self.unwanted_in(tried)
            if shown is not None and shown < unwanted:
                found, unwanted = tried, shown
        return found if unwanted == frozenset() else None

    @cached_property
    def _names(self) -> Mapping[int, str]:
        names: dict[int, str] = {}
        for file, bounds in zip(self.items.files, self.items.bounds, strict=True):
            names |= dict(zip(range(bounds.parts, bounds.rows), file.parts, strict=True))
        return names

    @cached_property
    def _fewest_with(self) -> Mapping[int, Integers]:
        """For each part that has rows the fewest that belong together and of which one is in it."""
        found: dict[int, Integers] = {}
        for one in sorted(self._components, key=len):
            for part in np.unique(self.items.holder[one]).tolist():
                found.setdefault(part, one)
        return found

    def _gone_back(self) -> Flags:
        """The last of the copies that show nothing forbidden.

        Each copy of the trail has all that later ones have: if it does show something, so do most
        of these. Where there is none, what the profile shows itself is tolerated.
        """
        trail, self._trail = self._trail, []
        first, behind = 0, len(trail)
        while first < behind:
            middle = (first + behind) // 2
            if self.holds(trail[middle]):
                first = middle + 1
            else:
                behind = middle
        self._trail = trail[:first]
        return trail[first - 1] if first else self._all()

    def _all(self) -> Flags:
        """Everything; what it shows that is forbidden is tolerated."""
        if not self.holds(self._every):
            copy = self._new_copy()
            self.items.write(copy, self._every)
            self.sought.tolerate(copy)
            self._drop(copy)
            self._judged.clear()
            self._others.clear()
            self.unwanted_in(self._every)
        return self._every

    def _reduced(self, found: Flags) -> Flags:
        """The least that holds of something that does."""
        while True:
            before = int(found.sum())
            for groups in self._levels():
                found = self._fewest(found, groups(found))
            if int(found.sum()) == before:
                return found

    def _fewest(self, kept: Flags, groups: Iterable[Integers]) -> Flags:
        """Items without the groups that are not needed."""
        some = [one[kept[one]] for one in groups]
        some = [one for one in some if len(one)]
        if not some:
            return kept
        without = kept.copy()
        without[np.concatenate(some)] = False

        def with_these(numbers: Sequence[int]) -> Flags:
            chosen = without.copy()
            for number in numbers:
                chosen[some[number]] = True
            return chosen

        if self.holds(without):
            return self.items.whole(without)
        found, failed = tuple(range(len(some))), 0

        def holds(numbers: tuple[int, ...]) -> bool:
            nonlocal found, failed
            if self.holds(with_these(numbers)):
                found, failed = numbers, 0
                return True
            failed += 1
            if failed > MOST_FAILED and len(found) > FEW:
                raise _GivenUp
            return False

        with suppress(_GivenUp):
            found = fewest_of(found, holds)
        return self.items.whole(with_these(found))

    def _levels(self) -> Iterator[Callable[[Flags], Iterable[Integers]]]:
        """How what is kept is taken apart, in the order of what saves most."""
        yield lambda _: np.arange(len(self.items.files)).reshape(-1, 1)
        yield lambda _: [np.array([part]) for part in self.items.parts]
        yield self.items.components
        yield lambda kept: np.flatnonzero(kept & self.items.is_row).reshape(-1, 1)

    def _guesses(self) -> Iterator[Flags]:
        """What is likely to be enough: rows of the findings and what these refer to, of their
        files and of all, with the parts that describe all rows.
        """
        every = np.arange(len(self.items.files))
        for files in (self._seeded, every) if 0 < len(self._seeded) < len(every) else (every,):
            if len(self._seeds):
                yield self._guess(files, self._seeds)
                yield self._guess(files, self._around(0))
            if len(files) < len(every):
                yield self._with_files(files)

    def _wider_guesses(self) -> Iterator[Flags]:
        for width in WIDER if len(self._seeds) else ():
            yield self._guess(np.arange(len(self.items.files)), self._around(width))

    @cached_property
    def _components(self) -> list[Integers]:
        return self.items.components(self._every)

    def _around(self, width: int) -> Integers:
        """The seeds, all that ties hold together with them, and what comes before and behind."""
        seeds = set(self._seeds.tolist())
        found = [self._seeds]
        for place, one in enumerate(self._components):
            if not seeds.isdisjoint(one.tolist()):
                found += self._components[max(place - width, 0) : place + width + 1]
        return np.concatenate(found)

    def _guess(self, files: Integers, rows: Integers) -> Flags:
        found = self._with_files(files)
        found[self.items.is_row] = False
        for held in self.items.parts.values():
            if len(held) <= SMALL:
                found[held] = True
        return self.items.with_rows(found, rows)

    def _with_files(self, files: Integers) -> Flags:
        found = self._every.copy()
        found[: len(self.items.files)] = False
        found[files] = True
        return self.items.whole(found)
