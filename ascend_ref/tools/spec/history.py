"""What changed when: the differences between the days on which facts begin and end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ascend_ref.states import Difference, differences
from ascend_ref.states.databases import database_of
from ascend_spec import catalog, current, per_spec
from ascend_spec.core import Bounds
from ascend_spec.db.model import Revision, Table

WORDS = {
    "added": "added",
    "returned": "added, for something else than before",
    "removed": "removed",
    "renamed": "renamed from {before}",
    "moved": "now {after}",
    "relabelled": "{before} became {after}",
    "reassigned": "{before} became {after}",
    "renumbered": "added, until then {before}",
}
"""What happened, by the event of a difference; any other is a fact."""
A_FACT = "{event} {after} instead of {before}"


@dataclass(frozen=True, slots=True)
class Event:
    """One difference: the day it was made and the first known revision that shows it."""

    date: str
    revision: Revision
    place: str
    what: str


@per_spec
def history_of(name: str) -> tuple[Event, ...]:
    """What changed in a table or enum table since the first revision, oldest first: its coming and
    going, and that of what is in it.
    """
    table, enum = catalog().tables.get(name), catalog().enums.get(name)
    if table is None:
        return ()
    dated: list[Bounds] = [table, *table.changed]
    dated += table.columns.values() if enum is None else enum.members
    dated += (one for column in table.columns.values() for one in column.changed)
    days = {day for one in dated for day in (one.since, one.until) if day}
    days |= {day for day in (table.renamed_on, *table.carriers_since.values()) if day}
    return tuple(_events(table, days))


def revision_history(revision: Revision) -> list[Event]:
    """Everything that the revision shows and its predecessor did not."""
    every = (one for name in catalog().tables for one in history_of(name))
    return [one for one in every if one.revision == revision]


def _events(table: Table, days: Iterable[str]) -> Iterator[Event]:
    first = catalog().observed[0].date
    states = [first, *sorted(day for day in days if day > first)]
    for before, day in pairwise(states):
        later = [one for one in catalog().observed if one.date >= day]
        if later:
            for place, what in dict.fromkeys(_between(table, before, day)):
                yield Event(day, later[0], place, what)


def _between(table: Table, before: str, day: str) -> Iterator[tuple[str, str]]:
    spec = current()
    for carrier in table.carriers:
        was, now = (
            database_of(spec, table.name, carrier, catalog().state(one)) for one in (before, day)
        )
        for one in differences(was, now):
            if one.event != "summary":
                yield one.element.name, _in_words(one)


def _in_words(one: Difference) -> str:
    label = one.element.label
    form = A_FACT if one.element.part else WORDS.get(one.event, A_FACT)
    if one.element.part:
        return f"{one.element.part}: {one.before or one.after}"
    text = form.format(event=one.event, before=one.before, after=one.after)
    return f"{label} {text}" if label and one.event in ("added", "removed", "renumbered") else text
