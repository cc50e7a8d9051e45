"""What the tests of the codec share: real files, one-row profiles, a look at a whole folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ascend_ref.db.detect import Identity, identify
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import open_readonly
from ascend_ref.db.writer import write_database
from ascend_spec import Schema, catalog
from ascend_spec.db.model import CARRIERS, Carrier

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"
PYTORCH_RANKS = {
    "level0_rank0/ascend_pytorch_profiler_0.db": 0,
    "level1_rank0/ascend_pytorch_profiler_0.db": 0,
    "level1_rank1/ascend_pytorch_profiler_1.db": 1,
}
ANALYSES = ("level0_rank0/analysis.db", "level1_rank0/analysis.db", "level1_rank1/analysis.db")
VIEWED = "level1_rank0/ascend_pytorch_profiler_0.db"
"""The file that a viewer has edited in place."""

STATES: tuple[tuple[str, Carrier], ...] = tuple(
    (revision.id, carrier) for revision in catalog().revisions for carrier in CARRIERS
)


def real(name: str) -> Path:
    """A real profile, or a skip where the shared folder is absent."""
    path = REAL / name
    if not path.exists():
        pytest.skip(f"needs the real profiles of {REAL}")
    return path


def one_row_each(schema: Schema) -> dict[str, dict[str, list[object]]]:
    """Every table with one row of the plainest values that its columns may hold."""
    return {
        table.name: {
            name: ["x"] if column.storage[0] == "text" else [1]
            for name, column in table.columns.items()
        }
        for table in schema.tables.values()
        if table.name not in schema.enums and table.name != "META_DATA"
    }


def write_small(path: Path, revision: str, carrier: Carrier) -> Path:
    """A database with one row in every table."""
    schema = catalog().at(revision, carrier)
    write_database(path, schema, one_row_each(schema))
    return path


def run_sql(path: Path, statements: Iterable[str]) -> Path:
    """Change a database with the standard library's SQLite."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def make(path: Path, *statements: str) -> Path:
    """A new database made by these statements."""
    return run_sql(path, statements)


def identity(path: Path) -> Identity:
    """What ``identify`` says about a file."""
    with closing(open_readonly(path)) as connection:
        return identify(describe(connection), connection, path, catalog())


def contents(folder: Path) -> Mapping[str, bytes]:
    """Every file of a folder with its bytes."""
    return {entry.name: entry.read_bytes() for entry in sorted(folder.iterdir()) if entry.is_file()}
