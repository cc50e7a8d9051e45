"""Single events, read again from the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..values import with_number_texts
from .tables import Place

FIRST_WINDOW = 4 << 10
LAST_WINDOW = 64 << 20

_DECODER = json.JSONDecoder()


def args_at(payloads: Sequence[memoryview], place: Place) -> Any:
    """``args`` of the event at a place, numbers as texts; ``None`` without."""
    payload = payloads[place.block]
    window = FIRST_WINDOW
    while window <= LAST_WINDOW:
        part = bytes(payload[place.offset : place.offset + window]).decode("utf-8", "ignore")
        try:
            event, _ = _DECODER.raw_decode(part)
        except ValueError:
            window *= 8
            continue
        return with_number_texts(event.get("args")) if isinstance(event, dict) else None
    return None
