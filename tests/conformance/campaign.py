"""Profiles in which one part is dropped or renamed: a column, a key, a table.

A part is named by its file and its path there: ``op_summary: Task Type``, ``TASK.startNs``.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

RENAMED = "Renamed by the test"


class Part(NamedTuple):
    """A column, key or table: where it stands in its file. ``is_renamed``, else it is dropped."""

    file: str
    place: tuple[str, ...]
    is_renamed: bool

    def __str__(self) -> str:
        verb = "rename" if self.is_renamed else "drop"
        return f"{verb} {self.file}: {'/'.join(self.place)}"


def parts_of(file: Path) -> Iterator[Part]:
    """Everything in a file that can be dropped or renamed."""
    if file.suffix == ".csv":
        places = [(name,) for name in _rows(file)[0]]
    elif file.suffix == ".json":
        places = sorted(_key_paths(json.loads(file.read_bytes())))
    else:
        places = list(_tables_and_columns(file))
    for place in places:
        yield from (Part(file.name, place, is_renamed) for is_renamed in (False, True))


def damage(file: Path, part: Part) -> None:
    """Drop or rename the part, in every row and object that has it."""
    if file.suffix == ".csv":
        _damage_csv(file, part)
    elif file.suffix == ".json":
        document = json.loads(file.read_bytes())
        _damage_value(document, part.place, part.is_renamed)
        file.write_text(json.dumps(document), encoding="utf-8")
    else:
        _damage_database(file, part)


def _rows(file: Path) -> list[list[str]]:
    with file.open(newline="", encoding="utf-8") as source:
        return list(csv.reader(source))


def _damage_csv(file: Path, part: Part) -> None:
    rows = _rows(file)
    at = rows[0].index(part.place[0])
    if part.is_renamed:
        rows[0][at] = RENAMED
    else:
        rows = [row[:at] + row[at + 1 :] for row in rows]
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    file.write_bytes(text.getvalue().encode())


def _key_paths(value: Any, above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Paths of keys, with ``*`` for any element of a list."""
    if isinstance(value, dict):
        found = {(*above, key) for key in value}
        return found.union(*(_key_paths(inner, (*above, key)) for key, inner in value.items()))
    if isinstance(value, list):
        return set().union(*(_key_paths(inner, (*above, "*")) for inner in value))
    return set()


def _damage_value(value: Any, place: tuple[str, ...], is_renamed: bool) -> None:
    key, rest = place[0], place[1:]
    if isinstance(value, list) and key == "*":
        for inner in value:
            _damage_value(inner, rest, is_renamed)
    elif isinstance(value, dict) and key in value:
        if rest:
            _damage_value(value[key], rest, is_renamed)
        else:
            old = value.pop(key)
            if is_renamed:
                value[RENAMED] = old


def _tables_and_columns(file: Path) -> Iterator[tuple[str, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in names:
            yield (table,)
            for (column,) in connection.execute(
                "SELECT name FROM pragma_table_info(?)", (table,)
            ).fetchall():
                yield table, column


def _damage_database(file: Path, part: Part) -> None:
    table, *columns = part.place
    with closing(sqlite3.connect(file)) as connection:
        if not columns:
            verb = f"ALTER TABLE {table} RENAME TO" if part.is_renamed else "DROP TABLE"
            connection.execute(f'{verb} "{RENAMED}"' if part.is_renamed else f"{verb} {table}")
        elif part.is_renamed:
            connection.execute(f'ALTER TABLE {table} RENAME COLUMN "{columns[0]}" TO "{RENAMED}"')
        else:
            _drop_column(connection, table, columns[0])
        connection.commit()


def _drop_column(connection: sqlite3.Connection, table: str, column: str) -> None:
    """Without ALTER TABLE DROP COLUMN, which refuses keys, columns of indexes and last columns."""
    described = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    kept = [f'"{name}"' for (name,) in described if name != column]
    connection.execute(f"ALTER TABLE {table} RENAME TO old")
    listed = ", ".join(kept) or "1 AS nothing"
    connection.execute(f"CREATE TABLE {table} AS SELECT {listed} FROM old")
    connection.execute("DROP TABLE old")
