"""Which readers a change of the formats hurts, part by part, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ascend_ref.states import AXES, FAMILIES, Element, State, on_one_axis
from ascend_spec.consumers import Effect, Part, Read, Reader
from ascend_spec.consumers import State as Version

from .change import Change

Way = Effect | Literal["dropped", "blank", "otherwise"]

WAYS: Mapping[Way, str] = {
    "fails": "fails",
    "complains": "reports an error and goes on without it",
    "nothing": "gives nothing",
    "dropped": "drops rows",
    "blank": "shows rows with blanks",
    "without": "goes on without it",
    "otherwise": "takes it for what it was",
}
"""What becomes of a part of a reader, gravest first."""

BREAKING = frozenset(("sql by name", "meaning"))
"""The classes of changes that reach those who ask by name, as all readers do that have a contract.
"""

LOSING = frozenset(("removed", "renamed", "called"))
"""The events after which a name is that of nothing."""

KINDS = {
    "table": "table",
    "enum": "table",
    "column": "table",
    "member": "table",
    "csv": "csv",
    "header": "csv",
    "document": "document",
    "trace-key": "timeline",
}
"""By the kind of an address what a reader asks for there."""

ENUM = frozenset(("id", "name"))
"""The columns of a table of an enum, which no state describes."""


class Place(NamedTuple):
    """What a reader asks for: a table, a file or a document; ``part``: one of its columns, headers
    or keys.
    """

    kind: str
    owner: str
    part: str = ""


Names = Mapping[tuple[str, str], frozenset[str]]
"""By kind and name of an owner the names of its parts."""


def readers_hurt(old: State, new: State, changes: Iterable[Change]) -> Iterator[tuple[str, ...]]:
    """For each change a line for each reader that it hurts, with its parts and what becomes of
    them, by the contracts of the new state and at the newest version of each reader.

    Readers are hurt where a name that they ask for is gone, and told apart by what they do then;
    where it means something else or its values are spelled otherwise, those are named that go on
    reading it. What is new hurts nobody; that somebody relies on an order is in no contract.
    """
    old, new = on_one_axis(old, new)
    before, after = _names(old), _names(new)
    readers = new.spec.consumers.readers.values()
    for change in changes:
        place, *gone = _places(change, before, after)
        lines = (_line(one, change, place, gone, after) for one in readers)
        yield tuple(filter(None, lines))


def _line(
    reader: Reader, change: Change, place: Place, gone: Sequence[Place], after: Mapping[str, Names]
) -> str:
    if change.breaks not in BREAKING:
        return ""
    version = list(reader.states())[-1]
    found: dict[tuple[Way, str], list[str]] = {}
    for part in version.parts:
        ways = set(_ways(version, part, change, place, gone, after))
        worst = next((way for way in WAYS if any(one == way for one, _ in ways)), None)
        if worst is not None:
            unless = min(without for way, without in ways if way == worst)
            found.setdefault((worst, unless), []).append(part.name)
    groups = []
    for way, unless in sorted(found, key=lambda one: (list(WAYS).index(one[0]), one[1])):
        text = WAYS[way] + (f" unless {unless} is there" if unless else "")
        names = ", ".join(found[way, unless])
        groups.append(text if len(reader.parts) == 1 else f"{names} ({text})")
    line = "; ".join(groups)
    return f"{reader.name} {version.version.words}: {line}" if line else ""


def _ways(
    version: Version,
    part: Part,
    change: Change,
    place: Place,
    gone: Sequence[Place],
    after: Mapping[str, Names],
) -> Iterator[tuple[Way, str]]:
    """What becomes of a part, and the table which keeps it from that."""
    for read in version.reads(part):
        unless = read.unless.of if read.unless else ""
        lost = [way for one in gone if (way := _missed(read, one, change, after)) is not None]
        otherwise: Iterable[Way] = ()
        if not lost and not LOSING.intersection(_events(change)):
            otherwise = _read_otherwise(read, change, place)
        yield from ((way, unless) for way in (*lost, *otherwise))
    of = f"{place.owner}.{place.part}"
    if any(of in trait.columns for trait in version.traits(part)):
        yield "otherwise", ""


def _missed(read: Read, gone: Place, change: Change, after: Mapping[str, Names]) -> Effect | None:
    """What becomes of a part that reads what is gone."""
    owners = _asked(read, gone.kind)
    if gone.owner not in owners:
        return None
    if not gone.part:
        return read.absent
    if gone.part in owners[gone.owner]:
        return read.lacking
    sets = read.either.get(gone.owner, ())
    left = [after[one].get((gone.kind, gone.owner), frozenset()) for one in _scopes(change, after)]
    if any(gone.part in one for one in sets) and any(
        not any(names.issuperset(one) for one in sets) for names in left
    ):
        return read.lacking
    return None


def _read_otherwise(read: Read, change: Change, place: Place) -> Iterator[Way]:
    """What becomes of a part that reads what is there as before and means something else."""
    owners = _asked(read, place.kind)
    if place.owner not in owners:
        return
    asked = {*owners[place.owner], *(one for of in read.either.get(place.owner, ()) for one in of)}
    if read.rows is not None and read.rows.of == place.owner:
        joins = {one.column: one.otherwise for one in read.rows.joins}
        if "reference" in change.named.event:
            otherwise = joins.get(place.part)
            if otherwise in ("dropped", "blank"):
                yield otherwise
            return
        asked.update(joins)
    if not place.part or place.part in asked:
        yield "otherwise"


def _asked(read: Read, kind: str) -> Mapping[str, tuple[str, ...]]:
    """By name of its owner what is read, of one kind."""
    if kind == "timeline":
        return dict.fromkeys(read.timelines, ())
    return {"table": read.tables, "csv": read.csv, "document": read.documents}.get(kind, {})


def _events(change: Change) -> tuple[str, ...]:
    """What happens to a name that readers ask for; that of a member is a value to them."""
    return () if change.address.startswith("member/") else change.named.event


def _places(change: Change, before: Mapping[str, Names], after: Mapping[str, Names]) -> list[Place]:
    """The place of a change, and what nothing is called any longer that readers ask for."""
    kind, _, name = change.address.partition("/")
    joint = "." if kind == "column" else "/"
    owner, _, part = (
        name.partition(joint) if kind in ("column", "member", "header") else (name, "", "")
    )
    if kind == "document":
        part = change.place.rpartition("/")[2]
    place = Place(KINDS.get(kind, kind), owner, "" if kind == "member" else part)
    if not LOSING.intersection(_events(change)):
        return [place]
    is_renamed = "removed" not in change.named.event
    if not part:
        lost = [place._replace(owner=change.before if is_renamed else owner)]
    elif kind == "document":
        keys = (of.get((place.kind, owner), frozenset()) for of in before.values())
        lost = [place._replace(part=one) for one in sorted(frozenset().union(*keys))]
    else:
        lost = [place._replace(part=change.before if is_renamed else part)]
    scopes = _scopes(change, after)
    return [
        place,
        *(
            one
            for one in lost
            if any(
                _is_there(before.get(scope, {}), one) and not _is_there(after[scope], one)
                for scope in scopes
            )
        ),
    ]


def _scopes(change: Change, after: Mapping[str, Names]) -> list[str]:
    return [one for one in change.carriers or after if one in after]


def _is_there(names: Names, place: Place) -> bool:
    parts = names.get((place.kind, place.owner))
    return parts is not None and (not place.part or place.part in parts)


def _names(state: State) -> Mapping[str, Names]:
    """By scope the names of what readers ask for."""
    families = FAMILIES if state.axis is None else AXES[state.axis].families
    found: dict[str, dict[tuple[str, str], frozenset[str]]] = {}
    for family in families:
        if family in ("db", "text", "documents"):
            for scope, root in FAMILIES[family].elements(state.spec, state.at).items():
                of = found.setdefault(scope, {})
                of.update((_owner(one), _parts(one)) for one in root.children if one.kind in KINDS)
    return found


def _owner(element: Element) -> tuple[str, str]:
    return KINDS[element.kind], element.name


def _parts(element: Element) -> frozenset[str]:
    if element.kind == "enum":
        return ENUM
    if element.kind == "document":
        return frozenset(_keys(element))
    return frozenset(
        str(one.facts.get("called") or one.key) for one in element.children if not one.part
    )


def _keys(element: Element) -> Iterator[str]:
    for one in element.children:
        yield one.key
        yield from _keys(one)
