"""The views of one medium that a relation is asked on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ascend_spec import recording_catalog

from .rule import Relation
from .views import Bound, View, Views, inherited, owners, showing


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


def bind(relation: Relation, every: Sequence[View]) -> Bound | Unjudged:
    """The most precise views of one medium that show what a relation reads.

    Looked for once in the same :class:`.Views`.
    """
    if not isinstance(every, Views):
        return _bind(relation, every)
    if id(relation) not in every.bound:
        every.bound[id(relation)] = relation, _bind(relation, every)
    found: Bound | Unjudged = every.bound[id(relation)][1]
    return found


def _bind(relation: Relation, every: Sequence[View]) -> Bound | Unjudged:
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
        bound = Bound(zip(candidates, choice, strict=True))
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


def multiplies(relation: Relation, bound: Bound) -> bool:
    """Whether a row can be joined with many: those of one value of a column that is no key."""
    return not all(
        has_one_partner(joined, bound)
        for text in relation.search.texts
        for joined in re.split(r"\bJOIN ", text)[1:]
    )


def has_one_partner(joined: str, bound: Bound) -> bool:
    """Whether a row finds one row at most in what it is joined with, by a key of it."""
    found = _JOINED.match(joined)
    view = bound.get(found["entity"]) if found else None
    return found is not None and view is not None and view.is_key(found["column"])
