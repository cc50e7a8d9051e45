"""What SQLite has not: functions of our own, one row of a query, long chains of conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw


def single_row(
    connection: apsw.Connection, select: str, bindings: tuple[int | str, ...] = ()
) -> tuple[Any, ...]:
    """The row of a SELECT that always has one, such as an aggregate without GROUP BY."""
    row = connection.execute(select, bindings).fetchone()
    if row is None:
        raise LookupError(f"no row from: {select[:200]}")
    return tuple(row)


def register(connection: apsw.Connection) -> None:
    """Give the connection our functions; their names carry the prefix that its lock lets pass."""
    encoding = str(connection.pragma("encoding"))

    def is_valid(*contents: apsw.SQLiteValue) -> bool:
        """Whether a BLOB is valid text. Called only for texts with a character beyond ASCII."""
        (content,) = contents
        if not isinstance(content, bytes):
            return True
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            return False
        return True

    connection.create_scalar_function("ascend_is_valid", is_valid, 1, deterministic=True)


def without(conditions: Iterable[str]) -> str:
    """SQL that holds for a row that meets none of the conditions."""
    return " AND ".join(f"({bad}) IS NOT TRUE" for bad in conditions)


def balanced(operator: str, terms: Sequence[str]) -> str:
    """The terms joined by ``AND`` or ``OR``, evaluated left to right, nested log2(n) deep.

    SQLite limits the depth of an expression to 1,000.
    """
    if len(terms) == 1:
        return f"({terms[0]})"
    half = len(terms) // 2
    left, right = balanced(operator, terms[:half]), balanced(operator, terms[half:])
    return f"({left} {operator} {right})"
