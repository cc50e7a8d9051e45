"""Checks of the contents of enum tables against the members of the revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..places import Instance
from ..rules import DbRule
from ..session import Session
from . import Check, Fault


def _members_missing(session: Session, rule: DbRule, places: Sequence[Instance]) -> Iterator[Fault]:
    """One fault per enum table, with the ids that are absent."""
    missing: dict[str, list[int]] = {}
    for instance in places:
        held = session.enum_rows.get(instance.table or "")
        identifier = int(instance.place["id"])
        if held and identifier not in held:
            missing.setdefault(instance.table or "", []).append(identifier)
    for table, identifiers in missing.items():
        names = ", ".join(
            f"{identifier} {session.schema.enums[table][identifier]}"
            for identifier in identifiers[:5]
        )
        yield Fault(
            rule,
            table,
            "id",
            f"members that {table} lacks: {len(identifiers)} ({names})",
            f"{len(session.schema.enums[table])} members",
            count=len(identifiers),
            context={"first_id": identifiers[0]},
        )


def _members_unknown(
    session: Session, rule: DbRule, _places: Sequence[Instance]
) -> Iterator[Fault]:
    for table, held in session.enum_rows.items():
        accepted = session.schema.accepted.get(table, {})
        unknown = [identifier for identifier in held if identifier not in accepted]
        if unknown:
            names = ", ".join(f"{identifier} {held[identifier]}" for identifier in unknown[:5])
            what = f"members of {table} that the spec does not know: {len(unknown)} ({names})"
            yield Fault(rule, table, "id", what, count=len(unknown), first_rowid=unknown[0])


def _members_renamed(
    session: Session, rule: DbRule, _places: Sequence[Instance]
) -> Iterator[Fault]:
    for table, held in session.enum_rows.items():
        accepted = session.schema.accepted.get(table, {})
        wrong = [
            identifier
            for identifier, name in held.items()
            if identifier in accepted and name is not None and name not in accepted[identifier]
        ]
        if wrong:
            first = wrong[0]
            expected = " or ".join(sorted(accepted[first]))
            what = f"members of {table} under a wrong name: {len(wrong)} ({first} is {held[first]})"
            yield Fault(
                rule, table, "name", what, f"{first} {expected}", len(wrong), first_rowid=first
            )


def _members_of_another_revision(
    session: Session, rule: DbRule, _places: Sequence[Instance]
) -> Iterator[Fault]:
    for table, held in session.enum_rows.items():
        accepted = session.schema.accepted.get(table, {})
        expected = session.schema.enums.get(table, {})
        other = [
            identifier
            for identifier, name in held.items()
            if name in accepted.get(identifier, ()) and expected.get(identifier) != name
        ]
        if other:
            first = other[0]
            here = session.schema.revision.id
            what = (
                f"members of {table} that revision {here} does not have: {len(other)} "
                f"({first} {held[first]})"
            )
            wanted = expected.get(first)
            yield Fault(
                rule,
                table,
                "id",
                what,
                f"{first} {wanted}" if wanted else f"no member {first}",
                count=len(other),
                first_rowid=first,
                erratum=_erratum(session, table, first, str(held[first])),
            )


def _erratum(session: Session, table: str, identifier: int, name: str) -> str | None:
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
