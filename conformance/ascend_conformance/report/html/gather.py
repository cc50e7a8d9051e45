"""Findings by cause and place over all files, in one pass, whatever their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TypeAlias

from ascend_conformance.finding import VERDICTS, FileReport, Finding, Report, Verdict

from ..collapse import fair_share
from ..phrases import tally


@dataclass(slots=True)
class Place:
    """One place of a rule in all files that have it bad.

    ``first`` is the finding to quote, ``None`` where other findings have it as a further place.
    ``files``: by the number of the file, how many rows are bad.
    """

    name: str
    first: Finding | None = None
    files: dict[int, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Bad rows in all files."""
        return sum(self.files.values())


@dataclass(slots=True)
class Cause:
    """All findings of a rule with one verdict, and of those rules that found the same.

    ``head`` is the finding with most rows, in the file with the number ``head_of``; ``of`` is the
    rule that explains it. ``names`` are those of all places, ``places`` the first of them.
    ``files``: by number, the places in each; ``rows``: bad ones in all files; ``others``: by rule.
    """

    head: Finding
    head_of: int
    of: str | None = None
    names: set[str] = field(default_factory=set)
    places: dict[str, Place] = field(default_factory=dict)
    files: dict[int, int] = field(default_factory=dict)
    rows: int = 0
    others: dict[str, Cause] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """The rule, by its id."""
        return self.head.rule

    @property
    def verdict(self) -> Verdict:
        """How bad it is."""
        return self.head.verdict

    @property
    def found(self) -> int:
        """Places in all files, as the conclusion counts them."""
        return sum(self.files.values())

    def count(self, finding: Finding, number: int) -> None:
        """Count a finding of the file with this number; files come in ascending order."""
        self.names.add(finding.place)
        most, count = self.head.count, finding.count
        if count > most or (
            count == most and number == self.head_of and _precedes(finding, self.head)
        ):
            self.head, self.head_of = finding, number
        self.rows += count
        self.files[number] = self.files.get(number, 0) + 1
        if finding.elsewhere:
            self.names.update(finding.elsewhere)
            self.rows += sum(finding.elsewhere.values())
            self.files[number] += len(finding.elsewhere)

    def keep(self, most: int) -> None:
        """Choose the first places by name."""
        self.places = {name: Place(name) for name in nsmallest(most, self.names)}

    def add(self, finding: Finding, number: int) -> None:
        """Note a counted finding at its places, where these have been chosen."""
        place = self.places.get(finding.place)
        if place is not None:
            before = place.files.get(number, 0)
            if place.first is None or (before and _precedes(finding, place.first)):
                place.first = finding
            place.files[number] = before + finding.count
        for further, rows in finding.elsewhere.items():
            place = self.places.get(further)
            if place is not None:
                place.files[number] = place.files.get(number, 0) + rows


def _precedes(finding: Finding, other: Finding) -> bool:
    """Whether it is quoted rather than another one of the same file and number of rows."""
    own, its = (finding.table or "", finding.column or ""), (other.table or "", other.column or "")
    return own < its or (own == its and finding.message < other.message)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Files in their order, and what was found in them: gravest first, explanations before others.

    ``tallies``: by the number of a file, places per verdict. ``ranks`` are those that files name,
    ascending.
    """

    files: Sequence[FileReport]
    tallies: Sequence[Mapping[Verdict, int]]
    causes: Sequence[Cause]
    ranks: Sequence[int]

    @property
    def tally(self) -> Counter[Verdict]:
        """Places per verdict of all files."""
        return sum(map(Counter, self.tallies), Counter[Verdict]())


def gather(report: Report, most: int) -> Gathered:
    """What was found, cause by cause, with at most so many places in all, or one of each cause."""
    files = sorted(report.files, key=lambda file: file.file)
    causes: dict[_Key, Cause] = {}
    for number, file in enumerate(files):
        for finding in file.findings:
            key = finding.rule, finding.verdict, finding.cause
            cause = causes.get(key)
            if cause is None:
                cause = causes[key] = Cause(finding, number, finding.cause)
            cause.count(finding, number)
    share = fair_share([len(cause.names) for cause in causes.values()], most)
    for cause in causes.values():
        cause.keep(share)
    for number, file in enumerate(files):
        for finding in file.findings:
            causes[finding.rule, finding.verdict, finding.cause].add(finding, number)
    tallies = [tally((file,)) for file in files]
    ranks = {rank for file in files if file.seen for rank in file.seen.ranks}
    return Gathered(files, tallies, _in_order(causes), sorted(ranks))


_Key: TypeAlias = tuple[str, Verdict, str | None]
"""Rule, verdict, and the rule that explains it."""


def _in_order(causes: Mapping[_Key, Cause]) -> Sequence[Cause]:
    """Causes with what they explain; what no other finding explains after all stands alone."""
    by_rule: dict[str, Cause] = {}
    for cause in sorted(causes.values(), key=lambda one: VERDICTS.index(one.verdict)):
        if cause.of is None:
            by_rule.setdefault(cause.rule, cause)
    alone = []
    for cause in sorted(causes.values(), key=lambda one: (one.rule, one.verdict)):
        if cause.of is not None and cause.of in by_rule:
            by_rule[cause.of].others[f"{cause.rule} {cause.verdict}"] = cause
        else:
            alone.append(cause)
    return sorted(alone, key=_gravity)


def _gravity(cause: Cause) -> tuple[int, bool, str, str]:
    return VERDICTS.index(cause.verdict), not cause.others, cause.rule, cause.of or ""


def in_all(causes: Iterable[Cause]) -> Iterable[Cause]:
    """Causes, each followed by what it explains."""
    for cause in causes:
        yield cause
        yield from cause.others.values()
