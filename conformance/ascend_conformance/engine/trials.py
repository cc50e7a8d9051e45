"""What came of breaking clean files on purpose, rule by rule."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Tried(Protocol):
    """One break of something clean, and what it woke."""

    @property
    def not_broken(self) -> str | None:
        """Why there was nothing to break."""

    @property
    def caught(self) -> bool:
        """Whether the rule saw the break."""

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Everything else that fired."""


AnyTrial = TypeVar("AnyTrial", bound=Tried)


@dataclass
class Sums(Generic[AnyTrial]):
    """All trials of some kind. ``unclean`` are findings on what was clean."""

    trials: list[AnyTrial] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)

    @property
    def mutations(self) -> list[AnyTrial]:
        """Trials whose subject could be broken."""
        return [trial for trial in self.trials if trial.not_broken is None]

    @property
    def missed(self) -> list[AnyTrial]:
        """Breaks that their rule did not see."""
        return [trial for trial in self.mutations if not trial.caught]

    @property
    def false_alarms(self) -> list[AnyTrial]:
        """Breaks that woke another rule as well."""
        return [trial for trial in self.mutations if trial.false_alarms]

    @property
    def passed(self) -> bool:
        """All caught, none false, what was clean is clean."""
        return not (self.missed or self.false_alarms or self.unclean)


@dataclass(frozen=True, slots=True)
class Trial:
    """One rule's break of one clean file or folder: the rules that fired, or why it is not broken.

    ``also``: rules that the break wakes by its nature. ``place``: the table, or the values of
    placeholders; ``changed``: the cell or the row, where that is one of many.
    """

    subject: str
    rule: str
    place: str = ""
    fired: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    not_broken: str | None = None
    changed: str = ""

    @property
    def caught(self) -> bool:
        """Whether the rule saw the break."""
        return self.rule in self.fired

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Every other rule that fired, but for those that the rule names itself."""
        return tuple(rule for rule in self.fired if rule != self.rule and rule not in self.also)

    @property
    def words(self) -> str:
        """What was broken, for people."""
        return " ".join(
            part for part in (self.subject, self.rule, self.place, self.changed) if part
        )


@dataclass
class Trials(Sums[Trial]):
    """The sums over trials of files or folders."""

    @property
    def never_broken(self) -> list[str]:
        """Rules that were tried, but that none of the subjects gave occasion for."""
        tried = {trial.rule for trial in self.mutations}
        return sorted({trial.rule for trial in self.trials} - tried)

    @property
    def passed(self) -> bool:
        """As :attr:`Sums.passed`, and each rule tried."""
        return super().passed and not self.never_broken


def try_all(
    subjects: Collection[str],
    run: Callable[[str], Trials],
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Trials:
    """The trials on all subjects, summed up. ``run`` is a function of a module, for processes."""
    result = Trials()
    with ExitStack() as stack:
        if processes > 1:
            pool = stack.enter_context(ProcessPoolExecutor(min(processes, len(subjects))))
            parts = pool.map(run, subjects)
        else:
            parts = map(run, subjects)
        for done, part in enumerate(parts, start=1):
            result.trials += part.trials
            result.unclean += part.unclean
            if progress:
                progress(done, len(subjects))
    return result
