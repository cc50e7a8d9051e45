"""Asking relations of one medium: bind, ask, and state what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...finding import Finding, Scalar, Skipped
from ...loss import window_of
from ..asking import At, Question
from .binding import Unjudged, bind, has_one_partner
from .rule import Relation
from .sql import (
    Counted,
    can_have_rows,
    count_query,
    counted_in,
    counts_query,
    is_of_texts,
    rows_query,
)
from .views import MIXED, Bound, Shown, Streaming, View
from .walk_rows import is_joined_walk, walk_rows
from .walking import walked_by_code


@dataclass(frozen=True, slots=True)
class Answer:
    """What a relation found: judged rows, bad ones, and the places of the first of them.

    ``population``: of a relation with a link that holds, the rows that may have one.
    ``view`` is that of the rows at fault; ``examples`` hold the values that were read of them, and
    ``query`` finds all of them where there are any.
    ``window``: which part of the population is bad, as :func:`..loss.window_of` says it.
    """

    relation: Relation
    view: View
    population: int
    count: int = 0
    places: tuple[int, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    query: str = ""
    window: Mapping[str, Scalar] = field(default_factory=dict)


NOTHING_TO_JUDGE = "nothing to judge: no row that it is about"


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
    if not counted.count:
        return Answer(relation, view, counted.population)
    is_nested = relation.search.walk is not None and relation.search.walk.kind == "nested"
    if is_nested:
        query, bad = walk_rows([relation], [bound], is_ordered=True), ""
    else:
        query = rows_query(relation, bound, shown.dialect)
        bad = f"SELECT * FROM ({query}) WHERE bad"
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
        _window(relation, query, shown),
    )


def _window(relation: Relation, query: str, shown: Shown) -> Mapping[str, Scalar]:
    """Which part of the judged rows is bad, where the relation names a value along which."""
    if relation.search.along is None:
        return {}
    value = f"v_{relation.search.along.partition('.')[2]}"
    sides = ", ".join(
        f"{of}(CASE WHEN {bad} THEN {value} END)"
        for bad in ("bad", "NOT bad")
        for of in ("min", "max")
    )
    [(first, last, *good)] = shown.values(f"SELECT {sides} FROM ({query})", 4, 1)
    # Cells that other rules condemn are among them where only relations were asked for.
    if not all(isinstance(one, int) for one in (first, last, *filter(None, good))):
        return {}
    return window_of((first, last), (good[0], good[1]))


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
    while joins and not relation.search.where and has_one_partner(joins[-1], bound):
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
            return walked_by_code(relations, shown, wanted)
        except MIXED:
            if len(relations) > 1:
                return [
                    one for alone in relations for one in counted_together([alone], shown, wanted)
                ]
            if relations[0].search.walk.kind == "nested":
                return walked_by_code(relations, shown, wanted, is_whole=True)
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
    return [counted_in(totals.get(one.id, 0)) for one in relations]


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
