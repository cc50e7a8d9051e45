"""Which state of the schema a database was written in, and which level of the profiler it shows.

SCHEMA_VERSION does not identify one (exporters changed columns, types and enums without changing
it), so every revision is compared with what the file really holds, and the nearest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import apsw

from ascend_spec import Catalog
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
    costs = [
        list(history.costs(physical.readable(name)))
        for name, history in _histories(catalog, carrier).items()
    ]
    costs.append(list(_version_costs(version, catalog)))
    costs += (list(_member_costs(name, held, carrier, catalog)) for name, held in enums.items())
    candidates = map(Candidate, catalog.revisions, map(sum, zip(*costs, strict=True)))
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


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """A table as one or more revisions have it; two states are compared by identity.

    ``columns``: folded names, each with the types that it may be declared with.
    """

    columns: Mapping[str, tuple[str, ...]]
    is_always_there: bool


@dataclass(frozen=True, slots=True)
class _History:
    """A table over all revisions, oldest first; ``None`` for those that do not have it.

    ``known``: the folded columns of all of them; a column of none of them proves nothing.
    ``added``: columns that a viewer may have added. ``unexpected``: the cost of the whole table.
    """

    states: tuple[_State | None, ...]
    known: frozenset[str]
    added: frozenset[str]
    unexpected: float

    def costs(self, found: PhysicalTable | None) -> Iterator[float]:
        """The cost of what stands in a file, by each revision."""
        known = {state: self._cost(state, found) for state in set(self.states)}
        return (known[state] for state in self.states)

    def _cost(self, state: _State | None, found: PhysicalTable | None) -> float:
        if found is None:
            return ABSENT if state is not None and state.is_always_there else 0.0
        return self.unexpected if state is None else sum(self._differences(state, found))

    def _differences(self, state: _State, found: PhysicalTable) -> Iterator[float]:
        for name, declared in state.columns.items():
            physical = found.by_folded_name.get(name)
            if physical is None:
                yield COLUMN
            elif physical.declared not in declared:
                yield DECLARED
        for name, physical in found.by_folded_name.items():
            if name in self.known and name not in state.columns:
                yield VIEWER if physical.name in self.added else COLUMN


@lru_cache(maxsize=16)
def _histories(catalog: Catalog, carrier: Carrier) -> Mapping[str, _History]:
    """The tables of a carrier by name."""
    foreign = {(one.table, one.column) for one in catalog.foreign_objects}
    schemas = [catalog.at(revision.id, carrier) for revision in catalog.revisions]
    return {
        table.name: _History(
            tuple(_states([schema.tables.get(table.name) for schema in schemas], carrier)),
            frozenset(fold(column.name) for column in table.columns.values()),
            frozenset(column for name, column in foreign if name == table.name and column),
            VIEWER if (table.name, None) in foreign else TABLE,
        )
        for table in catalog.tables.values()
        if carrier in table.carriers
    }


def _states(tables: Iterable[Table | None], carrier: Carrier) -> Iterator[_State | None]:
    """What is compared of a table at each revision; one state for revisions that are alike."""
    distinct: list[_State] = []
    for table in tables:
        if table is None:
            yield None
            continue
        columns = {
            fold(one.name): (one.declared, *one.also_declared) for one in table.columns.values()
        }
        is_always_there = table.carriers[carrier] == "always"
        for state in distinct:
            if (state.columns, state.is_always_there) == (columns, is_always_there):
                yield state
                break
        else:
            distinct.append(_State(columns, is_always_there))
            yield distinct[-1]


def _version_costs(version: str | None, catalog: Catalog) -> Iterator[float]:
    """The cost of the stated version, by each revision; one that none of them has costs nothing."""
    known = version in {revision.schema_version for revision in catalog.revisions}
    for revision in catalog.revisions:
        yield STATED if known and version != revision.schema_version else 0.0


def _member_costs(
    name: str, held: Mapping[int, str], carrier: Carrier, catalog: Catalog
) -> Iterator[float]:
    """The cost of the members of an enum, by each revision."""
    before: tuple[Mapping[int, str], float] | None = None
    for revision in catalog.revisions:
        members = catalog.at(revision.id, carrier).enums.get(name)
        if members is None:
            yield 0.0
            continue
        if before is None or before[0] != members:
            before = members, _member_differences(members, held)
        yield before[1]


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
