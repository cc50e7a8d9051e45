"""Checks of the contents of enum tables against the members of the revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_ref.db.display import first_of

from ..session import Session
from . import Check, Fault, Places

LISTED = 5
"""Members that a message names."""


def _members_missing(session: Session, places: Places) -> Iterator[Fault]:
    """One fault per enum table, with the ids that are absent."""
    missing: dict[str, list[int]] = {}
    for instance in places:
        held = session.enum_rows.get(instance.table or "")
        identifier = int(instance.place["id"])
        if held and identifier not in held:
            missing.setdefault(instance.table or "", []).append(identifier)
    for table, absent in missing.items():
        members = session.schema.enums[table]
        names = first_of([f"{identifier} {members[identifier]}" for identifier in absent], LISTED)
        what = f"members that {table} lacks: {len(absent)} ({names})"
        expected, context = f"{len(members)} members", {"first_id": absent[0]}
        yield Fault(what, table, "id", expected, len(absent), context=context)


def _members_unknown(session: Session, _places: Places) -> Iterator[Fault]:
    for table, held in session.enum_rows.items():
        accepted = session.schema.accepted.get(table, {})
        unknown = [identifier for identifier in held if identifier not in accepted]
        if unknown:
            names = first_of([f"{identifier} {held[identifier]}" for identifier in unknown], LISTED)
            what = f"members of {table} that the spec does not know: {len(unknown)} ({names})"
            yield Fault(what, table, "id", count=len(unknown), first_rowid=unknown[0])


def _members_renamed(session: Session, _places: Places) -> Iterator[Fault]:
    for table, held in session.enum_rows.items():
        accepted = session.schema.accepted.get(table, {})
        wrong = [
            identifier
            for identifier, name in held.items()
            if identifier in accepted and name is not None and name not in accepted[identifier]
        ]
        if wrong:
            first = wrong[0]
            what = f"members of {table} under a wrong name: {len(wrong)} ({first} is {held[first]})"
            expected = f"{first} {' or '.join(sorted(accepted[first]))}"
            yield Fault(what, table, "name", expected, len(wrong), first)


def _members_of_another_revision(session: Session, _places: Places) -> Iterator[Fault]:
    here = session.schema.revision.id
    for table, held in session.enum_rows.items():
        accepted = session.schema.accepted.get(table, {})
        members = session.schema.enums.get(table, {})
        other = [
            identifier
            for identifier, name in held.items()
            if name in accepted.get(identifier, ()) and members.get(identifier) != name
        ]
        if other:
            first = other[0]
            what = (
                f"members of {table} that revision {here} does not have: {len(other)} "
                f"({first} {held[first]})"
            )
            expected = f"{first} {members[first]}" if first in members else f"no member {first}"
            erratum = _erratum(session, table, first, held[first])
            yield Fault(what, table, "id", expected, len(other), first, erratum)


def _erratum(session: Session, table: str, identifier: int, name: str | None) -> str | None:
    for member in session.catalog.enums[table].members:
        if (member.id, member.name) == (identifier, name) and member.errata:
            return member.errata[0]
    return None


CHECKS: Mapping[str, Check] = {
    "enum-member-missing": _members_missing,
    "enum-member-unknown": _members_unknown,
    "enum-member-renamed": _members_renamed,
    "enum-member-of-another-revision": _members_of_another_revision,
}
