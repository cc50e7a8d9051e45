"""What the framework did in a capture, in order, with texts in place of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ascend_ref.capture import Capture
from ascend_ref.raw.framework.read import read_profile

TEXTS = ("name", "data_types", "shapes", "frame")


def plain_framework(capture: Capture) -> Mapping[str, list[dict[str, Any]]]:
    """Activities, frames and steps row by row, and links with their calls."""
    texts = capture.texts.all
    found = {}
    for table in ("activities", "frames", "steps"):
        columns = {
            name: [texts[one] if one >= 0 else None for one in values.tolist()]
            if name in TEXTS
            else values.tolist()
            for name, values in getattr(capture, table).columns()
        }
        rows = zip(*columns.values(), strict=True)
        found[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    calls = capture.calls
    columns = (calls.connection, calls.start, calls.end, calls.thread)
    of = {one: rest for one, *rest in zip(*(each.tolist() for each in columns), strict=True)}
    links = zip(capture.links.activity.tolist(), capture.links.connection.tolist(), strict=True)
    found["links"] = [{"activity": row, "call": of[one]} for row, one in links]
    return found


def read(profile: Path) -> tuple[dict[str, list[dict[str, object]]], list[str], Capture]:
    """The tables of a profile, the lines on its damage without its path, and its capture."""
    found = read_profile(profile)
    lines = [str(one).removeprefix(f"{profile}/") for one in found.damage]
    return dict(plain_framework(found.capture)), lines, found.capture
