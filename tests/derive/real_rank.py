"""Real databases of one rank as the arrays that the derivations take."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"


class Rank:
    """The two databases of a folder."""

    def __init__(self, folder: Path) -> None:
        (self._profiler,) = folder.glob("ascend_pytorch_profiler_*.db")
        self._analysis = folder / "analysis.db"

    def rows(self, query: str, *, analysis: bool = False) -> list[tuple[Any, ...]]:
        path = self._analysis if analysis else self._profiler
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as found:
            return found.execute(query).fetchall()

    def arrays(self, query: str) -> list[np.ndarray]:
        """Integer columns of a query."""
        rows = self.rows(query)
        columns = len(rows[0]) if rows else query.partition("FROM")[0].count(",") + 1
        return list(np.array(rows, np.int64).reshape(len(rows), columns).T)


@cache
def real_rank(name: str) -> Rank:
    """A rank of the real data; skips the test where they are not there."""
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"needs the real profiles of {DATA}")
    return Rank(folder)
