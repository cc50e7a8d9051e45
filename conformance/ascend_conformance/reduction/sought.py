"""What a smaller profile still has to show: findings of a rule, or what a command sees."""

from __future__ import annotations

import shlex
import subprocess
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ascend_ref.db.display import show_path

from ..check import check_candidates
from ..discover import NothingToCheck, candidates_in
from ..engine.candidate import Candidate
from ..finding import Finding, Report
from ..options import Options
from ..ruleset import Rule, Selection
from .reducible import Seed

FAST = {"db": 1 << 20, "text": 1 << 18}
"""Bytes of small files that are judged by all rules at once, by medium."""

FEW_FILES = 1
"""Text files that are: each further one takes as long as many rules."""


class Verdict(NamedTuple):
    """What a copy shows besides what is looked for, each with the words of its finding.

    ``is_all``: it was judged by all rules; else by some, and may show more. ``seeds``: where the
    findings on what else it shows point.
    """

    others: Mapping[str, str]
    is_all: bool
    seeds: Sequence[Seed] = ()


class Sought(ABC):
    """What is looked for in copies of a profile.

    ``only_reads``: a copy is afterwards as it was. ``missed``: words on a profile that does not
    show it. ``tolerated``: rules that copies may break as well, since the profile does.
    """

    only_reads = True
    missed: str
    tolerated: Set[str] = frozenset()

    @abstractmethod
    def verdict(self, copy: Path) -> Verdict | None:
        """What else a copy shows; ``None`` where it does not show what is looked for.

        The first copy is the whole profile.
        """

    def verdict_of_all(self, copy: Path) -> Verdict:
        """All else that a copy shows, whatever it takes."""
        return Verdict({}, is_all=True)

    def seeds(self) -> Sequence[Seed]:
        """Where the profile shows it."""
        return ()

    def forbid(self, rules: Set[str]) -> None:
        """Look for these in copies as well. What names no others has none to forbid."""
        if rules:
            raise ValueError(f"{', '.join(sorted(rules))} cannot be looked for")

    @abstractmethod
    def tolerate(self, rules: Set[str]) -> None:
        """Look for these no longer."""

    def broken_in(self, copy: Path) -> Set[str]:
        """Which of those that are forbidden a copy breaks."""
        return frozenset()


class ByRule(Sought):
    """Findings of a rule, at places where the profile has some, or at the place that is given."""

    def __init__(self, rule: Rule[Any], at: str | None, options: Options | None = None) -> None:
        self.rule, self.at = rule, at
        place = f" at {at}" if at else ""
        self.missed = f"{rule.id} finds nothing{place}; expected a profile that shows it"
        self._options = options or Options()
        self._places: frozenset[str] | None = None
        self._seeds: Sequence[Seed] = ()
        self._forbidden: Set[str] = frozenset()

    def verdict(self, copy: Path) -> Verdict | None:
        """Judge the copy by the rule and by those that are forbidden; a small one by all."""
        candidates = _candidates(copy)
        report = self._report(candidates, (self.rule.id, *sorted(self._forbidden)))
        own = {one.place for one in report.findings if one.rule == self.rule.id}
        if self._places is None:  # of the profile itself
            self._places = frozenset(own if self.at is None else own & {self.at})
            self._seeds = _seeds(copy, [one for one in report.findings if self._is_sought(one)])
            return Verdict(self._others(report), is_all=False) if self._places else None
        if not own & self._places:
            return None
        found = self._judged(copy, report, is_all=False)
        if found.others or not _is_small(candidates):
            return found
        found = self._judged(copy, self._report(candidates, ()), is_all=True)
        self.forbid(rules_of(found.others) - self.tolerated)  # likely in further copies, too
        return found

    def verdict_of_all(self, copy: Path) -> Verdict:
        """Judge the copy by all rules."""
        return self._judged(copy, self._report(_candidates(copy), ()), is_all=True)

    def _judged(self, copy: Path, report: Report, *, is_all: bool) -> Verdict:
        others = [one for one in report.findings if not self._is_sought(one)]
        return Verdict(self._others(report), is_all, _seeds(copy, others))

    def _is_sought(self, finding: Finding) -> bool:
        return finding.rule == self.rule.id and finding.place in (self._places or ())

    def seeds(self) -> Sequence[Seed]:
        """Where the rule finds something: its first rows, and those that are shown."""
        return self._seeds

    def forbid(self, rules: Set[str]) -> None:
        """Judge copies by these rules as well."""
        self._forbidden |= rules - {self.rule.id}

    def tolerate(self, rules: Set[str]) -> None:
        """Judge copies by these rules no longer."""
        self._forbidden -= rules
        self.tolerated |= rules

    def broken_in(self, copy: Path) -> Set[str]:
        """Judge by the rules that are forbidden."""
        if not self._forbidden:
            return frozenset()
        return rules_of(self._others(self._report(_candidates(copy), (*sorted(self._forbidden),))))

    def _others(self, report: Report) -> Mapping[str, str]:
        """Findings that are not looked for, by rule, place and number."""
        found: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for one in report.findings:
            if not self._is_sought(one):
                named = f"{one.rule}@{one.place}"
                found[f"{named} {counts[named]}"] = _words_of(one)
                counts[named] += 1
        return found

    def _report(self, candidates: Sequence[Candidate], rules: tuple[str, ...]) -> Report:
        return check_candidates(candidates, replace(self._options, selection=Selection(rules)))


