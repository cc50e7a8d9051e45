"""What changed from revision to revision: by the bounds of the facts, or between two states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ascend_spec import Schema, catalog
from ascend_spec.core import Bounds
from ascend_spec.db.model import CARRIERS, Carrier, Column, Enum, Revision, Table

from .subject import grouped

Variant = TypeVar("Variant", bound=Bounds)
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


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: ``place`` is a table, ``TABLE.column`` or ``ENUM id``."""

    carrier: Carrier
    place: str
    what: str


def revision_differences(
    old: Revision, new: Revision, carrier: Carrier | None = None
) -> list[Difference]:
    """What the second revision has that the first has not, and the other way round."""
    return [
        difference
        for one in CARRIERS
        if carrier in (None, one)
        for difference in _of_schemas(catalog().at(old.id, one), catalog().at(new.id, one))
    ]


def _of_schemas(old: Schema, new: Schema) -> Iterator[Difference]:
    carrier = new.carrier
    for name in dict.fromkeys((*old.tables, *new.tables)):
        if name not in new.tables:
            yield Difference(carrier, name, "removed")
        elif name not in old.tables:
            yield Difference(carrier, name, "added")
        else:
            yield from _of_tables(carrier, old.tables[name], new.tables[name])
    for name in (one for one in new.enums if one in old.enums):
        before, after = old.enums[name], new.enums[name]
        for identifier in sorted(before.keys() | after.keys()):
            place = f"{name} {identifier}"
            was, now = before.get(identifier), after.get(identifier)
            if was is None:
                yield Difference(carrier, place, f"{now} added")
            elif now is None:
                yield Difference(carrier, place, f"{was} removed")
            elif was != now:
                yield Difference(carrier, place, f"{was} became {now}")


def _of_tables(carrier: Carrier, old: Table, new: Table) -> Iterator[Difference]:
    renamed = {one.renamed_from: one.name for one in new.columns.values() if one.renamed_from}
    for name in dict.fromkeys((*old.columns, *new.columns)):
        place = f"{new.name}.{name}"
        was, now = old.columns.get(name), new.columns.get(name)
        if now is None:
            if renamed.get(name) not in new.columns or renamed[name] in old.columns:
                yield Difference(carrier, place, "removed")
        elif was is None:
            source = now.renamed_from if now.renamed_from in old.columns else None
            yield Difference(carrier, place, f"renamed from {source}" if source else "added")
        else:
            yield from (Difference(carrier, place, what) for what in _of_columns(was, now))


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
