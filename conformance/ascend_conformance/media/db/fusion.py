"""The structural column rules of one table fused into one cheap boolean.

For a clean row SQLite evaluates one or two comparisons per column instead of four predicates with
function calls, and one type test for many columns together. The fused form is true whenever one of
the plain predicates is; it only holds where the column has the affinity that the spec declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ascend_spec.db.model import Column, Table

from .places import sound_storage
from .references import Range
from .sql import balanced

FUSED_RULES = frozenset({"DB201", "DB202", "DB203", "DB204", "DB208", "DB209", "DB210", "DB211"})
"""Rules whose predicates the fused form replaces on a fusible column."""

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
SUMMABLE = 1 << 48
"""Columns whose values stay below this can be added up, 2,000 of them, without an overflow."""


def fusible(column: Column, declared: str) -> bool:
    """Integers only, in a column of INTEGER affinity, not a rowid alias."""
    return (
        sound_storage(column) == {"integer"}
        and not column.primary_key
        and declared.upper() == "INTEGER"
        and column.declared == "INTEGER"
    )


def columns_to_fuse(table: Table, declared: dict[str, str]) -> list[Column]:
    """The columns of the table, as it stands in the file, that the fused form may judge."""
    return [
        column
        for column in table.columns.values()
        if column.name in declared and fusible(column, declared[column.name])
    ]


def admissible(column: Column, references: Sequence[Range] | None) -> tuple[Range, ...]:
    """The integers that break neither range nor reference rule, as ascending disjoint ranges.

    ``references``: the values that the column may refer to, ``None`` when it refers to nothing.
    """
    low = LOWEST if column.minimum is None else int(column.minimum)
    high = HIGHEST if column.maximum is None else int(column.maximum)
    allowed = [(LOWEST, HIGHEST)] if references is None else references
    inside = [(max(low, first), min(high, last)) for first, last in allowed]
    sentinels = [(value, value) for value in column.none]
    return merged([*(one for one in inside if one[0] <= one[1]), *sentinels])


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same integers in as few ascending ranges as possible."""
    result: list[Range] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def sound(columns: Sequence[tuple[Column, tuple[Range, ...], str | None]]) -> list[str]:
    """SQL terms that are all 1 when no value of these columns breaks a fused rule.

    Each column comes with its admissible ranges and, where its reference cannot be expressed in
    ranges, a further predicate.
    """
    terms: list[str] = []
    summed: list[str] = []
    for column, ranges, further in columns:
        name = column.name
        parts = [text for text in (_within(name, ranges), further) if text]
        if not column.nullable and ranges and -SUMMABLE < ranges[0][0] <= ranges[-1][1] < SUMMABLE:
            summed.append(name)
        else:
            parts.insert(0, f"{name} = CAST({name} AS INTEGER)")
        joined = " AND ".join(f"({part})" for part in parts)
        terms.append(f"({name} IS NULL OR ({joined}))" if column.nullable else joined)
    if summed:
        # One REAL among the operands makes the sum REAL, one NULL makes it NULL.
        terms.append(f"typeof({' + '.join(summed)}) = 'integer'")
    return terms


def fuse(sound_terms: Sequence[str], further: Sequence[str]) -> str:
    """True when a column is unsound or one of the further predicates holds."""
    terms = list(further)
    if sound_terms:
        terms.insert(0, f"({balanced('AND', sound_terms)} IS NOT TRUE)")
    return balanced("OR", terms)


def _within(name: str, ranges: tuple[Range, ...]) -> str:
    if ranges == ((LOWEST, HIGHEST),):
        return ""
    if not ranges:
        return "0"
    return " OR ".join(_between(name, low, high) for low, high in ranges)


def _between(name: str, low: int, high: int) -> str:
    if low == high:
        return f"{name} = {low}"
    if high == HIGHEST:
        return f"{name} >= {low}"
    if low == LOWEST:
        return f"{name} <= {high}"
    return f"{name} BETWEEN {low} AND {high}"
