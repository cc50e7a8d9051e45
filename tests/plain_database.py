"""A database as the standard library reads it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ascend_spec import Schema


def read_database(path: Path, schema: Schema) -> dict[str, dict[str, list[Any]]]:
    """The tables and columns of a schema that a file has, in rowid order."""
    found: dict[str, dict[str, list[Any]]] = {}
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        for table, described in schema.tables.items():
            present = {row[1].lower() for row in db.execute(f'PRAGMA table_info("{table}")')}
            columns = [name for name in described.columns if name.lower() in present]
            if columns:
                listed = ", ".join(f'"{name}"' for name in columns)
                rows = db.execute(f'SELECT {listed} FROM "{table}" NOT INDEXED').fetchall()
                found[table] = {
                    name: [row[place] for row in rows] for place, name in enumerate(columns)
                }
    return found
