"""In which media each relation can be judged, as far as the spec says what they show."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ascend_ref.raw.entities import ENTITIES, values_shown
from ascend_spec import per_spec, recording_catalog
from ascend_spec.recording import Entity, Medium, Shower

from .rule import Relation

MEDIA: tuple[Medium, ...] = ("database", "csv", "timeline", "mindspore", "raw")


@dataclass(frozen=True, slots=True)
class Place:
    """One table, file or layer with the columns of an entity that it shows."""

    name: str
    columns: frozenset[str]
    space: str


def judged_in(relation: Relation) -> Mapping[Medium, tuple[str, ...]]:
    """By medium, what shows the entities of a relation; media that show too little are left out."""
    found: dict[Medium, tuple[str, ...]] = {}
    for medium in relation.search.media or MEDIA:
        places = [
            list(_showing(medium, name, need)) for name, need in relation.search.reads.items()
        ]
        for choice in product(*places):
            spaces = dict(zip(relation.search.reads, (one.space for one in choice), strict=True))
            if all(
                len({spaces[name] for name in group}) == 1 for group in relation.search.linked()
            ):
                found[medium] = tuple(one.name for one in choice)
                break
    return found


def _showing(medium: Medium, entity: str, need: Collection[str]) -> Iterator[Place]:
    for place in _places(medium, entity):
        if place.columns.issuperset(need):
            yield place


@per_spec
def _places(medium: Medium, name: str) -> tuple[Place, ...]:
    """What shows an entity; kinds of events of one layer together."""
    entity = recording_catalog().entities[name]
    if medium == "raw":
        if name not in ENTITIES:
            return ()
        whole = _completed(medium, entity, values_shown()[name])
        return (Place(ENTITIES[name].kinds[0], whole, medium),)
    shown: dict[str, set[str]] = {}
    for one in recording_catalog().showers:
        if one.medium == medium and name in one.entities:
            shown.setdefault(_home(one), set()).update(one.columns(name))
    return tuple(
        Place(
            home,
            _completed(medium, entity, frozenset(columns)),
            "database" if medium == "database" else home,
        )
        for home, columns in shown.items()
    )


def _home(shower: Shower) -> str:
    return shower.name.partition("/")[0] + (".csv" if shower.medium == "csv" else "")


def _completed(medium: Medium, entity: Entity, columns: frozenset[str]) -> frozenset[str]:
    """With what follows from them: the interval, numbers of rows, what the task of a row has."""
    found = set(columns)
    if entity.interval and len(found & set(entity.interval)) > 1:
        found |= set(entity.interval)
    if medium not in ("database", "raw") and ("task" in entity.identity or entity.name == "task"):
        found.add("id" if entity.name == "task" else "task")
    for link, names in entity.inherits.items():
        if medium in ("database", "raw") and link in found:
            found |= set(names)
    return frozenset(found)
