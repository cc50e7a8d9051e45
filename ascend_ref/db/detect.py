"""Which state of the schema a database was written in, and which level of the profiler it shows.

SCHEMA_VERSION does not identify one (exporters changed columns, types and enums without changing
it), so every revision is compared with what the file really holds, and the nearest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import apsw

from ascend_spec import Catalog, Schema
from ascend_spec.db.model import Carrier, Revision, Table

from .carrier import identify_carrier
from .introspect import PhysicalSchema, PhysicalTable, fold, quote_identifier
from .open import BudgetExceeded, UnreadableDatabase, budget, read_examples, row_bound

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

ENUM_ROWS: Final = 1_000
RUNTIME_CALL = "SELECT 1 AS found FROM main.CANN_API WHERE type = 5000 LIMIT 1"
NAMED_OPERATOR = (
    "SELECT 1 AS found FROM main.COMPUTE_TASK_INFO WHERE opType NOT IN "
    "(SELECT id FROM main.STRING_IDS WHERE value = 'N/A') LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A revision, and how far the file is from it (0: everything agrees)."""

    revision: Revision
    distance: float


@dataclass(frozen=True, slots=True)
class Identity:
    """What a database is.

    ``schema_version`` is the text in META_DATA; ``schema_version_consistent`` is false where
    META_DATA contradicts itself. ``candidates`` are all the revisions that were compared, nearest
    first.
    """

    carrier: Carrier
    rank_from_name: int | None
    schema_version: str | None
    schema_version_consistent: bool
    candidates: tuple[Candidate, ...]

    @property
    def revision(self) -> Revision:
        """The nearest revision."""
        return self.candidates[0].revision


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
            carrier, rank = identify_carrier(physical, connection, path, catalog)
            version, consistent = _schema_version(physical, connection)
            enums = dict(_enums(physical, connection, catalog))
    except (apsw.Error, BudgetExceeded) as error:
        raise UnreadableDatabase(path, f"{error}; expected sound tables") from None
    known = version in {revision.schema_version for revision in catalog.revisions}
    candidates = []
    for revision in catalog.revisions:
        schema = catalog.at(revision.id, carrier)
        costs = _differences(schema, version if known else None, physical, enums, catalog)
        candidates.append(Candidate(revision, sum(costs)))
    return Identity(carrier, rank, version, consistent, tuple(sorted(candidates, key=_rank)))


def _rank(candidate: Candidate) -> tuple[float, bool, str]:
    """Nearest first, then states of real exporters, then the oldest."""
    revision = candidate.revision
    return candidate.distance, revision.grade == "documented", revision.date


def _schema_version(
    physical: PhysicalSchema, connection: apsw.Connection
) -> tuple[str | None, bool]:
    """The version in META_DATA, and whether everything there agrees with it."""
    table = physical.readable("META_DATA", "name", "value")
    if table is None:
        return None, True
    rows = read_examples(
        connection,
        f"SELECT name, value FROM {quote_identifier(table.name)} "
        "WHERE name IN ('SCHEMA_VERSION', 'SCHEMA_VERSION_MAJOR', 'SCHEMA_VERSION_MINOR', "
        "'SCHEMA_VERSION_MICRO')",
        columns=2,
        rows=100,
    )
    stated = [(str(name).removeprefix("SCHEMA_VERSION"), str(value)) for name, value in rows]
    version = next((value for part, value in stated if not part), None)
    if version is None:
        return None, True
    parts = dict(zip(("_MAJOR", "_MINOR", "_MICRO"), version.split("."), strict=False))
    return version, all(value == (parts.get(part) if part else version) for part, value in stated)


def _enums(
    physical: PhysicalSchema, connection: apsw.Connection, catalog: Catalog
) -> Iterator[tuple[str, Mapping[int, str]]]:
    """The contents of the enum tables that the file has."""
    for name in catalog.enums:
        table = physical.readable(name, "id", "name")
        if table is None:
            continue
        rows = read_examples(
            connection,
            f"SELECT id, name FROM {quote_identifier(table.name)}",
            columns=2,
            rows=ENUM_ROWS,
        )
        yield name, {number: str(text) for number, text in rows if isinstance(number, int)}


def _differences(
    schema: Schema,
    version: str | None,
    physical: PhysicalSchema,
    enums: Mapping[str, Mapping[int, str]],
    catalog: Catalog,
) -> Iterator[float]:
    """The cost of every difference between the file and one revision."""
    if version not in (None, schema.revision.schema_version):
        yield STATED
    foreign = {(one.table, one.column) for one in catalog.foreign_objects}
    for table in catalog.tables.values():
        if schema.carrier not in table.carriers:
            continue
        found = physical.readable(table.name)
        expected = schema.tables.get(table.name)
        if found is not None and expected is not None:
            yield from _column_differences(table, expected, found, foreign)
        elif found is not None:
            yield VIEWER if (table.name, None) in foreign else TABLE
        elif expected is not None and expected.carriers[schema.carrier] == "always":
            yield ABSENT
    for name, members in enums.items():
        if name in schema.enums:
            yield _member_differences(schema.enums[name], members)


def _column_differences(
    every: Table,
    expected: Table,
    found: PhysicalTable,
    foreign: set[tuple[str, str | None]],
) -> Iterator[float]:
    """``every`` has the columns of all revisions; a column of none of them proves nothing."""
    known = {fold(column.name) for column in every.columns.values()}
    wanted = {fold(name) for name in expected.columns}
    for column in expected.columns.values():
        physical = found.column(column.name)
        if physical is None:
            yield COLUMN
        elif physical.declared not in (column.declared, *column.also_declared):
            yield DECLARED
    for physical in found.columns:
        name = fold(physical.name)
        if name in known and name not in wanted:
            yield VIEWER if (expected.name, physical.name) in foreign else COLUMN


def _member_differences(expected: Mapping[int, str], found: Mapping[int, str]) -> float:
    """The cost of all members of an enum; an emptied one is as good as absent."""
    if not found:
        return ABSENT
    different = sum(
        expected.get(number) != found.get(number) for number in expected.keys() | found.keys()
    )
    return min(different * MEMBER, MEMBERS_AT_MOST)


def shown_level(
    holds: Callable[[str], bool], has_rows: Callable[[str], bool], finds: Callable[[str], bool]
) -> Literal[0, 1, 2] | None:
    """The lowest level that explains the rows: runtime calls 2, operator types or PMU 1, else 0.

    holds: whether ``TABLE.column`` can be read. has_rows: whether a table has any. finds: whether a
    SELECT has a row. ``None`` where no table shows it. Source: db-schema.md 4.4 (texts not
    collected at level 0) and 7.6 (runtime rows at level 2).
    """
    if holds("CANN_API.type") and finds(RUNTIME_CALL):
        return 2
    if has_rows("TASK_PMU_INFO"):
        return 1
    needed = ("COMPUTE_TASK_INFO.opType", "STRING_IDS.id", "STRING_IDS.value")
    if has_rows("COMPUTE_TASK_INFO") and all(map(holds, needed)):
        return 1 if finds(NAMED_OPERATOR) else 0
    return None
