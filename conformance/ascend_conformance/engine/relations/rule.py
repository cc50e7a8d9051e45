"""The relations, loaded from ``rules/relations/*.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ascend_spec import per_spec, recording_catalog
from ascend_spec.recording import Medium

from ...ruleset import Rule, rules_in

WalkKind = Literal["inside", "disjoint", "nested", "repeated", "rising"]

_SOURCE = re.compile(
    r"\b(?:FROM|JOIN)\s+([a-z_]+)\s+([a-z][a-z0-9_]*)\b|^\s*([a-z_]+)\s+([a-z]\w*)\b"
)
_VALUE = re.compile(r"\b([a-z][a-z0-9_]*)\.([a-z_][a-z0-9_]*)\b")
_TEXT = re.compile(r"'[^']*'")


@dataclass(frozen=True, slots=True)
class Walk:
    """A relation over rows in order of their start, within each value of ``by``.

    ``inside``: each interval of the first alias lies in one of ``outer``. ``disjoint``: no two
    intersect. ``nested``: two that intersect lie one inside the other. ``repeated``: no two are
    equal in start, end and the columns ``alike``. ``rising``: in the ``order`` of some columns no
    ``value`` is less than the one before it, or what the row before has ``than``, nor equal where
    ``strict``, unless it falls by half of ``wrap`` or more; where there is a ``most``, none is
    greater by more than that, and less than half of ``wrap``. ``of``: which rows of ``outer``
    count; in ``rising``, which rows are judged, while the others are only compared with.
    """

    kind: WalkKind
    by: tuple[str, ...] = ()
    outer: str | None = None
    of: str | None = None
    alike: tuple[str, ...] = ()
    value: str = ""
    than: str = ""
    order: tuple[str, ...] = ()
    strict: bool = False
    wrap: int | None = None
    most: int | None = None

    @property
    def is_of_intervals(self) -> bool:
        """Whether it reads starts and ends."""
        return self.kind != "rising"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a row of an entity, stated on its columns.

    ``alias``: the entity's alias in the relation; the first row of the relation's population for
    which ``if_`` holds is changed. ``set``: values by column, ``None`` for no value, or
    ``{value: alias.column, plus: n}`` for one of the same population row, or ``{query: SELECT}``.
    ``add``: amounts by column. ``shift``: ns by which start and end move, or ``{to: alias.column,
    plus: n}`` for where the start goes. ``swap``: two columns. ``drop``, ``repeat``: the whole row.
    """

    alias: str
    if_: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    shift: int | Mapping[str, Any] = 0
    swap: tuple[str, str] | None = None
    drop: bool = False
    repeat: bool = False


