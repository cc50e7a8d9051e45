"""Bulk load: ``write_database`` against the standard library's ``executemany``.

Both write the same tables from the same columns into a new file, with the same PRAGMAs, in one
transaction, without indexes. The index build is the same work for both and is measured apart.

    python benchmarks/db_load.py [ROWS]
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import workload

from ascend_ref.db.ddl import create_indexes, create_table
from ascend_ref.db.writer import LOAD_PRAGMAS, write_database
from ascend_spec import Schema

Tables = Mapping[str, Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class LoadResult:
    """Shortest wall times in seconds; ``rows`` counts the rows of all tables."""

    rows: int
    executemany_seconds: float
    ours_seconds: float
    index_seconds: float

    @property
    def ratio(self) -> float:
        """How many times faster than ``executemany`` the codec loads."""
        return self.executemany_seconds / self.ours_seconds


def compare_load(folder: Path, schema: Schema, tables: Tables, repeats: int = 2) -> LoadResult:
    """Load ``tables`` both ways, alternately, into files of ``folder`` that are removed again."""
    plain, ours = folder / "load_executemany.db", folder / "load_ours.db"
    times: list[tuple[float, float, float]] = []
    try:
        for _ in range(repeats):
            plain.unlink(missing_ok=True)
            started = time.perf_counter()
            load_with_executemany(plain, schema, tables)
            loaded = time.perf_counter()
            write_database(ours, schema, tables, indexes=False)
            written = time.perf_counter()
            assert _same_rows(plain, ours, tables)
            times.append((loaded - started, written - loaded, build_indexes(ours, schema, tables)))
    finally:
        plain.unlink(missing_ok=True)
        ours.unlink(missing_ok=True)
    executemany, codec, index = (min(column) for column in zip(*times, strict=True))
    rows = sum(len(next(iter(columns.values()))) for columns in tables.values())
    return LoadResult(rows, executemany, codec, index)


def load_with_executemany(path: Path, schema: Schema, tables: Tables) -> None:
    """The usual way, done well: one transaction, ``tolist`` for each column, no index."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in LOAD_PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        for name, columns in tables.items():
            connection.execute(create_table(schema.tables[name], schema))
            marks = ",".join("?" for _ in columns)
            order = schema.tables[name].columns
            rows = zip(*(columns[column].tolist() for column in order), strict=True)
            connection.executemany(f"INSERT INTO {name} VALUES({marks})", rows)
        connection.execute("COMMIT")


def build_indexes(path: Path, schema: Schema, tables: Tables) -> float:
    """Seconds to build the indexes of the loaded tables."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in LOAD_PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        started = time.perf_counter()
        for name in tables:
            for statement in create_indexes(schema.tables[name]):
                connection.execute(statement)
        return time.perf_counter() - started


def _same_rows(left: Path, right: Path, tables: Tables) -> bool:
    """Whether both files hold the same number of rows and the same column sums."""
    return _sums(left, tables) == _sums(right, tables)


def _sums(path: Path, tables: Tables) -> list[tuple[float, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        totals = {
            name: ", ".join(f"total({column})" for column in columns)
            for name, columns in tables.items()
        }
        return [
            connection.execute(f"SELECT count(*), {columns} FROM {name}").fetchone()
            for name, columns in totals.items()
        ]


def main(rows: int) -> None:
    """Print the figures for ``rows`` tasks."""
    with tempfile.TemporaryDirectory() as folder:
        found = compare_load(Path(folder), workload.schema(), workload.tables(rows))
    print(f"{found.rows:,} rows, seconds:")
    print(f"  executemany     {found.executemany_seconds:8.2f}")
    print(f"  write_database  {found.ours_seconds:8.2f}")
    print(f"  ratio           {found.ratio:8.2f}")
    print(f"  indexes, apart  {found.index_seconds:8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
