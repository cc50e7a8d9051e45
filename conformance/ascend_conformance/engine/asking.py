"""The one loop in which rules are asked, whatever the medium.

A medium yields questions: which rule at which place, why it cannot be asked, else how it is asked
and within which limits. What comes of them is kept in the same way for all: what was found, what
was skipped and why, and which rules failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import apsw

from ascend_ref.db.introspect import quote_identifier
from ascend_ref.db.open import read_examples
from ascend_ref.execution.interrupts import raise_if_dropped

from ..finding import Scalar, Skipped
from ..ruleset import Rule
from .failure import Failures
from .work import NoAnswer, Uncomputable

EXAMPLE_COLUMNS = 7


class Subject(Protocol):
    """One rule at one place."""

    @property
    def rule(self) -> Rule[Any]:
        """The rule."""

    @property
    def at(self) -> str:
        """The place, as users read it."""


class At(NamedTuple):
    """One rule at one place, where a medium has nothing to add."""

    rule: Rule[Any]
    at: str = ""


AnySubject = TypeVar("AnySubject", bound=Subject)
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Question(Generic[AnySubject, Found]):
    """Rules at places that one search answers together; of most searches it is one.

    ``obstacle``: why it cannot be asked, and empty where there is nothing to ask about, which no
    user needs to read. ``answer`` gives what is found, and a :class:`.Skipped` for a subject that
    it cannot answer; it raises :class:`.NoAnswer` where that is so for all, and so do the
    ``limits`` that it is asked within.
    """

    subjects: Sequence[AnySubject]
    answer: Callable[[Sequence[AnySubject]], Iterable[Found | Skipped]]
    limits: Callable[[], AbstractContextManager[None]] = nullcontext
    obstacle: str | None = None


@dataclass(kw_only=True)
class Asked(Generic[Found]):
    """What came of questions. ``ran`` and ``places`` count those that were answered."""

    found: list[Found] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    places: int = 0
    failures: Failures = field(default_factory=Failures)

    def ask(self, questions: Iterable[Question[Any, Found]]) -> None:
        """Ask them in their order.

        Where several rules are asked together and one of them fails, or cannot be computed, each is
        asked alone.
        """
        for question in questions:
            if question.obstacle is not None:
                self._skip(question, question.obstacle)
            elif len(question.subjects) == 1:
                with self.failures.of_rule(question.subjects[0].rule, question.subjects[0].at):
                    self._answer(question)
            else:
                try:
                    self._answer(question)
                except Exception as problem:
                    raise_if_dropped(problem)
                    if self.failures.is_of_the_file(problem):
                        raise
                    self._ask_alone(question)

    def _ask_alone(self, question: Question[Any, Found]) -> None:
        self.ask(replace(question, subjects=(one,)) for one in question.subjects)

    def add(self, other: Asked[Found]) -> None:
        """Take over what came of other questions on the same file."""
        self.found += other.found
        self.skipped += other.skipped
        self.ran |= other.ran
        self.places += other.places
        self.failures.of = {**other.failures.of, **self.failures.of}

    def _answer(self, question: Question[Any, Found]) -> None:
        try:
            with question.limits():
                answers = list(question.answer(question.subjects))
        except NoAnswer as reason:
            if isinstance(reason, Uncomputable) and len(question.subjects) > 1:
                self._ask_alone(question)
            else:
                self._skip(question, str(reason))
            return
        skipped = [one for one in answers if isinstance(one, Skipped)]
        self.found += (one for one in answers if not isinstance(one, Skipped))
        self.skipped += (one for one in skipped if one.reason)
        left = {(one.rule, one.place) for one in skipped}
        ran = [one for one in question.subjects if (one.rule.id, one.at) not in left]
        self.ran.update(one.rule.id for one in ran)
        self.places += len(ran)

    def _skip(self, question: Question[Any, Found], reason: str) -> None:
        if reason:
            self.skipped += (Skipped(one.rule.id, one.at, reason) for one in question.subjects)


def examples_of(
    connection: apsw.Connection,
    query: str,
    limit: int,
    *,
    hidden: int = 0,
    among: str = "",
    values: tuple[Scalar, ...] = (),
) -> Iterator[Mapping[str, Scalar]]:
    """The first bad rows of an SQLite query, without its first ``hidden`` columns.

    ``among``: SQL behind ``FROM (query) e`` that chooses some of the rows, with its ``values``.
    """
    if limit < 1:
        return
    description = connection.execute(f"SELECT * FROM ({query}) LIMIT 1").get_description()
    names = [entry[0] for entry in description][hidden : hidden + EXAMPLE_COLUMNS]
    columns = ", ".join(f"e.{quote_identifier(name)}" for name in names)
    select = f"SELECT {columns} FROM ({query}) e {among}"
    for row in read_examples(connection, select, values, columns=len(names), rows=limit):
        yield dict(zip(names, row, strict=True))
