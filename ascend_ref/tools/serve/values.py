"""How the viewer takes JSON values, also those of another kind than it expects.

Two readings of a payload: the details and the timeline are read with every number as the text it
is written with, the hot spots and stall reasons with numbers as numbers (bin-blocks.md 3).
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

from ascend_ref.bin import canonical, parse

INT32 = range(-(1 << 31), 1 << 31)
INT64 = range(-(1 << 63), 1 << 63)
UINT64 = range(1 << 64)
FLOAT32_MAX = 3.4028234663852886e38

_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_LONGEST_INTEGER = 20


def parse_texts(payload: bytes | memoryview) -> Any:
    """A JSON payload with each number as its text. Raises :class:`.MalformedPayload`."""
    parse(payload)
    return json.loads(bytes(payload), parse_int=str, parse_float=str)


def number_text(value: Any) -> str:
    """The text of a parsed number as the exporter writes it."""
    return str(value) if isinstance(value, int) else canonical(value).decode()


def with_number_texts(value: Any) -> Any:
    """A parsed value with each number as text."""
    if isinstance(value, dict):
        return {key: with_number_texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_number_texts(inner) for inner in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return value


def member(value: Any, key: str) -> Any:
    """A member of an object; ``None`` where it is missing or this is no object."""
    return value.get(key) if isinstance(value, dict) else None


def items(value: Any) -> list[Any]:
    """The items of a list; none where this is no list."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """A text; empty for whatever else, also for truth values."""
    return value if isinstance(value, str) else ""


def integer(value: Any) -> int:
    """The number that a text begins with; 0 without one and beyond 64 bits."""
    found = _INTEGER.match(text(value))
    if not found or len(found[1].lstrip("+-").lstrip("0")) > _LONGEST_INTEGER:
        return 0
    number = int(found[1])
    return number if number in INT64 else 0


def real(value: Any) -> float:
    """The number that a text begins with, as one of 32 bits; 0.0 without one and out of range."""
    found = NUMBER.match(text(value))
    return float32(float(found[1])) if found else 0.0


def int32(value: Any) -> int:
    """A JSON integer of 32 bits; 0 for whatever else."""
    return value if is_integer(value) else 0


def is_integer(value: Any, bounds: range = INT32) -> bool:
    """Whether this is a JSON integer within bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and value in bounds


def decimal32(value: Any) -> float:
    """A JSON number with a decimal point or exponent, as one of 32 bits; 0.0 for whatever else."""
    return float32(value) if isinstance(value, float) else 0.0


def number32(value: Any) -> float:
    """Any JSON number as one of 32 bits; 0.0 for whatever else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float32(value) if abs(value) <= FLOAT32_MAX else 0.0


def float32(value: float) -> float:
    """The nearest number of 32 bits; 0.0 where none is near."""
    if not abs(value) <= FLOAT32_MAX:
        return 0.0
    nearest: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return nearest
