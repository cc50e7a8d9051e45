"""Databases there and back, compared cell by cell with the standard library alone."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ascend_ref.migrate.account import Migrated
from ascend_ref.migrate.database import migrate_database
from ascend_spec import catalog

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]


def there_and_back(source: Path, revision: str, folder: Path) -> tuple[Migrated, Migrated, Path]:
    """The accounts of both ways, and the file that came back."""
    middle, back = folder / f"there_{source.name}", folder / f"back_{source.name}"
    for path in (middle, back):
        path.unlink(missing_ok=True)
    there = migrate_database(source, catalog().revision(revision), middle)
    assert there.before is not None
    again = migrate_database(middle, catalog().revision(there.before), back)
    return there, again, back


def dump(path: Path) -> dict[str, Table]:
    """Every ordinary table: its columns, and its rows in their order, with types."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        db.text_factory = bytes
        found = {}
        for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall():
            table = name.decode()
            quoted = '"' + table.replace('"', '""') + '"'
            columns = tuple(row[1].decode() for row in db.execute(f"PRAGMA table_info({quoted})"))
            rows = db.execute(f"SELECT * FROM {quoted} NOT INDEXED").fetchall()
            found[table] = columns, [tuple((type(one), one) for one in row) for row in rows]
    return found


def differing(old: Path, new: Path) -> Counter[str]:
    """By TABLE.column the cells that differ, by TABLE the rows of one that is not there."""
    before, after = dump(old), dump(new)
    found: Counter[str] = Counter()
    for name in before.keys() | after.keys():
        columns, rows = before.get(name, ((), []))
        others, cells = after.get(name, ((), []))
        if not others:
            found[name] += len(rows)
            continue
        assert (columns, len(rows)) == (others, len(cells)), name
        for one, other in zip(rows, cells, strict=True):
            found.update(
                f"{name}.{column}"
                for column, was, now in zip(columns, one, other, strict=True)
                if was != now
            )
    return Counter({place: count for place, count in found.items() if count})


def lost(accounts: Iterable[Migrated]) -> Counter[str]:
    """What accounts state as lost, by place."""
    found: Counter[str] = Counter()
    for account in accounts:
        for entry in account.entries:
            if entry.effect == "lost":
                found[entry.place] += entry.count
    return found
