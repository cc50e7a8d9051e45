"""JSON values on one line, as findings show them."""

from __future__ import annotations

import json
from typing import Any

from ascend_ref.db.display import clip, printable

LOOKED_AT = 400
"""Characters looked at of a value that is shown."""


def shown(value: Any) -> str:
    """A value on one short line; of a container, how large it is."""
    if isinstance(value, dict):
        return f"an object of {_counted(len(value), 'key')}"
    if isinstance(value, list):
        return f"a list of {_counted(len(value), 'element')}"
    if isinstance(value, int) and abs(value) >= 10**LOOKED_AT:
        return "a very long integer"
    text = value[:LOOKED_AT] if isinstance(value, str) else value
    return clip(printable(json.dumps(text, ensure_ascii=False)))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
