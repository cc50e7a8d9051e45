"""Rows of a table some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator

ROWS_AT_ONCE = 1 << 16


def batches(rows: int) -> Iterator[slice]:
    """Slices that together hold all rows."""
    for start in range(0, rows, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, rows))
