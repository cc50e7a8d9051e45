"""Where in a sound JSON text a value stands, whatever the values are."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ascend_spec.core.pointer import keys_of

from .json_damage import scan_value, skip_space


def place_of(text: bytes, pointer: str) -> int:
    """The byte at which the value of a JSON pointer begins.

    Where the pointer leads nowhere, the place of the innermost value on its way that exists.
    Numbers are not converted, so that none is too long or too large. Of equal keys the first.
    """
    at = skip_space(text, 0)
    for wanted in keys_of(pointer):
        inside = next((place for key, place in _members(text, at) if key == wanted), None)
        if inside is None:
            break
        at = inside
    return at


def _members(text: bytes, at: int) -> Iterator[tuple[str, int]]:
    """Keys or indices of the container at ``at``, with the place of each value."""
    opened = text[at : at + 1]
    if opened not in (b"{", b"["):
        return
    at = skip_space(text, at + 1)
    index = 0
    while text[at : at + 1] not in (b"}", b"]", b""):
        key = str(index)
        if opened == b"{":
            end = scan_value(text, at).end
            if end is None:
                return
            key = json.loads(text[at:end])
            at = skip_space(text, skip_space(text, end) + 1)
        yield key, at
        end = scan_value(text, at).end
        if end is None:
            return
        at = skip_space(text, end)
        if text[at : at + 1] == b",":
            at = skip_space(text, at + 1)
        index += 1
