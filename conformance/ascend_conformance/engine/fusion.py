"""The structural column rules of one table fused into one cheap boolean.

For a clean row SQLite evaluates per column one cast and one or two comparisons instead of four
separate predicates with function calls. The fused form is true exactly when one of the plain
predicates is; it only holds where the column has the affinity that the spec declares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ascend_spec.model import Column, Table

from .boolean import balanced

FUSED_RULES = frozenset({"DB201", "DB202", "DB203", "DB204", "DB208", "DB209", "DB210", "DB211"})
"""Rules whose predicates the fused form replaces on a fusible column."""


def fusible(column: Column, declared: str) -> bool:
    """Integers only, in a column of INTEGER affinity, not a rowid alias."""
    return (
        column.storage == ("integer",)
        and not column.primary_key
        and declared.upper() == "INTEGER"
        and column.declared == "INTEGER"
    )


def sound(column: Column, resolves: Callable[[Column], str | None]) -> str:
    """SQL that is 1 when the column's value breaks none of the fused rules.

    ``resolves`` gives the reference predicate for the column, or ``None`` when it has no
    reference that can be judged.
    """
    name = column.name
    parts = [f"{name} = CAST({name} AS INTEGER)"]
    bounds = _bounds(column)
    if bounds:
        parts.append(_or_sentinel(name, bounds, column))
    reference = resolves(column)
    if reference:
        parts.append(_or_sentinel(name, f"({reference})", column))
    joined = " AND ".join(parts)
    return f"({name} IS NULL OR ({joined}))" if column.nullable else f"({joined})"


def fuse(sound_columns: Sequence[str], further: Sequence[str]) -> str:
    """True when a column is unsound or one of the further predicates holds."""
    terms = list(further)
    if sound_columns:
        terms.insert(0, f"({balanced('AND', sound_columns)} IS NOT TRUE)")
    return balanced("OR", terms)


def columns_to_fuse(table: Table, declared: dict[str, str]) -> list[Column]:
    """The columns of the table, as it stands in the file, that the fused form may judge."""
    return [
        column
        for column in table.columns.values()
        if column.name in declared and fusible(column, declared[column.name])
    ]


def _bounds(column: Column) -> str:
    if column.minimum is not None and column.maximum is not None:
        return f"{column.name} BETWEEN {column.minimum} AND {column.maximum}"
    if column.minimum is not None:
        return f"{column.name} >= {column.minimum}"
    if column.maximum is not None:
        return f"{column.name} <= {column.maximum}"
    return ""


def _or_sentinel(name: str, predicate: str, column: Column) -> str:
    if not column.none:
        return predicate
    sentinels = " OR ".join(f"{name} = {value}" for value in column.none)
    return f"({predicate} OR {sentinels})"
