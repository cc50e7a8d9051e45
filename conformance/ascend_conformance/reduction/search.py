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
from hashlib import sha256
from pathlib import Path

import apsw
import numpy as np

from ..engine.fewest import fewest_of
from .guesses import Guesses
from .items import Items
from .reducible import NEVER, Flags, Integers
from .repairs import Attempt, Repairs
from .sought import Sought, Verdict, rules_of
from .surroundings import Surroundings

FEW_ROWS = 1_000
"""Rows of a guess that is judged by all rules."""

FEW = 64
"""Groups that are all tried one by one."""

MOST_FAILED = 64
"""Copies that show nothing, one after the other, after which more groups than few stay."""

FEW_LEFT = 10
"""Rows that are left, above which the search begins again with the least that shows it."""

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
        self._judged: dict[bytes, Verdict | None] = {}
        self._trail: list[Flags] = []
        """What was shown to hold, each smaller than the one before."""
        self._base: Path | None = None
        self._asked: Set[str] = frozenset()
        self._broken: Set[str] = frozenset()
        """Rules that the profile was asked for, and those of them that it breaks."""
        self._pointed: dict[bytes, Integers] = {}
        """By copy the rows that findings on what is not looked for point at."""
        self._is_repaired = False
        """Whether the search began with the least that shows it, whatever else that shows."""
        self._surroundings = Surroundings(items)
        self._repairs = Repairs(
            items, self._surroundings, self._attempt, self._attempt_of_all, self._broken_in_profile
        )

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
        found = self._settled(self._start())
        if self._rows_of(found) <= FEW_LEFT or self._is_repaired:
            return found
        try:
            return self._again(found)
        except _NoChecksLeft:
            self.is_stopped = True
            return found

    def _settled(self, start: Flags) -> Flags:
        """The least of some items that shows what is looked for, and nothing else that is
        forbidden, by all rules.
        """
        self._trail = [start]
        found = self._reduced(start)
        while others := self._unwanted(self._verdict_of_all(found)):
            self._forbid(others)
            repaired = self._repaired([self._attempt_of_all(found)])
            if repaired is None:
                found = self._reduced(self._gone_back())
            else:
                self._trail = [repaired]
                found = self._reduced(repaired)
        return found

    def _again(self, found: Flags) -> Flags:
        """Fewer rows than were found, by way of the fewest that show what is looked for, whatever
        else they show.
        """
        core = self._core(found)
        clean = self._repairs.cleanest([core], self._rows_of(found))
        if clean is None or clean.unwanted:
            return found
        return min(found, self._settled(clean.items), key=self._rows_of)

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

    def _attempt(self, kept: Flags) -> Attempt | None:
        found = self._verdict(kept)
        return None if found is None else self._as_attempt(kept, found)

    def _attempt_of_all(self, kept: Flags) -> Attempt:
        """What a copy that shows what is looked for shows by all rules; all that is forbidden."""
        found = self._as_attempt(kept, self._verdict_of_all(kept))
        self._forbid(found.unwanted)
        return found

    def _as_attempt(self, kept: Flags, found: Verdict) -> Attempt:
        kept = self.items.whole(kept)
        pointed = self._pointed.get(_print_of(kept), np.empty(0, np.int64))
        return Attempt(kept, self._unwanted(found), pointed)

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
        self._point(copy, kept, found)
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

    def _point(self, copy: Path, kept: Flags, found: Verdict | None) -> None:
        if found is not None and found.seeds and self._rows_of(kept) <= FEW_ROWS:
            self._pointed[_print_of(kept)] = self.items.rows_at(copy, kept, found.seeds)

    def _guesses(self) -> Guesses:
        """By the rows that the findings on the whole profile point at, and their files."""
        seeds = self.sought.seeds()
        rows = self.items.rows_at(self.items.profile, self._every, seeds)
        names = {one.file for one in seeds}
        files = [
            place for place, one in enumerate(self.items.files) if self.items.name(one) in names
        ]
        return Guesses(self.items, self._surroundings, rows, np.array(files, np.int64))

    def _judge_by_all(self, kept: Flags) -> Verdict:
        copy = self._new_copy("whole")
        self.items.write(copy, kept)
        self.checks += 1
        found = self.sought.verdict_of_all(copy)
        self._point(copy, kept, found)
        self._drop(copy)
        return found

    def _start(self) -> Flags:
        """A likely guess with all that it needs in order to show nothing else, or everything."""
        guesses, tried = self._guesses(), []
        for guess in guesses.small():
            attempt = self._attempt(guess)
            if attempt is None:
                continue
            if not attempt.unwanted and self._rows_of(attempt.items) <= FEW_ROWS:
                attempt = self._attempt_of_all(attempt.items)
            if not attempt.unwanted:
                return attempt.items
            tried.append(attempt)
        if (repaired := self._repaired(tried)) is not None:
            return repaired
        for guess in guesses.wider():
            attempt = self._attempt(guess)
            if attempt is None:
                continue
            if not tried and (repaired := self._repaired([attempt])) is not None:
                return repaired
            tried.append(attempt)
            if self._is_taken(attempt):
                return attempt.items
        every = Attempt(self._every, {}, np.empty(0, np.int64))
        repaired = None if tried else self._repaired([every])
        return self._all() if repaired is None else repaired

    def _repaired(self, tried: Sequence[Attempt]) -> Flags | None:
        """What some attempts, and the core of the smallest, become when what they need is added."""
        if not tried:
            return None
        smallest = min((one.items for one in tried), key=self._rows_of)
        few = [one for one in tried if self._rows_of(one.items) <= FEW_ROWS]
        found = self._repairs.cleanest([*few, self._core(smallest)])
        if found is None:
            return None
        taken = found if self._is_taken(found) else None
        taken = taken or next(filter(self._is_taken, self._repairs.filled(found)), None)
        if taken is None:
            return None
        self._is_repaired = True
        return taken.items

    def _core(self, kept: Flags) -> Attempt:
        """The least of some items that shows what is looked for, whatever else it shows: few rows
        show little else.
        """
        every, _, *finer = self._levels()
        parts = [rows for rows in self.items.parts.values() if len(rows)]
        for groups in (every, lambda _: parts, *finer):
            kept = self._fewest(kept, groups(kept), lambda one: self._verdict(one) is not None)
        return self._attempt_of_all(kept)

    def _rows_of(self, kept: Flags) -> int:
        return int(kept[self.items.is_row].sum())

    def _all(self) -> Flags:
        """Everything; what it shows that is forbidden is tolerated."""
        self.sought.tolerate(rules_of(self.unwanted_in(self._every) or ()))
        self._trail.append(self._every)
        return self._every

    def _is_taken(self, attempt: Attempt) -> bool:
        """Whether the profile itself breaks all rules that a copy breaks: then they may be."""
        rules = rules_of(attempt.unwanted)
        if not rules <= self._broken_in_profile(rules):
            return False
        self.sought.tolerate(rules)
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
        while self._rows_of(found) > FEW:
            before = int(found.sum())
            for groups in self._levels():
                if self._rows_of(found) > FEW:
                    found = self._fewest(found, groups(found))
            if int(found.sum()) == before:
                return found
        return self._singly(found)

    def _singly(self, found: Flags) -> Flags:
        """The least that holds of few items: most of them are needed, and each is left out alone
        until none can be. The last rows go first, and what others refer to behind these; then what
        has one value in common, as both ends of an arrow.
        """
        files, parts, tied, rows = (level(found) for level in self._levels())
        needed = self.items.needed_by(np.flatnonzero(found & self.items.is_row))
        single = sorted(rows, key=lambda one: (needed[one[0]], -one[0]))
        groups = [*files, *tied, *single, *parts, *map(np.array, self.items.tied(found))]
        failed = 0
        while failed < len(groups):
            group, *others = groups
            without = found.copy()
            without[group] = False
            if found[group].any() and self.holds(without):
                found, groups, failed = self.items.whole(without), others, 0
            else:
                groups = [*others, group]
                failed += 1
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
        """How what is kept is taken apart, in the order of what saves most.

        What has no time is left to the last: rows of all times may refer to it.
        """
        yield lambda _: np.arange(len(self.items.files)).reshape(-1, 1)
        yield lambda _: [np.array([part]) for part in self.items.parts]
        yield self._of_times
        yield lambda kept: np.flatnonzero(kept & self.items.is_row).reshape(-1, 1)

    def _of_times(self, kept: Flags) -> Iterable[Integers]:
        times = self.items.times
        return [one for one in self.items.components(kept) if times[one].min() < NEVER]
