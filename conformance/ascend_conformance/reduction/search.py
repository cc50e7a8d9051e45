"""The fewest items of a profile that show what is looked for, and nothing else.

What is left out at once becomes smaller: files, tables and lanes, what belongs together in a span
of time, rows. Copies are judged by the rule alone, small ones by all rules. What else is seen in
the smallest one is forbidden from then on, and the search goes back to the last copy that does not
show it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

from ..engine.fewest import fewest_of
from .items import Items
from .reducible import NEVER, Flags, Integers
from .sought import Sought, Verdict, rules_of

FEW_ROWS = 1_000
"""Rows of a guess that is judged by all rules."""

FEW = 64
"""Groups that are all tried one by one."""

MOST_FAILED = 64
"""Copies that show nothing, one after the other, after which more groups than few stay."""

NEAR = 3
"""Rows before and behind a seed in its part that are guessed to be enough."""

WIDER = (4, 32, 256, 2048)
"""Groups before and behind a seed that are guessed to be enough."""

Advance = Callable[[int, int, str], None]
"""Is called with the rows that are left out, all rows, and words on what was done."""


def _print_of(kept: Flags) -> bytes:
    return sha256(np.packbits(kept).tobytes()).digest()


class _GivenUp(Exception):
    pass


class _Attempt(NamedTuple):
    """Items that show what is looked for, and what else that is forbidden."""

    items: Flags
    unwanted: Mapping[str, str]


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
        self._judged: dict[bytes, Verdict | None] = {}
        self._trail: list[Flags] = []
        """What was shown to hold, each smaller than the one before."""
        self._base: Path | None = None
        self._asked: Set[str] = frozenset()
        self._broken: Set[str] = frozenset()
        """Rules that the profile was asked for, and those of them that it breaks."""
        self._seeds: Integers = np.empty(0, np.int64)
        self._seeded: Integers = np.empty(0, np.int64)

    def smallest(self) -> Flags | None:
        """The items that are left; ``None`` where all of them together do not show it."""
        if self._verdict(self._every) is None:
            return None
        try:
            return self._searched()
        except _NoChecksLeft:
            self.is_stopped = True
            return self._trail[-1] if self._trail else self._every

    def others_in(self, kept: Flags) -> Set[str]:
        """The further rules that a copy breaks, those of which the profile does so among them."""
        return rules_of(self._verdict_of_all(kept).others)

    def _searched(self) -> Flags:
        self._find_seeds()
        found = self._reduced(self._start())
        while others := self._unwanted(self._verdict_of_all(found)):
            self._forbid(others)
            repaired = self._repaired(_Attempt(found, others))
            found = self._reduced(self._gone_back() if repaired is None else repaired)
        return found

    def _unwanted(self, verdict: Verdict) -> Mapping[str, str]:
        """What is not tolerated of what else a copy shows."""
        return {
            name: words
            for name, words in verdict.others.items()
            if rules_of((name,)).isdisjoint(self.sought.tolerated)
        }

    def unwanted_in(self, kept: Flags) -> Set[str] | None:
        """What a copy with some items shows that is forbidden.

        ``None`` where it does not show what is looked for.
        """
        found = self._verdict(kept)
        return None if found is None else frozenset(self._unwanted(found))

    def _verdict(self, kept: Flags) -> Verdict | None:
        kept = self.items.whole(kept)
        key = _print_of(kept)
        if key not in self._judged:
            if self.max_checks is not None and self.checks >= self.max_checks:
                raise _NoChecksLeft
            found = self._judged[key] = self._judge(kept)
            if found is not None and not self._unwanted(found):
                self._trail.append(kept)
        return self._judged[key]

    def _verdict_of_all(self, kept: Flags) -> Verdict:
        """What all rules find in a copy that shows what is looked for."""
        kept = self.items.whole(kept)
        key = _print_of(kept)
        found = self._judged.get(key)
        if found is None or not found.is_all:
            found = self._judged[key] = self._judge_by_all(kept)
        return found

    def holds(self, kept: Flags) -> bool:
        """Whether a copy with some items shows what is looked for, and nothing forbidden."""
        return self.unwanted_in(kept) == frozenset()

    def _forbid(self, others: Iterable[str]) -> None:
        """Copies that were not judged by these rules are judged anew."""
        self.sought.forbid(rules_of(others))
        self._judged = {
            key: one
            for key, one in self._judged.items()
            if one is None or one.is_all or self._unwanted(one)
        }

    def _judge(self, kept: Flags) -> Verdict | None:
        self.checks += 1
        copy = self._new_copy()
        try:
            self.items.write(copy, kept)
        except apsw.Error:
            return None  # SQLite does not take these rows out
        found = self.sought.verdict(copy)
        is_held = found is not None and not self._unwanted(found)
        if is_held and self.sought.only_reads:
            self._drop(self._base)
            self._base = copy
            self.items.keep(copy, kept)
        else:
            self._drop(copy)
        if self._advance:
            rows = self.items.is_row
            smallest = kept if is_held or not self._trail else self._trail[-1]
            left, every = int(smallest[rows].sum()), int(rows.sum())
            self._advance(every - left, every, f"{left:,} rows, {self.checks:,} checks")
        return found

    def _new_copy(self, name: str | None = None) -> Path:
        folder = self._work / (name or str(self.checks))
        folder.mkdir()
        return folder / self.items.called

    def _drop(self, copy: Path | None) -> None:
        if copy is not None:
            shutil.rmtree(copy.parent)

    def _find_seeds(self) -> None:
        """The rows that the findings on the whole profile point at, and their files."""
        files = {self.items.name(file): number for number, file in enumerate(self.items.files)}
        rows, seeded = set(), set()
        for name, part, place in self.sought.seeds():
            number = files.get(name)
            if number is None:
                continue
            seeded.add(number)
            row = None if place is None else self.items.files[number].row_at(part, place)
            if row is not None:
                rows.add(self.items.bounds[number].rows + row)
        self._seeds = np.array(sorted(rows), np.int64)
        self._seeded = np.array(sorted(seeded), np.int64)

    def _judge_by_all(self, kept: Flags) -> Verdict:
        copy = self._new_copy("whole")
        self.items.write(copy, kept)
        self.checks += 1
        found = self.sought.verdict_of_all(copy)
        self._drop(copy)
        return found

    def _start(self) -> Flags:
        """A likely guess with all that it needs in order to show nothing else, or everything."""
        tried: list[_Attempt] = []
        for guess in self._guesses():
            found = self.items.whole(guess)
            verdict = self._verdict(found)
            if verdict is None:
                continue
            others = self._unwanted(verdict)
            if not others and self._rows_of(found) <= FEW_ROWS:
                others = self._unwanted(self._verdict_of_all(found))
                self._forbid(others)
            attempt = self._with_less(_Attempt(found, others))
            if not attempt.unwanted:
                return attempt.items
            tried.append(attempt)
        tried.sort(key=lambda one: (len(one.unwanted), self._rows_of(one.items)))
        tolerable = next(filter(self._is_tolerable, tried), None)
        if tolerable is not None:
            return tolerable.items
        for attempt in [*self._cores(tried), *tried]:
            more = self._with_more(attempt)
            if self._is_tolerable(more):
                return more.items
        for guess in self._wider_guesses():
            found = self.items.whole(guess)
            verdict = self._verdict(found)
            if verdict and self._is_tolerable(_Attempt(found, self._unwanted(verdict))):
                return found
        return self._all()

    def _cores(self, tried: Iterable[_Attempt]) -> Iterator[_Attempt]:
        """The least of the smallest attempt that shows what is looked for, whatever else it shows:
        few rows show little else.
        """
        smallest = min((one.items for one in tried), key=self._rows_of, default=None)
        if smallest is None or self._rows_of(smallest) > FEW_ROWS:
            return
        rows = np.flatnonzero(smallest & self.items.is_row).reshape(-1, 1)
        found = self._fewest(smallest, rows, lambda kept: self._verdict(kept) is not None)
        others = self._unwanted(self._verdict_of_all(found))
        self._forbid(others)
        yield self._with_less(_Attempt(found, others))

    def _rows_of(self, kept: Flags) -> int:
        return int(kept[self.items.is_row].sum())

    def _all(self) -> Flags:
        """Everything; what it shows that is forbidden is tolerated."""
        self.sought.tolerate(rules_of(self.unwanted_in(self._every) or ()))
        self._trail.append(self._every)
        return self._every

    def _is_tolerable(self, attempt: _Attempt) -> bool:
        """Whether the profile itself breaks all rules that a copy breaks: then they may be."""
        rules = rules_of(attempt.unwanted)
        if not rules <= self._broken_in_profile(rules):
            return False
        self.sought.tolerate(rules)
        self._trail.append(attempt.items)
        return True

    def _broken_in_profile(self, rules: Set[str]) -> Set[str]:
        """The rules that are forbidden and that the whole profile breaks."""
        if not rules <= self._asked:
            self._asked |= rules
            self.sought.forbid(rules)
            copy = self._new_copy("whole")
            self.items.write(copy, self._every)
            self.checks += 1
            self._broken = self.sought.broken_in(copy)
            self._drop(copy)
        return self._broken

    def _repaired(self, attempt: _Attempt) -> Flags | None:
        """Items changed so that nothing forbidden is shown; ``None`` where no way is found."""
        found = self._with_more(self._with_less(attempt))
        return None if found.unwanted else found.items

    def _with_less(self, attempt: _Attempt) -> _Attempt:
        """The same without parts of which more is shown; first those that findings name."""
        parts = [part for part in self.items.parts if attempt.items[part]]
        return self._changed(attempt, self._ordered(parts, attempt.unwanted))

    def _with_more(self, attempt: _Attempt) -> _Attempt:
        """The same with what its rows refer to, and with parts of which nothing was left: the
        fewest rows of each that belong together; first those that findings name.
        """
        if not attempt.unwanted:
            return attempt
        rows = np.flatnonzero(attempt.items & self.items.is_row)
        found = self._better(attempt, self.items.with_rows(attempt.items, rows))
        parts = [part for part in self._fewest_with if not found.items[part]]
        return self._changed(found, self._ordered(parts, found.unwanted))

    def _ordered(self, parts: Iterable[int], others: Mapping[str, str]) -> list[int]:
        words = " ".join(others.values())
        return sorted(parts, key=lambda part: (self._names[part] not in words, part))

    def _changed(self, attempt: _Attempt, parts: Iterable[int]) -> _Attempt:
        """Items with or without each of some parts, where less that is forbidden is shown so."""
        for part in parts:
            if not attempt.unwanted:
                break
            tried = attempt.items.copy()
            tried[part] = False
            if not attempt.items[part]:
                tried = self.items.with_rows(attempt.items, self._fewest_with[part])
            attempt = self._better(attempt, tried)
        return attempt

    def _better(self, attempt: _Attempt, other: Flags) -> _Attempt:
        """Other items where they show less that is forbidden, else the same ones."""
        verdict = self._verdict(other)
        if verdict is None:
            return attempt
        unwanted = self._unwanted(verdict)
        is_less = unwanted.keys() < attempt.unwanted.keys()
        return _Attempt(self.items.whole(other), unwanted) if is_less else attempt

    @cached_property
    def _names(self) -> Mapping[int, str]:
        names: dict[int, str] = {}
        for file, bounds in zip(self.items.files, self.items.bounds, strict=True):
            names |= dict(zip(range(bounds.parts, bounds.rows), file.parts, strict=True))
        return names

    @cached_property
    def _fewest_with(self) -> Mapping[int, Integers]:
        """For each part that has rows the fewest that belong together and of which one is in it,
        of those that have a time if there are any.
        """
        found: dict[int, Integers] = {}
        times = self.items.times
        for one in sorted(self._components, key=lambda one: (times[one].min() == NEVER, len(one))):
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

    def _reduced(self, found: Flags) -> Flags:
        """The least that holds of something that does."""
        while True:
            before = int(found.sum())
            for groups in self._levels():
                found = self._fewest(found, groups(found))
            if int(found.sum()) == before:
                return found

    def _fewest(
        self,
        kept: Flags,
        groups: Iterable[Integers],
        is_enough: Callable[[Flags], bool] | None = None,
    ) -> Flags:
        """Items without the groups that are not needed; by default in order to hold."""
        is_enough = is_enough or self.holds
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

        if is_enough(without):
            return self.items.whole(without)
        found, failed = tuple(range(len(some))), 0

        def holds(numbers: tuple[int, ...]) -> bool:
            nonlocal found, failed
            if is_enough(with_these(numbers)):
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
        files and of all, with the rows that describe all others.
        """
        every = np.arange(len(self.items.files))
        for files in (self._seeded, every) if 0 < len(self._seeded) < len(every) else (every,):
            if len(self._seeds):
                yield self._guess(files, self._seeds, is_described=False)
                yield self._guess(files, self._near(), is_described=False)
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

    def _near(self) -> Integers:
        """The seeds, and the rows of their parts next to them in time, as what they overlap is."""
        found = [self._seeds]
        for part in np.unique(self.items.holder[self._seeds]).tolist():
            rows = self.items.parts[part]
            rows = rows[np.argsort(self.items.times[rows], kind="stable")]
            places = np.flatnonzero(np.isin(rows, self._seeds))
            found += [rows[max(one - NEAR, 0) : one + NEAR + 1] for one in places.tolist()]
        return np.unique(np.concatenate(found))

    def _around(self, width: int) -> Integers:
        """The seeds, all that ties hold together with them, and what comes before and behind."""
        seeds = set(self._seeds.tolist())
        found = [self._seeds]
        for place, one in enumerate(self._components):
            if not seeds.isdisjoint(one.tolist()):
                found += self._components[max(place - width, 0) : place + width + 1]
        return np.concatenate(found)

    def _guess(self, files: Integers, rows: Integers, *, is_described: bool = True) -> Flags:
        found = self._with_files(files)
        is_there = found.copy()
        found[self.items.is_row] = False
        if is_described:
            described = self.items.describing
            found[described] = is_there[described]
        return self.items.with_rows(found, rows)

    def _with_files(self, files: Integers) -> Flags:
        found = self._every.copy()
        found[: len(self.items.files)] = False
        found[files] = True
        return self.items.whole(found)
