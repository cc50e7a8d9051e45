"""What changed from one revision to the next, derived from the bounds of the facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ascend_spec import catalog
from ascend_spec.db.model import Column, Enum, Member, Revision, Table


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: the day it was made and the first known revision that shows it."""

    date: str
    revision: Revision
    place: str
    what: str


class _Bounded(Protocol):
    @property
    def since(self) -> str | None: ...
    @property
    def until(self) -> str | None: ...


def table_changes(table: Table) -> list[Change]:
    """The table's coming and going and that of its columns, oldest first."""
    events = list(_lifetime(table.name, table))
    variants: dict[str, list[Column]] = {}
    for column in table.columns.values():
        variants.setdefault(column.name, []).append(column)
    for name, columns in variants.items():
        events += _column_events(f"{table.name}.{name}", columns)
    return _dated(catalog().revisions, events)


def enum_changes(enum: Enum) -> list[Change]:
    """The members that came, went or changed their name, oldest first."""
    by_id: dict[int, list[Member]] = {}
    for member in enum.members:
        by_id.setdefault(member.id, []).append(member)
    events: list[tuple[str, str, str]] = []
    for identifier, members in by_id.items():
        place = f"{enum.name} {identifier}"
        starts = {member.since: member.name for member in members if member.since}
        ends = {member.until: member.name for member in members if member.until}
        for date in sorted(starts.keys() | ends.keys()):
            old, new = ends.get(date), starts.get(date)
            if old and new:
                events.append((date, place, f"{old} became {new}"))
            else:
                events.append((date, place, f"{new} added" if new else f"{old} removed"))
    return _dated(catalog().revisions, events)


def revision_changes(revision: Revision) -> list[Change]:
    """Everything that the revision shows and its predecessor did not."""
    everything = [change for table in catalog().tables.values() for change in table_changes(table)]
    everything += [change for enum in catalog().enums.values() for change in enum_changes(enum)]
    return [change for change in everything if change.revision == revision]


def _lifetime(place: str, fact: _Bounded) -> Iterator[tuple[str, str, str]]:
    if fact.since:
        yield fact.since, place, "added"
    if fact.until:
        yield fact.until, place, "removed"


def _column_events(place: str, columns: Sequence[Column]) -> Iterator[tuple[str, str, str]]:
    """Events of one column name, whose variants follow each other in time."""
    starts = {column.since: column for column in columns if column.since}
    ends = {column.until: column for column in columns if column.until}
    for date in sorted(starts.keys() | ends.keys()):
        old, new = ends.get(date), starts.get(date)
        if old and new:
            yield date, place, _difference(old, new)
        elif new:
            yield date, place, f"renamed from {new.renamed_from}" if new.renamed_from else "added"
        else:
            yield date, place, "removed"


def _difference(old: Column, new: Column) -> str:
    if old.declared != new.declared:
        return f"declared {new.declared} instead of {old.declared}"
    if old.unit != new.unit:
        return f"in {new.unit or 'no unit'} instead of {old.unit or 'no unit'}"
    return f"new meaning: {new.summary}"


def _dated(revisions: Sequence[Revision], events: Iterable[tuple[str, str, str]]) -> list[Change]:
    """Each event with the first revision from its date on; those that shaped the first, dropped."""
    found = []
    for date, place, what in events:
        later = [revision for revision in revisions if revision.date >= date]
        if later and later[0] is not revisions[0]:
            found.append(Change(date, later[0], place, what))
    return sorted(found, key=lambda change: change.date)