def _words_of(finding: Finding) -> str:
    shown = [str(value) for example in finding.examples for value in example.values()]
    return " ".join([finding.place, finding.message, finding.expected, *shown])


def rules_of(others: Iterable[str]) -> Set[str]:
    """The rules of what copies show."""
    return {one.partition("@")[0] for one in others}


def _candidates(copy: Path) -> Sequence[Candidate]:
    try:
        return candidates_in(copy)
    except NothingToCheck:
        return ()


def _is_small(candidates: Sequence[Candidate]) -> bool:
    """Whether all rules take hardly longer than one."""
    return (
        all(
            sum(one.size for one in candidates if one.medium == medium) <= FAST.get(medium, -1)
            for medium in {one.medium for one in candidates}
        )
        and sum(len(one.files) for one in candidates if one.medium == "text") <= FEW_FILES
    )


def _seeds(copy: Path, findings: Sequence[Finding]) -> Sequence[Seed]:
    if not findings:
        return ()
    names = {show_path(path): path.relative_to(copy) for path in (copy, *copy.rglob("*"))}
    return [
        Seed(names[one.file], one.table, place)
        for one in findings
        if one.file in names
        for place in _numbers(one)
    ]


def _numbers(finding: Finding) -> Iterator[int | None]:
    first = finding.offset if finding.in_text else finding.first_rowid
    yield first
    for example in finding.examples:
        row = example.get("row", example.get("rowid"))
        if isinstance(row, int) and row != first and not finding.in_text:
            yield row


class ByCommand(Sought):
    """A command that ends with exit code 0 where a copy still shows what is looked for.

    ``{}`` in it stands for the copy, which is its last argument where it has none.
    """

    only_reads = False

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        self.missed = (
            f"{command} does not end with exit code 0; expected a command that does as long as the "
            "profile is worth keeping"
        )
        self._words = words if any("{}" in word for word in words) else [*words, "{}"]

    def tolerate(self, rules: Set[str]) -> None:
        """It names none."""

    def verdict(self, copy: Path) -> Verdict | None:
        """Run the command."""
        words = [word.replace("{}", str(copy)) for word in self._words]
        done = subprocess.run(  # noqa: S603 - without a shell; the user gave the command
            words, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return Verdict({}, is_all=True) if done.returncode == 0 else None
