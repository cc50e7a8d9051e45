"""Asking relations of one medium: bind, ask, and state what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from ascend_spec import recording_catalog

from ...finding import Finding, Skipped
from ..asking import At, Question
from .rule import Relation, Walk
from .sql import count_query, counts_query, is_of_texts, numbers_of, rows_query, slack_of, walk_rows
from .views import Shown, View, inherited, owners, showing
from .walks import walk as walk_over

Bound = Mapping[str, View]
"""The views of a relation by entity."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a relation found: judged rows, bad ones, and the places of the first of them.

    ``view`` is that of the rows at fault; ``examples`` hold the values that were read of them.
    """

    relation: Relation
    view: View
    population: int
    count: int = 0
    places: tuple[int, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why a relation was not judged. ``here``: the medium shows the entity at fault."""

    relation: Relation
    reason: str
    here: bool = True

    @property
    def reported(self) -> str:
        """The reason as far as users read it; nothing where the medium has no such rows."""
        return self.reason if self.here else ""


NOTHING_TO_JUDGE = "nothing to judge: no row that it is about"


def bind(relation: Relation, every: Sequence[View]) -> Bound | Unjudged:
    """The most precise views of one medium that show what a relation reads."""
    views = [
        one for one in every if not relation.search.media or one.medium in relation.search.media
    ]
    candidates: dict[str, list[View]] = {}
    for entity, columns in relation.search.reads.items():
        found = showing(_complete(views, entity, columns), entity, columns)
        if not found:
            there = [one for one in views if one.entity == entity]
            here = any(
                one.entity == relation.search.aliases[relation.search.alias] for one in views
            )
            if not there:
                return Unjudged(relation, f"not applicable: nothing here shows {entity}", here)
            best = max(there, key=lambda one: len(one.columns & columns))
            missing = ", ".join(f"{entity}.{name}" for name in sorted(columns - best.columns))
            return Unjudged(relation, f"not applicable: does not show {missing}", here)
        candidates[entity] = found
    linked = list(relation.search.linked())
    for choice in sorted(product(*candidates.values()), key=lambda some: sum(v.rank for v in some)):
        bound = dict(zip(candidates, choice, strict=True))
        if all(len({bound[entity].space for entity in group}) == 1 for group in linked):
            return bound
    named = " and ".join(sorted(relation.search.reads))
    return Unjudged(relation, f"not applicable: nothing here shows {named} together")


def _complete(views: Sequence[View], entity: str, columns: frozenset[str]) -> Iterator[View]:
    """The views of an entity, with what they inherit where they lack it."""
    for view in views:
        if view.entity != entity:
            continue
        for link, names in recording_catalog().entities[entity].inherits.items():
            lacking = columns - view.columns
            homes = owners(views, view)
            if lacking & set(names) and link in view.columns and homes:
                yield inherited(view, link, names, homes[0])
                break
        else:
            yield view


def ask(
    relation: Relation, shown: Shown, examples: int = 5, counted: tuple[int, int] | None = None
) -> Answer | Unjudged:
    """Judge one relation in one medium. ``counted``: judged rows and bad ones, where known."""
    bound = bind(relation, shown.views())
    if isinstance(bound, Unjudged):
        return bound
    view = bound[relation.search.aliases[relation.search.alias]]
    if relation.search.walk and _is_walked(relation.search.walk, shown):
        try:
            return _walk(relation, relation.search.walk, shown, bound, examples)
        except (TypeError, UnicodeDecodeError):  # a text among the times
            if relation.search.walk.kind == "nested":
                raise
    query = rows_query(relation, bound, shown.dialect)
    if counted is None:
        [(total,)] = shown.rows(count_query(relation, bound, shown.dialect))
        counted = numbers_of(total)
    population, count = counted
    if not population:
        return Unjudged(relation, NOTHING_TO_JUDGE)
    if not count:
        return Answer(relation, view, population, query=query)
    names = sorted(
        {"start", "end"} if relation.search.walk else relation.search.values[relation.search.alias]
    )
    values = "".join(f", v_{name}" for name in names)
    wanted = max(examples, 1)
    bad = f"SELECT place{values} FROM ({query}) WHERE bad ORDER BY place LIMIT {wanted}"
    first = shown.values(bad, 1 + len(names), wanted)
    return Answer(
        relation,
        view,
        population,
        count,
        tuple(row[0] for row in first),
        tuple(dict(zip(names, row[1:], strict=True)) for row in first[:examples]),
        f"SELECT * FROM ({query}) WHERE bad",
    )


