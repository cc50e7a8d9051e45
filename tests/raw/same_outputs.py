"""Two ASCEND_PROFILER_OUTPUT that must be the same, but for how calls and tasks are numbered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NUMBERS = {"connectionId": "connection", "globalTaskId": "task", "connection_id": "connection"}
"""What is numbered as the exporter likes, by column or key."""


class Differs(AssertionError):
    """Where the outputs differ."""


class _Numbers:
    """Which numbers of one output stand for which of the other."""

    def __init__(self) -> None:
        self.there: dict[tuple[str, Any], Any] = {}
        self.back: dict[tuple[str, Any], Any] = {}

    def agree(self, kind: str, one: Any, other: Any) -> bool:
        first = self.there.setdefault((kind, one), other)
        second = self.back.setdefault((kind, other), one)
        return bool(first == other and second == one)


def require_same_outputs(one: Path, other: Path) -> None:
    """Raises :class:`Differs`: every file to the byte, databases and timelines but for numbers."""
    names = sorted(path.name for path in one.iterdir())
    if names != sorted(path.name for path in other.iterdir()):
        raise Differs(f"{names} against {sorted(path.name for path in other.iterdir())}")
    numbers = _Numbers()
    for name in names:
        if name.endswith(".db"):
            _require_same_databases(one / name, other / name, numbers)
    for name in names:
        if (one / name).read_bytes() == (other / name).read_bytes():
            continue
        if name == "trace_view.json":
            _require_same_events(one / name, other / name, numbers)
        elif not name.endswith(".db"):
            raise Differs(f"{name}: {_first(one / name, other / name)}")


def _require_same_databases(one: Path, other: Path, numbers: _Numbers) -> None:
    for (table, rows, columns), (_, others, _) in zip(_tables(one), _tables(other), strict=True):
        if len(rows) != len(others):
            raise Differs(f"{one.name}: {table}: {len(rows)} rows against {len(others)}")
        for row, against in zip(rows, others, strict=True):
            for column, value, expected in zip(columns, row, against, strict=True):
                # Of PYTORCH_API it is a key of CONNECTION_IDS.
                kind = None if table == "PYTORCH_API" else NUMBERS.get(column)
                same = value == expected if kind is None else numbers.agree(kind, value, expected)
                if not same:
                    raise Differs(f"{one.name}: {table}.{column}: {row} against {against}")


def _tables(path: Path) -> Iterator[tuple[str, list[Any], list[str]]]:
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
        found = database.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")
        for (table,) in found.fetchall():
            rows = database.execute(f"SELECT * FROM {table}")
            yield table, rows.fetchall(), [one[0] for one in rows.description]
    database.close()


def _require_same_events(one: Path, other: Path, numbers: _Numbers) -> None:
    events, others = (json.loads(path.read_bytes()) for path in (one, other))
    if len(events) != len(others):
        raise Differs(f"trace_view.json: {len(events)} events against {len(others)}")
    for event, against in zip(events, others, strict=True):
        arrow = event["ph"] in "sf" and event.get("cat") != "fwdbwd"
        if not _same(event, against, numbers, arrow):
            raise Differs(f"trace_view.json: {event} against {against}")


def _same(one: dict[str, Any], other: dict[str, Any], numbers: _Numbers, arrow: bool) -> bool:
    for key, value in one.items():
        if key == "args":
            right = _same(value, other.get("args", {}), numbers, False)
        elif key in NUMBERS:
            right = numbers.agree(NUMBERS[key], value, other.get(key))
        elif arrow and key in ("id", "name"):
            right = numbers.agree(str(one.get("cat")), one["id"], other["id"])
            names = [each["name"].replace(str(each["id"]), "") for each in (one, other)]
            right &= names[0] == names[1]
        else:
            right = value == other.get(key)
        if not right:
            return False
    return one.keys() == other.keys()


def _first(one: Path, other: Path) -> str:
    lines = zip(one.read_text().splitlines(), other.read_text().splitlines(), strict=False)
    pair = next(((a, b) for a, b in lines if a != b), ("the end", "the end"))
    return f"{pair[0][:300]!r} against {pair[1][:300]!r}"
