"""Which state of the schema a database was written in.

SCHEMA_VERSION does not identify one (exporters changed columns, types and enums without changing
it), so every revision is compared with what the file really holds, and the nearest is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import apsw

from ascend_spec import Catalog, Schema
from ascend_spec.db.model import Carrier, Revision, Table

from .carrier import NotAProfile, identify_carrier
from .introspect import PhysicalSchema, PhysicalTable, fold, quote_identifier
from .open import BudgetExceeded, UnreadableDatabase, budget, read_examples, row_bound

__all__ = ["Candidate", "Identity", "NotAProfile", "identify"]

# Costs of a difference. Any one of them leaves the choice alone as long as other evidence stands.
COLUMN: Final = 1.0
TABLE: Final = 2.0
DECLARED: Final = 1.0
MEMBER: Final = 1.0
MEMBERS_AT_MOST: Final = 8.0
"""All members of one enum together: a spoilt enum table must not outweigh everything else."""
VIEWER: Final = 0.75
"""An object that a viewer may have added is explained, but less well than by the schema itself."""
STATED: Final = 10.0
"""Another SCHEMA_VERSION than the file states: more than any few faults, less than a wrong text."""
ABSENT: Final = 0.5
"""A table that always exists, missing: less than VIEWER, so that one lost enum decides nothing."""

_Difference: TypeAlias = tuple[float, str | None]
"""A cost and, unless a viewer explains the difference, what it is."""

ENUM_ROWS: Final = 1_000
EVIDENCE: Final = 3
"""Differences named for each rejected revision."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A revision, how far the file is from it (0: everything agrees), and in what."""

    revision: Revision
    distance: float
    mismatches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """What a database is.

    ``schema_version`` is the text in META_DATA, ``schema_version_conflict`` says what is wrong with
    it; ``schema_version_consistent`` is false where META_DATA contradicts itself. ``reason`` states
    in a sentence why this revision was chosen, ``evidence`` what rules out each other one,
    ``mismatches`` what the chosen one does not explain. ``candidates`` are all the revisions that
    were compared, nearest first.
    """

    carrier: Carrier
    carrier_reason: str
    carrier_conflict: str | None
    rank_from_name: int | None
    schema_version: str | None
    schema_version_consistent: bool
    schema_version_conflict: str | None
    revision: Revision
    reason: str
    evidence: tuple[str, ...]
    mismatches: tuple[str, ...]
    candidates: tuple[Candidate, ...]


def identify(
    physical: PhysicalSchema, connection: apsw.Connection, path: Path, catalog: Catalog
) -> Identity:
    """Identify a database that ``open_readonly`` opened.

    Raises :class:`NotAProfile` for a database that is none of the spec's, and its base class
    ``UnreadableDatabase`` where the rows that identify it are damaged. The nearest revision
    wins; the stated SCHEMA_VERSION weighs much, yet not more than everything else together. Among
    equally near ones the oldest is taken, as every later one claims more than the file shows.
    """
    try:
        with budget(connection, 64 * row_bound(connection) + 10_000_000):
            origin = identify_carrier(physical, connection, path, catalog)
            version, conflict = _schema_version(physical, connection)
            enums = dict(_enums(physical, connection, catalog))
    except (apsw.Error, BudgetExceeded) as error:
        raise UnreadableDatabase(path, f"{error}; expected sound tables") from None
    known = version in {revision.schema_version for revision in catalog.revisions}
    ranked = sorted(
        (
            _compare(
                catalog.at(revision.id, origin.carrier),
                version if known else None,
                physical,
                enums,
                catalog,
            )
            for revision in catalog.revisions
        ),
        key=_rank,
    )
    best = ranked[0]
    consistent = conflict is None
    if consistent and version is not None and version != best.revision.schema_version:
        conflict = (
            f"SCHEMA_VERSION is {version}, but tables, columns and enums are those of "
            f"{best.revision.id}"
            if known
            else f"SCHEMA_VERSION {version} is not known to the spec"
        )
    return Identity(
        carrier=origin.carrier,
        carrier_reason=origin.reason,
        carrier_conflict=origin.conflict,
        rank_from_name=origin.rank_from_name,
        schema_version=version,
        schema_version_consistent=consistent,
        schema_version_conflict=conflict,
        revision=best.revision,
        reason=_reason(version if known else None, best, ranked),
        evidence=tuple(_evidence(best, ranked)),
        mismatches=best.mismatches,
        candidates=tuple(ranked),
    )


def _rank(candidate: Candidate) -> tuple[float, bool, str]:
    """Nearest first, then states of real exporters, then the oldest."""
    revision = candidate.revision
    return candidate.distance, revision.grade == "documented", revision.date


def _schema_version(
    physical: PhysicalSchema, connection: apsw.Connection
) -> tuple[str | None, str | None]:
    """The version in META_DATA, and what is wrong with it."""
    table = physical.readable("META_DATA")
    if table is None or table.column("name") is None or table.column("value") is None:
        return None, None
    rows = read_examples(
        connection,
        f"SELECT name, value FROM {quote_identifier(table.name)} "
        "WHERE name IN ('SCHEMA_VERSION', 'SCHEMA_VERSION_MAJOR', 'SCHEMA_VERSION_MINOR', "
        "'SCHEMA_VERSION_MICRO')",
        columns=2,
        rows=100,
    )
    stated: dict[str, list[str]] = {}
    for name, value in rows:
        stated.setdefault(str(name).removeprefix("SCHEMA_VERSION"), []).append(str(value))
    versions = stated.pop("", [])
    if not versions:
        return None, None
    version = versions[0]
    if len(set(versions)) > 1:
        return version, f"SCHEMA_VERSION stands {len(versions)} times: {', '.join(versions[:5])}"
    parts = dict(zip(("_MAJOR", "_MINOR", "_MICRO"), version.split("."), strict=False))
    for part, values in stated.items():
        if set(values) != {parts.get(part)}:
            return version, f"SCHEMA_VERSION is {version}, SCHEMA_VERSION{part} {values[0]}"
    return version, None


