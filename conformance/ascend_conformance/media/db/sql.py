"""Asking for exactly one row."""

from __future__ import annotations

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