@dataclass(frozen=True)
class RelationSearch:
    """Where a relation looks among the entities of the recording.

    ``at``: the value that a finding names, as ``alias.column``; its row is the one at fault.
    ``joined``: aliases of entities and how they are joined; ``where``: which rows are judged, the
    population; ``bad``: what must not hold. ``walk``: instead of ``bad``. ``link``: a value that
    has to be one of a SELECT besides, which is part of ``where``. ``excuse``: a value that must be
    none of a SELECT besides, which is part of ``where``; what rises with the rows that it leaves
    out rises without them, so that it is asked where something falls. ``{slack}`` in them is the
    tolerance of the times of what shows them. ``derived``: aliases of subqueries with the
    entity whose rows and columns they pass on. ``media``: the only ones, where others show some
    rows only. ``edits`` break it, those of each case in ``legal`` must not. ``along``: the value
    along which a finding says which part of the population is bad.
    """

    at: str = ""
    joined: str = ""
    where: str | None = None
    link: tuple[str, str] | None = None
    excuse: tuple[str, str] | None = None
    bad: str | None = None
    walk: Walk | None = None
    derived: Mapping[str, str] = field(default_factory=dict)
    media: tuple[Medium, ...] = ()
    edits: tuple[Edit, ...] = ()
    legal: tuple[tuple[Edit, ...], ...] = ()
    along: str | None = None

    @property
    def own_walk(self) -> Walk:
        """The walk; ``ValueError`` where it has none."""
        if self.walk is None:
            raise ValueError(f"{self.at}: no walk")
        return self.walk

    def linked_to(self, rows: int | None) -> RelationSearch:
        """The search with a link to the first so many rows only, and without one for none."""
        if self.link is None:
            return self
        value, select = self.link
        where = (self.where or "").removesuffix(f" AND {value} IN ({select})")
        if rows is not None:
            where += f" AND {value} IN (SELECT * FROM ({select} LIMIT {rows}))"
        return replace(self, where=where, link=None)

    def without_excuse(self) -> RelationSearch:
        """The search of more rows."""
        if self.excuse is None:
            return self
        return replace(
            self, where=(self.where or "").removesuffix(_none_of(*self.excuse)), excuse=None
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """Every piece of its SQL."""
        outer = f"FROM {self.walk.outer}" if self.walk and self.walk.outer else None
        more = (self.walk.of, self.walk.value, self.walk.than) if self.walk else ()
        return tuple(one for one in (self.joined, outer, self.where, self.bad, *more) if one)

    @property
    def is_of_rows(self) -> bool:
        """Whether it is about single rows of one entity."""
        parts = (self.joined, self.where or "", self.bad or "")
        return self.bad is not None and len(self.aliases) == 1 and "SELECT" not in " ".join(parts)

    @property
    def is_of_joined_rows(self) -> bool:
        """Whether it is about rows of entities as they are, or joined where both have a row."""
        derived = re.search(r"\b(?:SELECT|LEFT)\b", self.joined)
        return self.bad is not None and derived is None

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Entities by alias."""
        return {**self.derived, **self.aliases_in(self.texts)}

    def aliases_in(self, texts: Iterable[str]) -> Mapping[str, str]:
        """Entities by alias, as some SQL names them."""
        return {alias: entity for text in texts for alias, entity in _sources_in(text)}

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """The columns that it reads, by alias."""
        found = self._values_in((*self.texts, self.at, self.along or ""), self.aliases)
        if self.walk:
            outer = self.walk.outer.split()[1:] if self.walk.outer else []
            for alias in (self.alias, *outer):
                found[alias] |= {*self.walk.by, *self.walk.alike, *self.walk.order}
                found[alias] |= {"start", "end"} if self.walk.is_of_intervals else set()
        return {alias: frozenset(columns) for alias, columns in found.items()}

    @cached_property
    def reads(self) -> Mapping[str, frozenset[str]]:
        """The columns that it reads, by entity."""
        return self.read_by(())

    def read_by(self, texts: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """The columns that it and further SQL over its entities read, by entity."""
        further = tuple(texts)
        aliases = {**self.aliases, **self.aliases_in(further)}
        found: dict[str, set[str]] = {}
        for values in (self.values, self._values_in(further, aliases)):
            for alias, columns in values.items():
                found.setdefault(aliases[alias], set()).update(columns)
        return {entity: frozenset(columns) for entity, columns in found.items()}

    def _values_in(self, texts: Iterable[str], aliases: Mapping[str, str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {alias: set() for alias in aliases}
        for text in texts:
            for alias, column in _VALUE.findall(_TEXT.sub("''", text)):
                if (
                    alias in found
                    and column in recording_catalog().entities[aliases[alias]].columns
                ):
                    found[alias].add(column)
        return found

    @property
    def alias(self) -> str:
        """The alias whose row is at fault."""
        return self.at.partition(".")[0]

    def linked(self) -> Iterator[frozenset[str]]:
        """Entities of which numbers of one medium are read together."""
        own = {
            entity
            for entity, columns in self.reads.items()
            if columns & (set(recording_catalog().entities[entity].identity))
        }
        if len(own) > 1:
            yield frozenset(own)


@per_spec
def _sources_in(text: str) -> tuple[tuple[str, str], ...]:
    """The aliases in a piece of SQL, each with its entity."""
    found = []
    for match in _SOURCE.finditer(text):
        entity, alias = (one for one in match.groups() if one is not None)
        if entity in recording_catalog().entities:
            found.append((alias, entity))
    return tuple(found)


Relation: TypeAlias = Rule[RelationSearch]


@per_spec
def load_relations() -> Mapping[str, Relation]:
    """Every relation by id, in the order of the ids."""
    return rules_in("relation", relation_search, folder="relations")


def relation_search(row: Mapping[str, Any]) -> RelationSearch:
    """What a relation's document says of where to look."""
    walk, link, excuse = row.get("walk"), row.get("link"), row.get("excuse")
    where = row.get("where")
    if link:
        where = f"{where} AND {link['value']} IN ({link['to']})"
    if excuse:
        where = f"{where}{_none_of(excuse['value'], excuse['of'])}"
    return RelationSearch(
        at=row["at"],
        joined=row["from"],
        where=where,
        link=(link["value"], link["to"]) if link else None,
        excuse=(excuse["value"], excuse["of"]) if excuse else None,
        bad=row.get("bad"),
        derived=row.get("as", {}),
        media=tuple(row.get("media", ())),
        walk=_walk(walk) if walk else None,
        edits=tuple(map(_edit, row["break"])),
        legal=tuple(
            tuple(map(_edit, one if isinstance(one, list) else [one]))
            for one in row.get("keep", ())
        ),
        along=row.get("loss", {}).get("along"),
    )


def _none_of(value: str, select: str) -> str:
    return f" AND {value} NOT IN ({select})"


def _walk(row: Mapping[str, Any]) -> Walk:
    lists = {name: tuple(row.get(name, ())) for name in ("by", "alike", "order")}
    return Walk(**{**row, **lists})


def _edit(row: Mapping[str, Any]) -> Edit:
    swap = row.get("swap")
    return Edit(
        row["of"],
        row.get("if"),
        row.get("set", {}),
        row.get("add", {}),
        row.get("shift", 0),
        (swap[0], swap[1]) if swap else None,
        row.get("drop", False),
        row.get("repeat", False),
    )
