"""Walks judged by code in one medium: as its rows stand, else in order, else by SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .binding import Unjudged, bind, multiplies
from .ordered import NotInOrder
from .rule import Relation
from .sql import Counted, count_query, counted_in, matched_query
from .views import Bound, Shown, Streaming
from .walk_rows import as_read, walk_rows
from .walks import Walked, columns_of
from .walks import walk as walk_over

FEW = 1_000
"""Rows of a link that mostly show already that there is something to judge."""


def walked_by_code(
    relations: Sequence[Relation], shown: Streaming, wanted: int, is_whole: bool = False
) -> list[Counted]:
    """The rows of walks over the same views, judged by code: as they stand, else in order."""
    nearly = [replace(one, search=one.search.without_excuse().linked_to(None)) for one in relations]
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
        return counted_in(total)
    if (relation.search.link or relation.search.excuse) and walked.count:
        return walked_by_code([_whole(relation)], shown, wanted)[0]
    if relation.search.link and not _has_linked_rows(relation, shown):
        return Counted(0, 0)
    is_of_intervals = relation.search.walk and relation.search.walk.is_of_intervals
    first = walked.first() if is_of_intervals else None
    return Counted(walked.population, walked.count, first)


def _whole(relation: Relation) -> Relation:
    """The relation with its link and its excuse as ordinary conditions."""
    return replace(relation, search=replace(relation.search, link=None, excuse=None))


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
    grows = any(map(multiplies, relations, bound))
    query = walk_rows(relations, bound, is_ordered, is_whole)
    with shown.batches(query, grows) as batches:
        return walk_over(walks, columns_of(walks), batches, wanted, is_ordered=is_ordered)


def _has_rows(shown: Shown, relation: Relation, bound: Bound) -> bool:
    """Whether there is a row to judge, which is often seen long before all of them are in order."""
    query = matched_query(relation, bound, shown.dialect, None, f"{relation.search.alias}.place")
    return any(True for _ in shown.rows(f"{query} LIMIT 1"))
