"""The JSON text of payloads: read without trust, written as the producer's library writes it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from json.encoder import encode_basestring
from typing import Any, NoReturn

from .grisu import float_text

MAX_VALUES = 20_000_000
"""Values of one payload that are read; a text of the consumer's 100 MiB rarely holds more."""

MAX_BYTES = 256 << 20
"""Bytes of one payload that are read; the consumer takes a text above 100 MiB for empty."""

MAX_DEPTH = 200
"""Nesting of lists and objects; documented payloads need 6."""

_LONG_INTEGER = re.compile(r"\d{4301,}")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a pair, which may lack the other half."""


class MalformedPayload(Exception):
    """A payload that is no JSON text. ``offset`` is the byte in the payload that shows it."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"byte {offset:,}: {reason}")
        self.offset = offset
        self.reason = reason


def parse(
    payload: bytes | memoryview,
    objects: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None,
) -> Any:
    """The value of a JSON payload; integers exact, other numbers as double.

    ``objects`` makes an object of its members, else of equal keys the last counts.

    Refuses what the producer's and consumer's library refuses as well: other encodings than UTF-8,
    NaN and infinities, half surrogates, numbers no double can hold. Raises
    :class:`MalformedPayload` for these, and for texts beyond :data:`MAX_BYTES`,
    :data:`MAX_VALUES` or :data:`MAX_DEPTH`.
    """
    if len(payload) > MAX_BYTES:
        raise MalformedPayload(0, f"{len(payload):,} bytes; at most {MAX_BYTES:,} are read")
    content = bytes(payload)
    text = decode(content)
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MAX_VALUES:
        raise MalformedPayload(0, f"{values:,} values; at most {MAX_VALUES:,} are read")
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=objects
        )
    except json.JSONDecodeError as error:
        raise MalformedPayload(byte_offset(text, error.pos), error.msg) from error
    except NotJson as error:
        raise MalformedPayload(_place_of(text, error.token), str(error)) from None
    except RecursionError:
        raise MalformedPayload(0, f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        found = _LONG_INTEGER.search(text)
        place = byte_offset(text, found.start()) if found else 0
        raise MalformedPayload(place, "an integer of more than 4,300 digits") from error
    _require_depth(value)
    escape = SURROGATE_ESCAPE.search(text)
    if escape and not is_encodable(value):
        place = byte_offset(text, escape.start())
        raise MalformedPayload(place, "half a surrogate pair as escape")
    return value


def decode(content: bytes) -> str:
    """UTF-8 bytes as text. Raises :class:`MalformedPayload`."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise MalformedPayload(error.start, f"byte 0x{byte:02x} is not UTF-8") from error


def byte_offset(text: str, index: int) -> int:
    """Bytes of UTF-8 before the character at ``index``."""
    return index if text.isascii() else len(text[:index].encode())


class NotJson(Exception):
    """A token that Python's reader takes and JSON does not allow."""

    def __init__(self, token: str, reason: str) -> None:
        super().__init__(reason)
        self.token = token


def _refuse(token: str) -> NoReturn:
    raise NotJson(token, f"{token} is not JSON")


def _finite(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise NotJson(token, f"{token[:40]} exceeds what a double holds")
    return value


def scanner() -> Callable[[str, int], tuple[Any, int]]:
    """A function from a text and an index to the value that begins there and the index behind it.

    It raises ``StopIteration`` where no value begins, ``json.JSONDecodeError`` where one does not
    end, and :class:`NotJson`.
    """
    decoder: Any = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once
    return scan


def _place_of(text: str, token: str) -> int:
    outside = re.compile(rf'"(?:[^"\\]|\\.)*"|({re.escape(token)})', re.DOTALL)
    place = next((one.start() for one in outside.finditer(text) if one[1]), 0)
    return byte_offset(text, place)


def _require_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return
    raise MalformedPayload(0, f"nested deeper than {MAX_DEPTH} levels")


def _containers(value: Any) -> Iterator[Any]:
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list)):
        yield from (inner for inner in inside if isinstance(inner, (dict, list)))


def is_encodable(value: Any) -> bool:
    """Whether all texts of a JSON value are UTF-8: none holds half of a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical(value: Any) -> bytes:
    """The payload as the producer writes it (bin-blocks.md 8.4).

    Keys sorted by their bytes, no spaces, UTF-8 unescaped, floats by Grisu2 and always with point
    or exponent, infinities and NaN as ``null``. Raises ``ValueError`` for half surrogates.
    """
    pieces: list[str] = []
    _write(value, pieces.append)
    return "".join(pieces).encode()


def _write(value: Any, put: Any) -> None:
    if isinstance(value, str):
        put(encode_basestring(value))
    elif value is None:
        put("null")
    elif isinstance(value, bool):
        put("true" if value else "false")
    elif isinstance(value, int):
        put(str(value))
    elif isinstance(value, float):
        put(float_text(value))
    elif isinstance(value, dict):
        separator = "{"
        for key in sorted(value):
            put(f"{separator}{encode_basestring(key)}:")
            _write(value[key], put)
            separator = ","
        put("}" if value else "{}")
    elif isinstance(value, (list, tuple)):
        separator = "["
        for item in value:
            put(separator)
            _write(item, put)
            separator = ","
        put("]" if value else "[]")
    else:
        raise TypeError(f"{type(value).__name__} has no JSON form")
