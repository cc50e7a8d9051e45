"""What the framework did in a capture, in order, with texts in place of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_ref.capture import Capture

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