def _is_walked(walk: Walk, shown: Shown) -> bool:
    """Whether code walks over the rows: windows are slower in SQLite, faster in DuckDB."""
    return walk.kind == "nested" or shown.dialect == "sqlite"


def _walk(
    relation: Relation, walk: Walk, shown: Shown, bound: Bound, examples: int
) -> Answer | Unjudged:
    """The rows of a walk, judged by code in one ordered read."""
    view = bound[relation.search.aliases[relation.search.alias]]
    rows = walk_rows(relation, walk, bound, shown.dialect)
    tolerance = slack_of(relation, bound)
    walked = walk_over(walk.kind, shown.rows(rows), tolerance, max(examples, 1))
    if not walked.population:
        return Unjudged(relation, NOTHING_TO_JUDGE)
    if walk.kind != "nested":
        rows = f"SELECT * FROM ({rows_query(relation, bound, shown.dialect)}) WHERE bad"
    return Answer(
        relation,
        view,
        walked.population,
        walked.count,
        tuple(place for place, _, _ in walked.first()),
        tuple({"start": start, "end": end} for _, start, end in walked.first()[:examples]),
        rows,
    )


def groups(relations: Iterable[Relation], shown: Shown) -> list[tuple[Relation, ...]]:
    """The relations; those on single rows of one view together, since one scan counts them all."""
    found: dict[Any, list[Relation]] = {}
    for relation in relations:
        key: Any = relation.id
        if relation.search.is_of_rows:
            bound = bind(relation, shown.views())
            if not isinstance(bound, Unjudged) and not is_of_texts(relation, bound, shown.dialect):
                [view] = bound.values()
                key = (view.entity, view.name, view.columns, relation.search.alias)
        found.setdefault(key, []).append(relation)
    return [tuple(some) for some in found.values()]


def counted_together(relations: Sequence[Relation], shown: Shown) -> list[tuple[int, int] | None]:
    """Judged and bad rows of relations that one scan counts; nothing of a relation alone."""
    if len(relations) == 1:
        return [None]
    bound: Any = bind(relations[0], shown.views())  # of none but those that are shown
    [view] = bound.values()
    [sums] = shown.rows(counts_query(relations, view, shown.dialect))
    return list(map(numbers_of, sums))


def questions(
    together: Iterable[Sequence[Relation]],
    shown: Shown,
    limits: Callable[[Sequence[Relation]], AbstractContextManager[None]],
    located: Callable[[Answer], Finding],
    examples: int,
) -> Iterator[Question[At, Finding]]:
    """:func:`groups` as questions to one medium; ``located`` makes the finding of an answer."""

    def answer(subjects: Sequence[At]) -> Iterator[Finding | Skipped]:
        counted = counted_together([one.rule for one in subjects], shown)
        for subject, numbers in zip(subjects, counted, strict=True):
            found = ask(subject.rule, shown, examples, numbers)
            if isinstance(found, Unjudged):
                yield Skipped(subject.rule.id, subject.at, found.reported)
            elif found.count:
                yield located(found)

    for relations in together:
        bound = bind(relations[0], shown.views())
        yield Question(
            [At(one, one.search.at) for one in relations],
            answer,
            partial(limits, relations),
            bound.reported if isinstance(bound, Unjudged) else None,
        )
