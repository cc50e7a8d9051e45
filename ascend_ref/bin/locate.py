"""Where in a JSON payload a value stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ascend_spec.core.pointer import keys_of

from .canonical import byte_offset, decode, scanner

_SPACE = re.compile(r"[ \t\n\r]*")
_SCAN = scanner()


def locate(payload: bytes | memoryview, pointer: str) -> int:
    """The byte in the payload at which the value of a JSON pointer begins.

    The payload must be valid JSON. Where the pointer leads nowhere, the place of the innermost
    value on its way that exists.
    """
    text = decode(bytes(payload))
    at = _skip(text, 0)
    for wanted in keys_of(pointer):
        inside = next((place for key, place in _members(text, at) if key == wanted), None)
        if inside is None:
            break
        at = inside
    return byte_offset(text, at)


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Keys or indices of the container at ``at``, with the place of each value."""
    opened = text[at : at + 1]
    if opened not in ("{", "["):
        return
    at = _skip(text, at + 1)
    index = 0
    while text[at : at + 1] not in ("}", "]", ""):
        key = str(index)
        if opened == "{":
            key, at = _SCAN(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield key, at
        _, at = _SCAN(text, at)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        index += 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
