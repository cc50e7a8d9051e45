"""A database in memory that reads deliverables of text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


@contextmanager
def connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own, which uses one core and shows nothing on the terminal."""
    import duckdb  # slow to import, and no database or help needs it

    with closing(duckdb.connect(config={"threads": 1})) as connection:
        connection.execute("SET enable_progress_bar = false")
        yield connection
