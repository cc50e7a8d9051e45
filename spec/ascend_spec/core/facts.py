"""Where facts come from, how far they can be relied on, and what a user collects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

Grade = Literal["documented", "observed", "inferred"]

GRADES: tuple[Grade, ...] = get_args(Grade)
"""Strongest first."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document, an exporter's source tree or a set of real files that facts are taken from."""

    id: str
    title: str
    grade: Grade
    where: str


def best_grade(citations: Sequence[str], sources: Mapping[str, Source]) -> Grade:
    """The strongest grade among cited sources (``"seed-001 TASK"``: source id, then the place).

    Raises ``KeyError`` for a source that is not among them.
    """
    grades = {sources[citation.split(" ", 1)[0]].grade for citation in citations}
    return next(grade for grade in GRADES if grade in grades)


@dataclass(frozen=True, slots=True)
class Erratum:
    """A disagreement between sources and how this spec resolves it.

    ``says`` pairs a source id with its claim. ``documented`` patches the spec under the
    documented reading: ``TABLE.column`` to the attributes that the documents give it.
    """

    id: str
    title: str
    at: tuple[str, ...]
    says: tuple[tuple[str, str], ...]
    resolution: str
    documented: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Switch:
    """A collection switch and the names it has in the msprof command and the profiler APIs."""

    id: str
    summary: str
    spelled: tuple[str, ...]
