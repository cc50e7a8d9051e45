"""The changes of the schema that explain why a file of one revision is not one of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ascend_ref.states import State
from ascend_spec import Schema, catalog, current, per_spec
from ascend_spec.core import Bounds
from ascend_spec.db.model import CARRIERS, Reading, Revision

from ..finding import FileReport
from .change import Change, changes_between

MOST = 5
"""Changes that are named at one place."""


def with_changes(report: FileReport, reading: Reading) -> FileReport:
    """The report with the changes of the schema at the place of each finding, where a file is
    judged by another revision than the one that it is of.
    """
    seen = report.seen
    carrier = next((one for one in CARRIERS if seen and one == seen.carrier), None)
    if seen is None or seen.own is None or carrier is None:
        return report
    schema, found = catalog().at(seen.revision, carrier, reading), catalog().revision(seen.own)
    findings = (
        replace(one, changes=explaining(found, schema, one.table, one.column))
        for one in report.findings
    )
    return replace(report, findings=tuple(findings))


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
        _words(one, old, new)
        for one in _changes(old.id, new.id)
        if schema.carrier in one.carriers and any(one.is_about(*place) for place in places)
    ]
    if len(named) > MOST:
        named = [*named[:MOST], f"and {len(named) - MOST:,} more"]
    return tuple(named)


@per_spec
def _changes(old: str, new: str) -> tuple[Change, ...]:
    states = (State(current(), one, "revision", one) for one in (old, new))
    return tuple(one for one in changes_between(*states) if one.family == "db")


def _enums(schema: Schema, table: str, column: str | None) -> Iterator[str]:
    known = schema.tables.get(table)
    found = known.columns.get(column or "") if known else None
    if found is not None and found.text_reference in catalog().enums:
        yield found.text_reference or ""


def _words(change: Change, old: Revision, new: Revision) -> str:
    """``TABLE.column: column renamed, blockDim to blockNum, on 2026-01-28 (CHG134)``."""
    place = change.address.partition("/")[2].replace("/", " ")
    parts = [f"{place}: {change.named.name.replace('-', ' ')}"]
    if change.before and change.after:
        parts.append(f"{change.before} to {change.after}")
    elif change.before or change.after:
        parts.append(change.after or change.before)
    day = next(_days(change, old, new), None)
    if day is not None:
        parts.append(f"on {day}")
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
