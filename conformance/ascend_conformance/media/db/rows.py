"""All row rules of one table in one pass.

A clean table costs one scan that evaluates every predicate and stops nowhere. Only when a bad
row turns up are the rules that it breaks counted, each exactly. :class:`RowCheck` holds the plain
predicate; ``fused`` is an equivalent but cheaper form of several column rules together
(:mod:`.fusion`), and the property tests hold the two to the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import apsw

from .places import Instance
from .sql import balanced, single_row

CHUNK = 300
"""Predicates per counting query; each takes two result columns, and SQLite allows 2,000."""

PROBES = 8
"""How many bad rows are looked at one by one before all rules are counted at once."""


@dataclass(frozen=True, slots=True)
class RowCheck:
    """One instance with its final predicate: SQL that is 1 for a bad row."""

    instance: Instance
    bad: str


@dataclass(frozen=True, slots=True)
class Hit:
    """How many rows break an instance, and the smallest rowid among them.

    ``guards`` holds, by ``TABLE.column``, the predicates of rows that were left out of the count.
    """

    instance: Instance
    count: int
    first_rowid: int | None
    guards: Mapping[str, Sequence[str]] = field(default_factory=dict)


def scan(
    connection: apsw.Connection, table: str, checks: Sequence[RowCheck], fused: str | None = None
) -> list[Hit]:
    """The checks that at least one row of ``main.table`` breaks, with counts.

    ``fused``: SQL over one row that is 1 exactly when at least one of the checks is broken.
    """
    suspects = list(checks)
    broken: list[RowCheck] = []
    any_bad = fused or _any(suspects)
    for _ in range(PROBES):
        row = _first_bad(connection, table, any_bad) if suspects else None
        if row is None:
            return count(connection, table, broken)
        found = _broken_at(connection, table, row, suspects)
        broken.extend(found)
        suspects = [check for check in suspects if check not in found]
        any_bad = _any(suspects) if suspects else "0"
    return count(connection, table, broken + suspects)


def count(connection: apsw.Connection, table: str, checks: Sequence[RowCheck]) -> list[Hit]:
    """The exact number of bad rows of each check; checks without a bad row are left out."""
    hits: list[Hit] = []
    for start in range(0, len(checks), CHUNK):
        chunk = checks[start : start + CHUNK]
        wanted = ", ".join(
            f"total({check.bad}), min(CASE WHEN {check.bad} THEN rowid END)" for check in chunk
        )
        values = single_row(connection, f"SELECT {wanted} FROM main.{table}")
        hits.extend(
            Hit(check.instance, int(values[2 * index]), values[2 * index + 1])
            for index, check in enumerate(chunk)
            if values[2 * index]
        )
    return hits


def _any(checks: Sequence[RowCheck]) -> str:
    return balanced("OR", [check.bad for check in checks])


def _first_bad(connection: apsw.Connection, table: str, any_bad: str) -> int | None:
    found = connection.execute(f"SELECT rowid FROM main.{table} WHERE {any_bad} LIMIT 1").fetchone()
    return None if found is None else int(found[0])


def _broken_at(
    connection: apsw.Connection, table: str, row: int, checks: Sequence[RowCheck]
) -> list[RowCheck]:
    """Which of the checks this one row breaks."""
    broken: list[RowCheck] = []
    for start in range(0, len(checks), CHUNK):
        chunk = checks[start : start + CHUNK]
        wanted = ", ".join(check.bad for check in chunk)
        values = single_row(
            connection, f"SELECT {wanted} FROM main.{table} WHERE rowid = ?", (row,)
        )
        broken.extend(check for check, value in zip(chunk, values, strict=True) if value)
    return broken
