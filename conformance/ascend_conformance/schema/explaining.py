"""The changes of the schema that explain why a file of one revision is not one of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_ref.db.display import clip
from ascend_ref.states import State
from ascend_spec import Schema, catalog, current, per_spec
from ascend_spec.core import Bounds
from ascend_spec.db.model import Revision

from .change import Change, changes_between

MOST = 5
"""Changes that are named at one place."""

LONGEST = 60
"""Characters of what was and is there."""


def explaining(
    found: Revision, schema: Schema, table: str | None, column: str | None
) -> tuple[str, ...]:
    """In words the changes at a place between the revision that a file is of and that of a schema
    by which it is judged; whichever is the older one, they stand in the order of time.

    A column is also changed by changes of the enum that it refers to.
    """
    if table is None or found == schema.revision:
        return ()
    old, new = sorted((found, schema.revision), key=lambda one: one.date)
    places = [(table, None if table in catalog().enums else column)]
    places += [(enum, None) for enum in _enums(schema, table, column)]
    named = [
        words(one, next((f"on {day}" for day in _days(one, old, new)), ""))
        for one in _changes(old.id, new.id)
        if schema.carrier in one.carriers and any(one.is_about(*place) for place in places)
    ]
    return first_of(named)


@per_spec
def _changes(old: str, new: str) -> tuple[Change, ...]:
    states = (State(current(), one, "revision", one) for one in (old, new))
    return tuple(one for one in changes_between(*states) if one.family == "db")


def first_of(named: Sequence[str]) -> tuple[str, ...]:
    """The first changes in words, and how many more there are."""
    if len(named) > MOST:
        return (*named[:MOST], f"and {len(named) - MOST:,} more")
    return tuple(named)


def _enums(schema: Schema, table: str, column: str | None) -> Iterator[str]:
    known = schema.tables.get(table)
    found = known.columns.get(column or "") if known else None
    if found is not None and found.text_reference in catalog().enums:
        yield found.text_reference or ""


def words(change: Change, when: str) -> str:
    """``TABLE.column: column renamed, blockDim to blockNum, on 2026-01-28 (CHG134)``."""
    place = change.address.partition("/")[2].replace("/", " ")
    if change.place:
        place = f"{place} {change.place}"
    parts = [f"{place}: {change.named.name.replace('-', ' ')}"]
    sides = [clip(one, LONGEST) for one in (change.before, change.after) if one]
    if sides:
        parts.append(" to ".join(sides))
    if when:
        parts.append(when)
    return f"{', '.join(parts)} ({change.rule})"


def _days(change: Change, old: Revision, new: Revision) -> Iterator[str]:
    """The days between the revisions on which what changed began or ended, as its facts state."""
    for one in _facts(change):
        for day in (one.since, one.until):
            if day is not None and old.date < day <= new.date:
                yield day


def _facts(change: Change) -> Iterator[Bounds]:
    kind, _, name = change.address.partition("/")
    owner, _, part = name.partition("." if kind == "column" else "/")
    table, enum = catalog().tables.get(owner), catalog().enums.get(owner)
    if kind == "member" and enum is not None:
        members = [one for one in enum.members if str(one.id) == part]
        yield from sorted(members, key=lambda one: one.name != change.after)
    elif kind == "column" and table is not None:
        yield from (one for one in reversed(list(table.columns.values())) if one.name == part)
    elif table is not None:
        yield table
