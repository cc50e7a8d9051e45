"""What a smaller profile still has to show: findings of a rule, or what a command sees."""

from __future__ import annotations

import shlex
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ascend_ref.db.display import show_path

from ..check import check_candidates
from ..discover import NothingToCheck, candidates_in
from ..finding import Finding, Report
from ..options import Options
from ..ruleset import Rule, Selection

FAST = 1 << 20
"""Bytes of databases that are judged by all rules at once."""


class Seed(NamedTuple):
    """Where a finding points: a file of the profile, a table of it, and a rowid or byte."""

    file: Path
    part: str | None
    place: int | None


class Sought(ABC):
    """What is looked for in copies of a profile.

    ``only_reads``: a copy is afterwards as it was. ``missed``: words on a profile that does not
    show it. ``tolerated``: what else copies may show, since the profile does.
    """

    only_reads = True
    missed: str
    tolerated: set[str]

    @abstractmethod
    def unwanted_in(self, copy: Path) -> frozenset[str] | None:
        """What a copy shows that is forbidden; ``None`` where it does not show what is looked for.

        What else it shows is part of it where that is found out as fast.
        """

    def seeds_in(self, copy: Path) -> Sequence[Seed]:
        """Where a copy shows it."""
        return ()

    def others_in(self, copy: Path) -> Mapping[str, str]:
        """All else that a copy shows, with the words of the findings."""
        return {}

    def forbid(self, others: Collection[str]) -> None:
        """Look for these in copies as well. What names no others has none to forbid."""
        if others:
            raise ValueError(f"{', '.join(sorted(others))} cannot be looked for")

    def tolerate(self, copy: Path) -> Collection[str]:
        """Forbid no longer what a copy shows of what is forbidden, and return that."""
        return ()


class ByRule(Sought):
    """Findings of a rule, at places where the profile has some, or at the place that is given."""

    def __init__(self, rule: Rule[Any], at: str | None, options: Options | None = None) -> None:
        self.rule, self.at = rule, at
        place = f" at {at}" if at else ""
        self.missed = f"{rule.id} finds nothing{place}; expected a profile that shows it"
        self._options = options or Options()
        self._places: frozenset[str] | None = None
        self._forbidden: set[str] = set()
        self.tolerated = set()

    def unwanted_in(self, copy: Path) -> frozenset[str] | None:
        """Judge the copy by the rule and by those that are forbidden; a fast one by all."""
        report = self._report(copy, (self.rule.id, *sorted(self._forbidden)))
        if report is None:
            return None
        own = {one.place for one in report.findings if one.rule == self.rule.id}
        is_first = self._places is None
        if self._places is None:  # of the profile itself
            self._places = frozenset(own if self.at is None else own & {self.at})
        if not own & self._places:
            return None
        others = frozenset(self._others(report))
        if is_first or others or not _is_judged_fast(copy):
            return others
        return frozenset(self.others_in(copy))

    def seeds_in(self, copy: Path) -> Sequence[Seed]:
        """Where the rule finds something: its first rows, and those that are shown."""
        report = self._report(copy, (self.rule.id,))
        return [*_seeds(copy, report, self._places or ())] if report else ()

    def others_in(self, copy: Path) -> Mapping[str, str]:
        """The other rules that find something, by rule and place."""
        report = self._report(copy, ())
        others = self._others(report) if report else ()
        found: dict[str, str] = {}
        for one in report.findings if report else ():
            if _named(one) in others:
                found[_named(one)] = f"{one.place} {one.message} {one.expected}"
        return found

    def forbid(self, others: Collection[str]) -> None:
        """Judge copies by these rules as well."""
        self._forbidden |= _rules(others) - {self.rule.id}

    def tolerate(self, copy: Path) -> Collection[str]:
        """Judge by rules no longer that find something in the profile itself."""
        report = self._report(copy, tuple(sorted(self._forbidden)))
        found = _rules(self._others(report)) if report else set()
        self._forbidden -= found
        self.tolerated |= found
        return found

    def _others(self, report: Report) -> set[str]:
        """Rules of findings that are not looked for, each with its place."""
        return {
            _named(one)
            for one in report.findings
            if one.rule not in self.tolerated
            and (one.rule != self.rule.id or one.place not in (self._places or ()))
        }

    def _report(self, copy: Path, rules: tuple[str, ...]) -> Report | None:
        try:
            return check_candidates(
                candidates_in(copy), replace(self._options, selection=Selection(rules))
            )
        except NothingToCheck:
            return None


def _named(finding: Finding) -> str:
    return f"{finding.rule}@{finding.place}"


def _rules(others: Collection[str]) -> set[str]:
    return {one.partition("@")[0] for one in others}


def _is_judged_fast(copy: Path) -> bool:
    """Whether all rules take hardly longer than one: they do on small databases."""
    found = candidates_in(copy)
    return all(one.medium == "db" for one in found) and sum(one.size for one in found) <= FAST


def _seeds(copy: Path, report: Report, places: Collection[str]) -> Iterator[Seed]:
    names = {show_path(path): path.relative_to(copy) for path in (copy, *copy.rglob("*"))}
    for one in report.findings:
        file = names.get(one.file)
        if file is not None and one.place in places:
            for place in _numbers(one):
                yield Seed(file, one.table, place)


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
        self.tolerated: set[str] = set()
        self._words = words if any("{}" in word for word in words) else [*words, "{}"]

    def unwanted_in(self, copy: Path) -> frozenset[str] | None:
        """Run the command."""
        words = [word.replace("{}", str(copy)) for word in self._words]
        done = subprocess.run(  # noqa: S603 - without a shell; the user gave the command
            words, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return frozenset() if done.returncode == 0 else None
