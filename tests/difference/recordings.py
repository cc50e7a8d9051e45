"""Two copies of one small profile, and changes of a database that mean nothing, or something."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog

NONE = (4294967295, 4000000000, -1)
"""What stands in a database for no connection."""


def write_profile(base: Path, kinds: Sequence[str], named: str = "*_ascend_pt") -> Path:
    """The folder of rank 0 of a run whose files have rows of every kind."""
    folder = shutil.copytree(_written(tuple(kinds)), base / "run")
    return next(iter(sorted(folder.glob(named))))


@cache
def _written(kinds: tuple[str, ...]) -> Path:
    """The run, written once for all modules of a process."""
    place = TemporaryDirectory(prefix=".ascend-ref-")
    atexit.register(place.cleanup)
    run = override(preset("text-museum"), ranks=2, steps=1)
    return write_run(run, 0, Path(place.name) / "run", kinds).folder


def database_of(folder: Path) -> Path:
    return next(folder.rglob("ascend_pytorch_profiler_*.db"))


@contextmanager
def changed(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def columns_of(connection: sqlite3.Connection, kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The columns of some value types in a database."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
    for name in tables:
        known = catalog().tables[name].columns.values() if name in catalog().tables else ()
        kind = {column.name: column.type for column in known}
        for _, column, *_ in connection.execute(f'PRAGMA table_info("{name}")').fetchall():
            if kind.get(column) in kinds:
                yield name, column


def renumber(path: Path) -> None:
    """Give every row and text another number, and write all rows in another order."""
    with changed(path) as connection:
        texts = connection.execute("SELECT id FROM STRING_IDS ORDER BY value").fetchall()
        connection.execute("CREATE TEMP TABLE other (id INTEGER PRIMARY KEY, fresh INTEGER)")
        numbers = [(number, 50_000 + turn) for turn, (number,) in enumerate(texts)]
        connection.executemany("INSERT INTO other VALUES (?, ?)", numbers)
        for table, column in columns_of(connection, ["stringId"]):
            if table != "STRING_IDS":
                connection.execute(
                    f"UPDATE {table} SET {column} = (SELECT fresh FROM other WHERE id = {column}) "
                    f"WHERE {column} IN (SELECT id FROM other)"
                )
        connection.execute(
            "UPDATE STRING_IDS SET id = (SELECT fresh FROM other o WHERE o.id = STRING_IDS.id)"
        )
        for table, column in columns_of(connection, ["connectionId", "globalTaskId", "operatorId"]):
            connection.execute(
                f"UPDATE {table} SET {column} = {column} + 1000000 WHERE {column} NOT IN {NONE}"
            )
        for table, column in columns_of(connection, ["callchainId"]):
            connection.execute(f"UPDATE {table} SET {column} = 900000 - {column}")
        for table in ("TASK", "CANN_API", "PYTORCH_API", "COMMUNICATION_TASK_INFO"):
            connection.execute(
                f"CREATE TEMP TABLE kept AS SELECT * FROM {table} ORDER BY rowid DESC"
            )
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} SELECT * FROM kept")
            connection.execute("DROP TABLE kept")


def move_clock(path: Path, length: int) -> None:
    """Let all instants of a database be so many ns later."""
    with changed(path) as connection:
        for table, column in columns_of(connection, ["timestampNs", "timestampText"]):
            text = f"CAST(CAST({column} AS INTEGER) + {length} AS TEXT)"
            connection.execute(
                f"UPDATE {table} SET {column} = {text} WHERE typeof({column}) = 'text'"
            )
            connection.execute(
                f"UPDATE {table} SET {column} = {column} + {length} "
                f"WHERE typeof({column}) = 'integer'"
            )
