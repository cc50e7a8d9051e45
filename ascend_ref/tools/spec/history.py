"""What changed from revision to revision: by the bounds of the facts, or between two states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ascend_spec import Schema, catalog
from ascend_spec.core import Bounds
from ascend_spec.db.model import CARRIERS, Carrier, Column, Enum, Revision, Table

from .subject import grouped

Variant = TypeVar("Variant", bound=Bounds)
Key = TypeVar("Key")
Fact = TypeVar("Fact")
Event = tuple[str, str, str]
"""Day, place, and what happened."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: the day it was made and the first known revision that shows it."""

    date: str
    revision: Revision
    place: str
    what: str


def table_changes(table: Table) -> list[Change]:
    """The table's coming and going and that of its columns, oldest first."""
    events = list(_events(table.name, [table]))
    for name, columns in grouped(table.columns.values(), lambda column: column.name).items():
        events += _events(f"{table.name}.{name}", columns, _came, became=_difference)
    return _dated(events)


def enum_changes(enum: Enum) -> list[Change]:
    """The members that came, went or changed their name, oldest first."""
    events: list[Event] = []
    for identifier, members in grouped(enum.members, lambda member: member.id).items():
        events += _events(
            f"{enum.name} {identifier}",
            members,
            lambda new: f"{new.name} added",
            lambda old: f"{old.name} removed",
            lambda old, new: f"{old.name} became {new.name}",
        )
    return _dated(events)


def revision_changes(revision: Revision) -> list[Change]:
    """Everything that the revision shows and its predecessor did not."""
    everything = [change for table in catalog().tables.values() for change in table_changes(table)]
    everything += [change for enum in catalog().enums.values() for change in enum_changes(enum)]
    return [change for change in everything if change.revision == revision]


def _events(
    place: str,
    variants: Sequence[Variant],
    came: Callable[[Variant], str] = lambda _: "added",
    went: Callable[[Variant], str] = lambda _: "removed",
    became: Callable[[Variant, Variant], str] = lambda _, new: "changed",
) -> Iterator[Event]:
    """What happened at a place, whose variants follow each other in time."""
    starts = {one.since: one for one in variants if one.since}
    ends = {one.until: one for one in variants if one.until}
    for date in sorted(starts.keys() | ends.keys()):
        old, new = ends.get(date), starts.get(date)
        if old and new:
            yield date, place, became(old, new)
        elif new:
            yield date, place, came(new)
        elif old:
            yield date, place, went(old)


def _came(column: Column) -> str:
    return f"renamed from {column.renamed_from}" if column.renamed_from else "added"


def _difference(old: Column, new: Column) -> str:
    if old.declared != new.declared:
        return f"declared {new.declared} instead of {old.declared}"
    if old.unit != new.unit:
        return f"in {new.unit or 'no unit'} instead of {old.unit or 'no unit'}"
    return f"new meaning: {new.summary}"


def _dated(events: Iterable[Event]) -> list[Change]:
    """Each event with the first revision from its date on; those that shaped the first, dropped."""
    revisions = catalog().revisions
    found = []
    for date, place, what in events:
        later = [revision for revision in revisions if revision.date >= date]
        if later and later[0] is not revisions[0]:
            found.append(Change(date, later[0], place, what))
    return sorted(found, key=lambda change: change.date)


def revision_differences(
    old: Revision, new: Revision, carrier: Carrier | None = None
) -> list[tuple[str, str, str]]:
    """What differs between two revisions: carrier, place (a table, ``TABLE.column`` or ``ENUM id``)
    and how.
    """
    return [
        (one, place, what)
        for one in CARRIERS
        if carrier in (None, one)
        for place, what in _of_schemas(catalog().at(old.id, one), catalog().at(new.id, one))
    ]


def _of_schemas(old: Schema, new: Schema) -> Iterator[tuple[str, str]]:
    """The places that differ, and how."""
    for name, was, now in _both(old.tables, new.tables):
        if was and now:
            yield from _of_tables(was, now)
        else:
            yield name, "added" if now else "removed"
    for enum, members in new.enums.items():
        for identifier, before, after in sorted(_both(old.enums.get(enum, members), members)):
            if before != after:
                what = f"{before} became {after}" if before and after else None
                yield (
                    f"{enum} {identifier}",
                    what or (f"{after} added" if after else f"{before} removed"),
                )


def _of_tables(old: Table, new: Table) -> Iterator[tuple[str, str]]:
    renamed = {one.renamed_from: one.name for one in new.columns.values() if one.renamed_from}
    for name, was, now in _both(old.columns, new.columns):
        place = f"{new.name}.{name}"
        if was and now:
            yield from ((place, what) for what in _of_columns(was, now))
        elif now:
            yield place, _came(now) if now.renamed_from in old.columns else "added"
        elif renamed.get(name) not in new.columns or renamed[name] in old.columns:
            yield place, "removed"


def _both(
    old: Mapping[Key, Fact], new: Mapping[Key, Fact]
) -> Iterator[tuple[Key, Fact | None, Fact | None]]:
    """What stands under each key before and after."""
    for key in dict.fromkeys((*old, *new)):
        yield key, old.get(key), new.get(key)


def _of_columns(old: Column, new: Column) -> Iterator[str]:
    for name, was, now in (
        ("declared", old.declared, new.declared),
        ("unit", old.unit, new.unit),
        ("no value", _texts(old.none), _texts(new.none)),
    ):
        if was != now:
            yield f"{name} {now or 'none'} instead of {was or 'none'}"
    if old.summary != new.summary:
        yield f"new meaning: {new.summary}"


def _texts(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))
