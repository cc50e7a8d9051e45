"""Asking relations of one medium: bind, ask, and state what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import pyarrow as pa

from ascend_ref.db.header import UnreadableDatabase
from ascend_spec import recording_catalog

from ...finding import Finding, Skipped
from ..asking import At, Question
from .rule import Relation
from .sql import (
    as_read,
    can_have_rows,
    count_query,
    counts_query,
    is_joined_walk,
    is_of_texts,
    matched_query,
    numbers_of,
    rows_query,
    walk_rows,
)
from .views import Shown, Streaming, View, inherited, owners, showing
from .walks import NotInOrder, Walked, columns_of
from .walks import walk as walk_over

Bound = Mapping[str, View]
"""The views of a relation by entity."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a relation found: judged rows, bad ones, and the places of the first of them.

    ``population``: of a relation with a link that holds, the rows that may have one.
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


_JOINED = re.compile(r"(?P<entity>\w+) (?P<alias>\w+) ON (?P=alias)\.(?P<column>\w+) = ")

NOT_A_WALK = (UnreadableDatabase, UnicodeDecodeError, pa.ArrowInvalid, pa.ArrowTypeError)
"""What comes of rows that hold anything but integers: the last two where they lie in memory."""

FEW = 1_000
"""Rows of a link that mostly show already that there is something to judge."""

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


@dataclass(frozen=True, slots=True)
class Counted:
    """Judged rows and bad ones; ``first``: place, start and end of these, where they are known."""

    population: int
    count: int
    first: Sequence[tuple[int, Any, Any]] | None = None


def ask(
    relation: Relation, shown: Shown, examples: int = 5, counted: Counted | None = None
) -> Answer | Unjudged:
    """Judge one relation in one medium. ``counted``: what :func:`counted_together` found."""
    bound = bind(relation, shown.views())
    if isinstance(bound, Unjudged):
        return bound
    view = bound[relation.search.aliases[relation.search.alias]]
    wanted = max(examples, 1)
    if counted is None:
        [counted] = counted_together([relation], shown, wanted)
    if not counted.population:
        return Unjudged(relation, NOTHING_TO_JUDGE)
    is_nested = relation.search.walk is not None and relation.search.walk.kind == "nested"
    if is_nested and counted.count:
        query, bad = walk_rows([relation], [bound], is_ordered=True), ""
    else:
        query = rows_query(relation, bound, shown.dialect)
        bad = f"SELECT * FROM ({query}) WHERE bad"
    if not counted.count:
        return Answer(relation, view, counted.population, query=query)
    names = ["start", "end"]
    first: Sequence[tuple[Any, ...]]
    if counted.first is None:
        read = relation.search.values[relation.search.alias]
        walk = relation.search.walk
        names = sorted(names if walk and walk.is_of_intervals else read)
        values = "".join(f", v_{name}" for name in names)
        ordered = f"SELECT place{values} FROM ({query}) WHERE bad ORDER BY place LIMIT {wanted}"
        first = shown.values(ordered, 1 + len(names), wanted)
    else:
        first = counted.first
    return Answer(
        relation,
        view,
        counted.population,
        counted.count,
        tuple(row[0] for row in first),
        tuple(dict(zip(names, row[1:], strict=True)) for row in first[:examples]),
        bad or query,
    )


def _walked(
    relations: Sequence[Relation], shown: Streaming, wanted: int, is_whole: bool = False
) -> list[Counted]:
    """The rows of walks over the same views, judged by code: as they stand, else in order."""
    nearly = [replace(one, search=one.search.linked_to(None)) for one in relations]
    found = _read(nearly, shown, wanted, is_ordered=False, is_whole=is_whole)
    again: dict[Any, list[int]] = {}
    for number, one in enumerate(found):
        if isinstance(one.failed, NotInOrder):
            walk = relations[number].search.own_walk
            again.setdefault((walk.by, walk.order), []).append(number)
    for numbers in again.values():
        some = [nearly[number] for number in numbers]
        ordered = _read(some, shown, wanted, is_ordered=True, is_whole=is_whole)
        for number, one in zip(numbers, ordered, strict=True):
            found[number] = one
    return [
        _counted(relation, one, shown, wanted)
        for relation, one in zip(relations, found, strict=True)
    ]


def _counted(relation: Relation, walked: Walked, shown: Streaming, wanted: int) -> Counted:
    """What a walk found; asked again where it does not know, or of more rows than it is about."""
    if walked.failed:
        bound: Any = bind(relation, shown.views())
        [[total]] = shown.rows(count_query(relation, bound, shown.dialect))
        return Counted(*numbers_of(total))
    if relation.search.link and walked.count:
        return _walked([_whole(relation)], shown, wanted)[0]
    if relation.search.link and not _has_linked_rows(relation, shown):
        return Counted(0, 0)
    is_of_intervals = relation.search.walk and relation.search.walk.is_of_intervals
    first = walked.first() if is_of_intervals else None
    return Counted(walked.population, walked.count, first)


def _whole(relation: Relation) -> Relation:
    """The relation with its link as an ordinary condition."""
    return replace(relation, search=replace(relation.search, link=None))


def _has_linked_rows(relation: Relation, shown: Shown) -> bool:
    few = replace(relation, search=relation.search.linked_to(FEW))
    return any(
        _has_rows(shown, one, bound)
        for one in (few, _whole(relation))
        if not isinstance(bound := bind(one, shown.views()), Unjudged)
    )


