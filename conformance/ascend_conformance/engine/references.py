"""Which values a reference may take, as the cheapest exact SQL predicate.

Ids are mostly dense: when the target column holds every integer of a few ranges, membership is
a comparison with constants. Otherwise it is a look-up in the target's primary key, or in a
temporary key table built once per connection. All three give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from .sql import single_row

MAX_RANGES = 6


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of a target column: dense ranges, or how to look a value up."""

    table: str
    column: str
    ranges: tuple[tuple[int, int], ...] | None
    is_key: bool
    further: frozenset[int] = frozenset()


def survey(
    connection: apsw.Connection,
    table: str,
    column: str,
    is_key: bool,
    further: frozenset[int] = frozenset(),
) -> Target:
    """The ranges of integers that the column holds without a gap, if there are few.

    ``is_key``: the column is the rowid (INTEGER PRIMARY KEY), so it holds distinct integers.
    ``further`` values are held too, whatever the column says.
    """
    if is_key:
        count, low, high = single_row(
            connection, f"SELECT count(*), min({column}), max({column}) FROM main.{table}"
        )
        distinct, plain = count, True
    else:
        count, distinct, low, high, strange = single_row(
            connection,
            f"SELECT count(*), count(DISTINCT {column}), min({column}), max({column}), "
            f"count({column}) - total({column} = CAST({column} AS INTEGER)) FROM main.{table}",
        )
        plain = not strange and (count == 0 or (isinstance(low, int) and isinstance(high, int)))
    if count == 0 or low is None:
        return Target(table, column, (), is_key, further)
    if plain and high - low + 1 == distinct:
        return Target(table, column, ((low, high),), is_key, further)
    if is_key:
        return Target(table, column, _ranges(connection, table, column), is_key, further)
    return Target(table, column, None, is_key, further)


def _ranges(
    connection: apsw.Connection, table: str, column: str
) -> tuple[tuple[int, int], ...] | None:
    """The gap-free ranges of an integer primary key, or ``None`` when there are too many."""
    edge = (
        f"SELECT {column} FROM main.{table} a WHERE NOT EXISTS "
        f"(SELECT 1 FROM main.{table} b WHERE b.{column} = a.{column} {{step}}) "
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


class References:
    """Predicates over the surveyed targets, for one connection."""

    def __init__(self, connection: apsw.Connection, targets: dict[tuple[str, str], Target]) -> None:
        self._connection = connection
        self.targets = targets
        self._key_tables: dict[tuple[str, str], str] = {}

    def resolves(self, value: str, targets: Sequence[tuple[str, str]]) -> str:
        """SQL that is true when ``value`` (an SQL expression) is held by one of the targets."""
        return " OR ".join(self._one(value, self.targets[target]) for target in targets)

    def ranges(self, targets: Sequence[tuple[str, str]]) -> list[tuple[int, int]] | None:
        """Everything the targets hold as ranges; ``None`` when one of them needs a look-up."""
        found: list[tuple[int, int]] = []
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
            if not target.ranges:
                return "0"
            return " OR ".join(f"{value} BETWEEN {low} AND {high}" for low, high in target.ranges)
        if target.is_key:
            return f"{value} IN (SELECT {target.column} FROM main.{target.table})"
        return f"{value} IN (SELECT id FROM temp.{self._key_table(target)})"

    def _key_table(self, target: Target) -> str:
        place = (target.table, target.column)
        if place not in self._key_tables:
            name = f"keys_{len(self._key_tables)}"
            self._connection.execute(f"CREATE TEMP TABLE {name}(id PRIMARY KEY) WITHOUT ROWID")
            self._connection.execute(
                f"INSERT OR IGNORE INTO temp.{name} "
                f"SELECT {target.column} FROM main.{target.table} "
                f"WHERE {target.column} IS NOT NULL ORDER BY {target.column}"
            )
            self._key_tables[place] = name
        return self._key_tables[place]
