"""Where facts come from, how far they can be relied on, and what a user collects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from .bounds import Bounds

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
class Decision:
    """What errata decide at one place against documents: which ``facts`` (keys of its row), by
    which ``source`` and so of which grade, ``against`` which documents.
    """

    errata: tuple[str, ...]
    facts: tuple[str, ...]
    grade: Grade
    source: tuple[str, ...]
    against: tuple[str, ...]


def decisions(errata: Mapping[str, Erratum], sources: Mapping[str, Source]) -> dict[str, Decision]:
    """The decisions against documents, by place."""
    found: dict[str, list[Erratum]] = {}
    for erratum in errata.values():
        for place in erratum.documented:
            found.setdefault(place, []).append(erratum)
    return {place: _decision(place, deciding, sources) for place, deciding in found.items()}


def _decision(place: str, errata: list[Erratum], sources: Mapping[str, Source]) -> Decision:
    claims = dict.fromkeys(source for erratum in errata for source, _ in erratum.says)
    documents = tuple(one for one in claims if sources[one].grade == "documented")
    winners = tuple(one for one in claims if one not in documents)
    return Decision(
        errata=tuple(erratum.id for erratum in errata),
        facts=tuple(fact for erratum in errata for fact in erratum.documented[place]),
        grade=best_grade(winners, sources),
        source=winners,
        against=documents,
    )


@dataclass(frozen=True, slots=True)
class Alteration(Bounds):
    """What is otherwise on some days, though the name and all other facts are as before.

    ``of``: what values mean or how they are made, how they are spelled, which are new, in what
    order rows stand, of which type they are. ``carriers``: the databases that it is about; empty:
    all.
    """

    of: Literal["meaning", "values", "additions", "order", "type"]
    summary: str
    source: tuple[str, ...]
    carriers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Switch:
    """A collection switch and the names it has in the msprof command and the profiler APIs.

    ``stated``: by file of a capture, the keys by which it states the switch, as ``a/b`` where they
    are nested, and what each is when it is on; of texts with commas and of lists a part.
    """

    id: str
    summary: str
    spelled: tuple[str, ...]
    stated: Mapping[str, Mapping[str, str | bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that exporters write though no table of the format lists them, and what is known of
    each: a row per word under ``columns``.

    ``shown_in``: tables, ``TABLE.column`` and ``file/column`` that hold the words.
    """

    id: str
    summary: str
    shown_in: tuple[str, ...]
    source: tuple[str, ...]
    columns: tuple[str, ...]
    words: tuple[tuple[str | int, ...], ...]
    note: str | None = None
