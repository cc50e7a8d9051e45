"""Which values a reference may take, as the cheapest exact SQL predicate.

Ids are mostly dense: when the target column holds every integer of a few ranges, membership is
a comparison with constants. Otherwise it is a look-up in the target's primary key, or in a
temporary key table built once per connection. All three give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import apsw
import pyarrow as pa

from ascend_spec import Schema

from .boxes import boxes_of
from .layout import Layout
from .places import reference_kind
from .sql import single_row

Range = tuple[int, int]
Place = tuple[str, str]
MAX_RANGES = 6


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of a target column: dense ranges, or how to look a value up.

    ``is_key``: the column is the rowid (INTEGER PRIMARY KEY), so it holds distinct integers.
    ``repeats``: whether some value stands in two rows. ``further`` values count as held too.
    """

    table: str
    column: str
    ranges: tuple[Range, ...] | None
    is_key: bool
    repeats: bool = False
    further: frozenset[int] = frozenset()


def within(value: str, ranges: Sequence[Range]) -> str:
    """SQL that is true when ``value`` (an SQL expression) is in one of the ranges."""
    terms = (
        f"{value} = {low}" if low == high else f"{value} BETWEEN {low} AND {high}"
        for low, high in ranges
    )
    return " OR ".join(terms) or "0"


def survey_key(connection: apsw.Connection, table: str, column: str) -> Target:
    """The ranges of integers that a primary key holds without a gap, if there are few."""
    count, low, high = single_row(
        connection, f"SELECT count(*), min({column}), max({column}) FROM main.{table}"
    )
    if count == 0:
        return Target(table, column, (), is_key=True)
    if high - low + 1 == count:
        return Target(table, column, ((low, high),), is_key=True)
    return Target(table, column, _key_ranges(connection, table, column), is_key=True)


def survey_column(
    connection: apsw.Connection, table: str, column: str, batches: Iterable[pa.RecordBatch]
) -> Target:
    """The same for any other column; ``batches`` stream the column once.

    Values that are no integers, or lie too far apart, leave it to SQLite to find out what is
    distinct.
    """
    boxes = boxes_of(batches)
    if boxes is not None:
        ranges = tuple(boxes.ranges())
        few = ranges if len(ranges) <= MAX_RANGES else None
        return Target(table, column, few, is_key=False, repeats=boxes.repeats)
    number = f"CASE WHEN typeof({column}) = 'integer' THEN {column} END"
    count, low, high, integers, distinct = single_row(
        connection,
        f"SELECT count({column}), min({number}), max({number}), count({number}), "
        f"count(DISTINCT {column}) FROM main.{table}",
    )
    dense = ((low, high),) if integers == count and high - low + 1 == distinct else None
    return Target(table, column, dense, is_key=False, repeats=distinct < count)


def _key_ranges(connection: apsw.Connection, table: str, column: str) -> tuple[Range, ...] | None:
    """The gap-free ranges of an integer primary key, or ``None`` when there are too many."""
    edge = (
        f"SELECT {column} FROM main.{table} a WHERE NOT EXISTS "
        f"(SELECT 1 FROM main.{table} b WHERE b.{column} = a.{column} {{step}} "
        # One below the smallest integer is a REAL, which SQLite takes for that integer again.
        f"AND b.{column} <> a.{column}) "
        f"ORDER BY {column} LIMIT {MAX_RANGES + 1}"
    )
    ends = _numbers(connection, edge.format(step="+ 1"))
    if len(ends) > MAX_RANGES:
        return None
    starts = _numbers(connection, edge.format(step="- 1"))
    return tuple(zip(starts, ends, strict=True))


def _numbers(connection: apsw.Connection, select: str) -> list[int]:
    rows: list[tuple[Any, ...]] = connection.execute(select).fetchall()
    return [int(row[0]) for row in rows]


@dataclass
class Targets:
    """Surveys each (table, column) of a database once, when it is first asked for.

    ``stream`` gives the batches of a SELECT of one column. Not for several threads at once: ask for
    everything that is needed before they start.
    """

    connection: apsw.Connection
    layout: Layout
    schema: Schema
    stream: Callable[[str], Generator[pa.RecordBatch, None, None]]
    _known: dict[Place, Target] = field(default_factory=dict)

    def __getitem__(self, place: Place) -> Target:
        if place not in self._known:
            self._known[place] = self._survey(*place)
        return self._known[place]

    def is_key(self, table: str, column: str) -> bool:
        """Whether the column stands in the file as an alias of the rowid."""
        if not self.layout.holds(f"{table}.{column}"):
            return False
        match = self.layout.tables[table]
        return match.physical.rowid_alias == match.columns[column].name

    def _survey(self, table: str, column: str) -> Target:
        if self.is_key(table, column):
            target = survey_key(self.connection, table, column)
        else:
            with closing(self.stream(f"SELECT {column} FROM {table}")) as batches:
                target = survey_column(self.connection, table, column, batches)
        if reference_kind(f"{table}.{column}") != "enum":
            return target
        # An enum member that the table lacks is reported as such, once. What HCCL reports may be a
        # member of another generation, whose number the exporter keeps (data_processor.cpp).
        known = self.schema.accepted if table.startswith("ENUM_HCCL_") else self.schema.enums
        return replace(target, further=frozenset(known.get(table, ())))


class References:
    """Predicates over the surveyed targets, for one connection.

    ``written``: those of rules, as :func:`.judge.bad_row` keeps them.
    """

    def __init__(
        self, connection: apsw.Connection, targets: Targets | Mapping[Place, Target]
    ) -> None:
        self._connection = connection
        self.targets = targets
        self.written: dict[int, tuple[object, str | None]] = {}
        self._key_tables: set[str] = set()

    def resolves(self, value: str, targets: Sequence[Place]) -> str:
        """SQL that is true when ``value`` (an SQL expression) is held by one of the targets."""
        return " OR ".join(self._one(value, self.targets[target]) for target in targets)

    def ranges(self, targets: Sequence[Place]) -> list[Range] | None:
        """Everything the targets hold as ranges; ``None`` when one of them needs a look-up."""
        found: list[Range] = []
        for place in targets:
            target = self.targets[place]
            if target.ranges is None:
                return None
            found.extend(target.ranges)
            found.extend((value, value) for value in target.further)
        return found

    def _one(self, value: str, target: Target) -> str:
        held = self._held(value, target)
        if target.further:
            return f"{held} OR {value} IN ({', '.join(map(str, sorted(target.further)))})"
        return held

    def _held(self, value: str, target: Target) -> str:
        if target.ranges is not None:
            return within(value, target.ranges)
        if target.is_key:
            return f"{value} IN (SELECT {target.column} FROM main.{target.table})"
        return f"{value} IN (SELECT id FROM temp.{self._key_table(target)})"

    def _key_table(self, target: Target) -> str:
        """A table of the values, called the same on every connection."""
        name = f"keys_{target.table}_{target.column}"
        if name not in self._key_tables:
            self._connection.execute(f"CREATE TEMP TABLE {name}(id PRIMARY KEY) WITHOUT ROWID")
            self._connection.execute(
                f"INSERT OR IGNORE INTO temp.{name} "
                f"SELECT {target.column} FROM main.{target.table} "
                f"WHERE {target.column} IS NOT NULL ORDER BY {target.column}"
            )
            self._key_tables.add(name)
        return name
