"""What differs between two states of a spec, family by family of formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ascend_spec import Spec

from .compare import Difference, differences
from .element import Element
from .state import AXES, State, on_one_axis

SHARED = ("core", "products")
"""Folders of the spec on which every family rests."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family of formats; ``title`` is what reports call it.

    ``folders``: of the spec, what its facts stand in besides :data:`SHARED`. ``elements`` gives, by
    scope (a database, a writer; ``""`` where there are none), what a spec holds at a state of the
    family's axis, or at the newest.
    """

    title: str
    folders: tuple[str, ...]
    elements: Callable[[Spec, str | None], Mapping[str, Element]]


@dataclass(frozen=True, slots=True)
class Found:
    """A difference, the family that it is in, and the scopes in which it is the same."""

    family: str
    difference: Difference
    scopes: tuple[str, ...]


def differences_between(old: State, new: State) -> list[Found]:
    """What differs between two states, family by family.

    Raises ``StateError`` for states of two axes, ``SpecError`` for documents that cannot be used.
    """
    old, new = on_one_axis(old, new)
    names = FAMILIES if old.axis is None else AXES[old.axis].families
    return [found for name in names for found in _of_family(name, old, new)]


def size_of(state: State, carrier: str) -> int:
    """How many tables a database holds at a state."""
    roots = FAMILIES["db"].elements(state.spec, state.at)
    return sum(one.kind in ("table", "enum") for one in roots[carrier].children)


def _of_family(name: str, old: State, new: State) -> Iterator[Found]:
    family = FAMILIES[name]
    if old.at == new.at and _is_same(family, old.spec, new.spec):
        return
    before, after = family.elements(old.spec, old.at), family.elements(new.spec, new.at)
    found: dict[tuple[str, ...], tuple[Difference, list[str]]] = {}
    for scope in dict.fromkeys((*after, *before)):
        was, now = (
            Element("", "", "", children=(root,) if root else ())
            for root in (before.get(scope), after.get(scope))
        )
        for one in differences(was, now):
            where = one.element.address, one.element.place
            what = one.event, one.how, one.before, one.after
            found.setdefault((*where, *what), (one, []))[1].append(scope)
    yield from (Found(name, one, tuple(filter(None, scopes))) for one, scopes in found.values())


def _is_same(family: Family, old: Spec, new: Spec) -> bool:
    """Whether no document differs on which the family rests."""
    return old is new or all(
        old.folder.contents(folder) == new.folder.contents(folder)
        for folder in (*SHARED, *family.folders)
    )


def _databases(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .databases import databases

    return databases(spec, spec.db.observed[-1] if at is None else spec.db.state(at))


FAMILIES: Mapping[str, Family] = {
    "db": Family("databases", ("db",), _databases),
}
"""By the name of their folder in the spec, in the order of reports."""
