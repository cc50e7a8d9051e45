"""What came of breaking clean files on purpose, rule by rule, and of their nearest legal cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ascend_ref.execution import InProcess, Processes

from ..ruleset import Rule

AnySubject = TypeVar("AnySubject")


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows are bad, and which is the first; ``first`` is ``None`` where unknown."""

    count: int
    first: object = None

    def fits(self, expected: Rows) -> bool:
        """Whether these are the rows that were expected."""
        return self.count == expected.count and expected.first in (None, self.first)

    def __str__(self) -> str:
        first = "" if self.first is None else f", first {self.first}"
        return f"{self.count:,}{first}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One change of one clean file or folder for one rule: what fired, or why nothing was changed.

    The change is the rule's break, or, with ``legal``, a legal case in these words: then nothing
    may fire. ``fired`` are rules, or rules with places (``DB203@TASK.taskType``), and ``meant`` is
    the one of them that should; it stands for every place below it as well. ``also``: rules that
    the change wakes by its nature. ``place``: the table, or the values of placeholders;
    ``changed``: the cell or the row, where that is one of many. ``wrong``: where the rule found
    other rows than it should.
    """

    subject: str
    rule: str
    place: str = ""
    fired: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    not_broken: str | None = None
    changed: str = ""
    meant: str = ""
    legal: str = ""
    wrong: str | None = None

    @property
    def caught(self) -> bool:
        """Whether the rule found the break, and found the rows that it should."""
        if self.legal:
            return True
        return self.wrong is None and any(self._is_meant(name) for name in self.fired)

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """What fired although it should not, but for the rules that the rule names itself."""
        others = (name for name in self.fired if self.legal or not self._is_meant(name))
        return tuple(name for name in others if name.partition("@")[0] not in self.also)

    def _is_meant(self, name: str) -> bool:
        """The same rule at the same place; a rule of whole tables may name a column of it."""
        meant = self.meant or self.rule
        return name == meant or name.startswith(meant if meant[-1] == "@" else f"{meant}.")

    @property
    def words(self) -> str:
        """What was changed, for people."""
        what = self.meant or f"{self.rule} {self.place}".rstrip()
        legal = f"legal: {self.legal}" if self.legal else ""
        return " ".join(part for part in (self.subject, what, self.changed, legal) if part)


@dataclass(frozen=True, slots=True)
class Trying:
    """What the self-test asks of a rule, as far as its document and the spec say it.

    ``places``: where it is tried, on each specimen that shows them; none where that follows from
    the specimens alone. ``broken``: whether a break is known. ``legal``: its legal cases.
    ``counted`` and ``placed``: whether the rows that it finds of a break must be as many as those
    that are bad, and begin with the first one of them.
    """

    places: int
    broken: bool
    legal: int
    counted: bool
    placed: bool

    @classmethod
    def of(
        cls, rule: Rule[Any], places: int | None = None, *, broken: bool | None = None
    ) -> Trying:
        """Of a rule whose document states its break, or whose break follows otherwise."""
        is_counted = bool(rule.breaks and (rule.row or rule.select))
        return cls(
            int(bool(rule.breaks or rule.keeps)) if places is None else places,
            bool(rule.breaks) if broken is None else broken,
            len(rule.keeps),
            is_counted,
            is_counted and not isinstance(rule.found, int),
        )


class NotBreakable(Exception):
    """A specimen gives no occasion for a change; the text says why."""


def try_changes(
    trial: Trial,
    changes: Mapping[str, Sequence[Any]],
    make: Callable[[Trial, Sequence[Any]], tuple[Iterable[str], str | None]],
) -> Iterator[Trial]:
    """The trials of a rule at one place: its break, called ``""``, and its legal cases.

    ``make`` makes a change of something clean, and returns what fires and what is wrong with the
    rows that are found. It raises :class:`NotBreakable`.
    """
    for legal, change in changes.items():
        one = replace(trial, legal=legal)
        try:
            fired, wrong = make(one, change)
        except NotBreakable as reason:
            yield replace(one, not_broken=str(reason))
        else:
            yield replace(one, fired=tuple(sorted(set(fired))), wrong=None if legal else wrong)


def wrong_rows(
    found: Sequence[Rows], stated: int | str | None, rows_of: Callable[[str | None], Rows]
) -> str | None:
    """Why none of the findings of a rule are the rows that its break should be found as.

    ``stated`` is what the rule says of them (:attr:`.Rule.found`): their number, or a query;
    ``rows_of`` gets the query, or ``None`` for the rows that were changed.
    """
    if not found:
        return None
    expected = Rows(stated) if isinstance(stated, int) else rows_of(stated)
    if any(one.fits(expected) for one in found):
        return None
    return f"found {found[0]} instead of {expected}"


@dataclass
class Trials:
    """All trials of some kind. ``unclean`` are findings on what was clean.

    ``partial``: rules that were tried on some of their subjects only, which need not give occasion
    for every legal case.
    """

    trials: list[Trial] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)
    partial: frozenset[str] = frozenset()

    @property
    def mutations(self) -> list[Trial]:
        """Breaks that were possible."""
        return [one for one in self.trials if one.not_broken is None and not one.legal]

    @property
    def legal_cases(self) -> list[Trial]:
        """Legal cases that were possible."""
        return [one for one in self.trials if one.not_broken is None and one.legal]

    @property
    def missed(self) -> list[Trial]:
        """Breaks that their rule did not find, or not where they are."""
        return [trial for trial in self.mutations if not trial.caught]

    @property
    def false_alarms(self) -> list[Trial]:
        """Changes that woke a rule that should be silent."""
        tried = [one for one in self.trials if one.not_broken is None]
        return [trial for trial in tried if trial.false_alarms]

    @property
    def never_legal(self) -> list[str]:
        """Legal cases that none of all subjects gave occasion for."""
        tried = {(trial.rule, trial.legal) for trial in self.legal_cases}
        named = {(trial.rule, trial.legal) for trial in self.trials if trial.legal}
        never = (one for one in named - tried if one[0] not in self.partial)
        return sorted(f"{rule}: {words}" for rule, words in never)

    @property
    def passed(self) -> bool:
        """Every break found where it is, no false alarm, and what was clean is clean."""
        return not (self.missed or self.false_alarms or self.unclean or self.never_legal)


def try_all(
    subjects: Collection[AnySubject],
    run: Callable[[AnySubject], Trials],
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Trials:
    """The trials on all subjects, summed up. ``run`` is a function of a module, for processes."""
    result = Trials()
    most = min(processes, len(subjects))
    executor = Processes(most) if most > 1 else InProcess()
    with closing(executor.map(_try, run, list(subjects))) as parts:
        for done, part in enumerate(parts, start=1):
            result.trials += part.trials
            result.unclean += [text for text in part.unclean if text not in result.unclean]
            if progress:
                progress(done, len(subjects))
    return result


def _try(run: Callable[[AnySubject], Trials], subject: AnySubject) -> Trials:
    return run(subject)