def _read(
    relations: Sequence[Relation],
    shown: Streaming,
    wanted: int,
    *,
    is_ordered: bool,
    is_whole: bool,
) -> list[Walked]:
    """One read of the rows of walks over the same views."""
    bound: Any = [bind(one, shown.views()) for one in relations]  # of none but those that are shown
    walks = [as_read(one) for one in relations]
    if {one.kind for one in walks} == {"inside"} and not any(
        map(partial(_has_rows, shown), relations, bound)
    ):
        return [Walked(wanted) for _ in walks]
    multiplies = any(map(_multiplies, relations, bound))
    query = walk_rows(relations, bound, is_ordered, is_whole)
    with shown.batches(query, multiplies) as batches:
        return walk_over(walks, columns_of(walks), batches, wanted, is_ordered=is_ordered)


def _has_rows(shown: Shown, relation: Relation, bound: Bound) -> bool:
    """Whether there is a row to judge, which is often seen long before all of them are in order."""
    query = matched_query(relation, bound, shown.dialect, None, f"{relation.search.alias}.place")
    return any(True for _ in shown.rows(f"{query} LIMIT 1"))


def _multiplies(relation: Relation, bound: Bound) -> bool:
    """Whether a row can be joined with many: those of one value of a column that is no key."""
    return not all(
        _has_one_partner(joined, bound)
        for text in relation.search.texts
        for joined in re.split(r"\bJOIN ", text)[1:]
    )


def _has_one_partner(joined: str, bound: Bound) -> bool:
    """Whether a row finds one row at most in what it is joined with, by a key of it."""
    found = _JOINED.match(joined)
    view = bound.get(found["entity"]) if found else None
    return found is not None and view is not None and view.is_key(found["column"])


def _sides(relation: Relation, bound: Bound) -> list[View]:
    """The views whose rows a walk is over."""
    walk = relation.search.walk
    outer = [walk.outer.split()[0]] if walk and walk.outer else []
    return [bound[entity] for entity in (relation.search.joined.split()[0], *outer)]


def groups(relations: Iterable[Relation], shown: Shown) -> list[tuple[Relation, ...]]:
    """The relations; those that one scan of a view counts, or one walk over it, together."""
    found: dict[Any, list[Relation]] = {}
    joins: dict[Any, Any] = {}
    for relation in relations:
        key: Any = relation.id
        bound = bind(relation, shown.views())
        search = relation.search
        if isinstance(bound, Unjudged):
            pass
        elif search.walk and isinstance(shown, Streaming) and not is_joined_walk(relation):
            key = frozenset((one.entity, one.name, one.columns) for one in _sides(relation, bound))
        elif search.is_of_joined_rows and not is_of_texts(relation, bound, shown.dialect):
            rows, further = _parted(relation, bound)
            key, join = _scanned(rows, relation, bound), _scanned(further, relation, bound)
            if further and joins.setdefault(key, join) != join:
                key = key, join
        found.setdefault(key, []).append(relation)
    return [tuple(some) for some in found.values()]


def _parted(relation: Relation, bound: Bound) -> tuple[str, str]:
    """The rows that a relation is about, and joins that find one more row at most for each of them.

    Relations on the same rows without those joins are counted in the same scan. Where a condition
    leaves few rows, looking the joined ones up for all rows would not pay.
    """
    rows, *joins = relation.search.joined.split(" JOIN ")
    further = ""
    while joins and not relation.search.where and _has_one_partner(joins[-1], bound):
        further = f" JOIN {joins.pop()}{further}"
    return " JOIN ".join([rows, *joins]), further


def _scanned(joined: str, relation: Relation, bound: Bound) -> tuple[Any, ...]:
    """What some SQL joins, with the views that it is bound to."""
    read = [bound[entity] for entity in relation.search.aliases_in((joined,)).values()]
    return joined, *((one.name, one.columns) for one in read)


def counted_together(relations: Sequence[Relation], shown: Shown, wanted: int = 1) -> list[Counted]:
    """What is found of relations that one scan counts, or of one; see :func:`groups`."""
    if relations[0].search.walk and isinstance(shown, Streaming):
        try:
            return _walked(relations, shown, wanted)
        except NOT_A_WALK:
            if len(relations) > 1:
                return [
                    one for alone in relations for one in counted_together([alone], shown, wanted)
                ]
            if relations[0].search.walk.kind == "nested":
                return _walked(relations, shown, wanted, is_whole=True)
    every: Any = [bind(one, shown.views()) for one in relations]  # of none but those that are shown
    judged = [
        (one, bound)
        for one, bound in zip(relations, every, strict=True)
        if can_have_rows(one, bound, shown.dialect)
    ]
    sums: Sequence[int] = ()
    if len(judged) == 1:
        [sums] = shown.rows(count_query(*judged[0], shown.dialect))
    elif judged:
        [sums] = shown.rows(counts_query(judged, shown.dialect))
    totals = dict(zip((one.id for one, _ in judged), sums, strict=True))
    return [Counted(*numbers_of(totals.get(one.id, 0))) for one in relations]


def questions(
    together: Iterable[Sequence[Relation]],
    shown: Shown,
    limits: Callable[[Sequence[Relation]], AbstractContextManager[None]],
    located: Callable[[Answer], Finding],
    examples: int,
) -> Iterator[Question[At, Finding]]:
    """:func:`groups` as questions to one medium; ``located`` makes the finding of an answer."""

    def answer(subjects: Sequence[At]) -> Iterator[Finding | Skipped]:
        wanted = max(examples, 1)
        counted = counted_together([one.rule for one in subjects], shown, wanted)
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
