"""What differs between two states of a spec, family by family of formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ascend_spec import Spec
from ascend_spec.core.loader import reading

from .compare import Difference, differences
from .element import Element
from .state import AXES, State, on_one_axis

TYPES = "core/value_types.yaml"
GROUNDS = "core/sources.yaml"
"""Where facts come from, which is no part of the formats."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family of formats; ``title`` is what reports call it.

    ``documents``: folders and documents of the spec in which its facts stand, besides
    :data:`GROUNDS`: where none of them differs, nothing does. ``elements`` gives, by scope (a
    database, a writer; ``""`` where there are none), what a spec holds at a state of the family's
    axis, or at the newest.
    """

    title: str
    documents: tuple[str, ...]
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
    before, after = (_elements(family, state) for state in (old, new))
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


def _elements(family: Family, state: State) -> Mapping[str, Element]:
    """What a state holds. Raises ``SpecError`` naming the folder and the family for documents that
    refer to what there is not.
    """
    with reading(f"{state.spec.folder.root}: {family.title}"):
        return family.elements(state.spec, state.at)


def _is_same(family: Family, old: Spec, new: Spec) -> bool:
    """Whether no document differs on which the family rests."""
    return old is new or all(
        old.folder.contents(folder) == new.folder.contents(folder) for folder in family.documents
    )


def _databases(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .databases import databases

    return databases(spec, spec.db.observed[-1] if at is None else spec.db.state(at))


def _by_writer(
    spec: Spec, at: str | None, elements: Callable[[str], Element]
) -> dict[str, Element]:
    """Of one writer, or of all that are current."""
    if at is not None:
        return {"": elements(at)}
    return {name: elements(name) for name, one in spec.text.writers.items() if one.current}


def _texts(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .texts import csv_files

    return _by_writer(spec, at, partial(csv_files, spec))


def _timelines(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .timelines import timelines

    return _by_writer(spec, at, partial(timelines, spec))


def _documents(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .documents import documents

    return _by_writer(spec, at, partial(documents, spec))


def _blocks(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .blocks import blocks

    return {"": blocks(spec, at or spec.bin.epochs[-1].id)}


def _raw(spec: Spec, _: str | None) -> Mapping[str, Element]:
    from .raw_files import raw_files

    return {"": raw_files(spec)}


def _interface(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .interfaces import interface

    return {"": interface(spec, at or spec.api.generations[-1].id)}


def _mindspore(spec: Spec, at: str | None) -> Mapping[str, Element]:
    from .mindspore_files import mindspore_files

    return {"": mindspore_files(spec, at or list(spec.mindspore.generations)[-1])}


def _graph_engine(spec: Spec, _: str | None) -> Mapping[str, Element]:
    from .others import graph_engine

    return {"": graph_engine(spec)}


def _layouts(spec: Spec, _: str | None) -> Mapping[str, Element]:
    from .others import layouts

    return {"": layouts(spec)}


def _cluster(spec: Spec, _: str | None) -> Mapping[str, Element]:
    from .others import cluster

    return {"": cluster(spec)}


def _words(spec: Spec, _: str | None) -> Mapping[str, Element]:
    from .others import words

    return {"": words(spec)}


FAMILIES: Mapping[str, Family] = {
    "db": Family("databases", ("db", "products", TYPES), _databases),
    "text": Family("CSV files", ("text", "products", TYPES), _texts),
    "timeline": Family("timelines", ("text", "timeline", "products", TYPES), _timelines),
    "documents": Family("JSON documents", ("text", "documents", "products"), _documents),
    "bin": Family("operator files", ("bin",), _blocks),
    "raw": Family("raw files", ("raw", "layout", "products"), _raw),
    "api": Family("API messages", ("api",), _interface),
    "mindspore": Family(
        "files of MindSpore's profiler", ("mindspore", "raw", "layout"), _mindspore
    ),
    "ge": Family("graph engine", ("ge", "raw"), _graph_engine),
    "layout": Family("names of files", ("layout", "text", "timeline"), _layouts),
    "cluster": Family("analysis of all ranks", ("cluster", TYPES), _cluster),
    "core": Family("words and switches", ("core/words.yaml", "core/switches.yaml"), _words),
}
"""By the name of their folder in the spec, in the order of reports."""