def _enums(
    physical: PhysicalSchema, connection: apsw.Connection, catalog: Catalog
) -> Iterator[tuple[str, Mapping[int, str]]]:
    """The contents of the enum tables that the file has."""
    for name in catalog.enums:
        table = physical.readable(name)
        if table is None or table.column("id") is None or table.column("name") is None:
            continue
        rows = read_examples(
            connection,
            f"SELECT id, name FROM {quote_identifier(table.name)}",
            columns=2,
            rows=ENUM_ROWS,
        )
        yield name, {number: str(text) for number, text in rows if isinstance(number, int)}


def _compare(
    schema: Schema,
    version: str | None,
    physical: PhysicalSchema,
    enums: Mapping[str, Mapping[int, str]],
    catalog: Catalog,
) -> Candidate:
    """Add up every difference between the file and one revision."""
    differences: list[_Difference] = []
    own = schema.revision.schema_version
    if version not in (None, own):
        differences.append((STATED, f"SCHEMA_VERSION is {version}, here {own}"))
    foreign = {(one.table, one.column) for one in catalog.foreign_objects}
    for table in catalog.tables.values():
        if schema.carrier not in table.carriers:
            continue
        found = physical.readable(table.name)
        expected = schema.tables.get(table.name)
        if found is not None and expected is not None:
            differences += _compare_columns(table, expected, found, foreign)
        elif found is not None:
            differences.append(
                (VIEWER, None)
                if (table.name, None) in foreign
                else (TABLE, f"table {table.name} is not of this revision")
            )
        elif expected is not None and expected.carriers[schema.carrier] == "always":
            differences.append((ABSENT, f"table {table.name} is missing"))
    for name, members in enums.items():
        if name in schema.enums:
            differences += _compare_members(name, schema.enums[name], members)
    return Candidate(
        schema.revision,
        sum(cost for cost, _ in differences),
        tuple(text for _, text in differences if text is not None),
    )


def _compare_columns(
    every: Table,
    expected: Table,
    found: PhysicalTable,
    foreign: set[tuple[str, str | None]],
) -> Iterator[_Difference]:
    """``every`` has the columns of all revisions; a column of none of them proves nothing."""
    known = {fold(column.name) for column in every.columns.values()}
    wanted = {fold(name) for name in expected.columns}
    for column in expected.columns.values():
        physical = found.column(column.name)
        place = f"{expected.name}.{column.name}"
        if physical is None:
            yield COLUMN, f"{place} is missing"
        elif physical.declared not in (column.declared, *column.also_declared):
            yield DECLARED, f"{place} is declared {physical.declared}, here {column.declared}"
    for physical in found.columns:
        name = fold(physical.name)
        if name in known and name not in wanted:
            if (expected.name, physical.name) in foreign:
                yield VIEWER, None
            else:
                yield COLUMN, f"{expected.name}.{physical.name} is not of this revision"


def _compare_members(
    name: str, expected: Mapping[int, str], found: Mapping[int, str]
) -> Iterator[_Difference]:
    different = [
        number
        for number in sorted(expected.keys() | found.keys())
        if expected.get(number) != found.get(number)
    ]
    cost = min(MEMBER, MEMBERS_AT_MOST / len(different)) if different else 0.0
    if not found:
        cost = ABSENT / len(different)  # emptied: as good as absent
    for number in different:
        yield (
            cost,
            f"{name} {number} is {found.get(number, 'missing')}, "
            f"here {expected.get(number, 'missing')}",
        )


def _reason(version: str | None, best: Candidate, ranked: Sequence[Candidate]) -> str:
    scope = f"SCHEMA_VERSION {version}" if version else "no known SCHEMA_VERSION"
    equal = [one.revision.id for one in ranked[1:] if one.distance == best.distance]
    if not best.distance:
        fit = "agrees in every table, column and enum member"
    elif not best.mismatches:
        fit = "agrees in everything but what a viewer added"
    else:
        fit = f"is the nearest, with {_count(len(best.mismatches), 'difference')}"
    if not equal:
        return f"{scope}; {best.revision.id} {fit}"
    return (
        f"{scope}; {best.revision.id} {fit}; {', '.join(equal)} would do as well, "
        "the oldest is taken"
    )


def _evidence(best: Candidate, ranked: Sequence[Candidate]) -> Iterator[str]:
    own = set(best.mismatches)
    for one in ranked[1:]:
        against = [text for text in one.mismatches if text not in own]
        if against and one.distance > best.distance:
            more = len(against) - EVIDENCE
            rest = f" and {_count(more, 'more difference')}" if more > 0 else ""
            yield f"not {one.revision.id}: {'; '.join(against[:EVIDENCE])}{rest}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
