"""Where in a sound JSON text a value stands, whatever the values are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ascend_spec.core.pointer import keys_of

from .json_damage import skip_space

# Numbers stay texts, so that none is too long or too large.
_DECODER: Any = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


def place_of(text: bytes | memoryview, pointer: str) -> int:
    """The byte at which the value of a JSON pointer begins.

    Where the pointer leads nowhere, the place of the innermost value on its way that exists. Of
    equal keys the first.
    """
    content = bytes(text)
    # One character for each byte: the structure of JSON is ASCII.
    characters = content.decode("latin-1")
    at = skip_space(content, 0)
    for wanted in keys_of(pointer):
        members = _members(content, characters, at)
        inside = next((place for key, place in members if key == wanted), None)
        if inside is None:
            break
        at = inside
    return at


def _members(content: bytes, characters: str, at: int) -> Iterator[tuple[str, int]]:
    """Keys or indices of the container at ``at``, with the place of each value."""
    opened = content[at : at + 1]
    if opened not in (b"{", b"["):
        return
    at = skip_space(content, at + 1)
    index = 0
    while content[at : at + 1] not in (b"}", b"]", b""):
        try:
            key = str(index)
            if opened == b"{":
                _, end = _DECODER.scan_once(characters, at)
                key = json.loads(content[at:end])
                at = skip_space(content, skip_space(content, end) + 1)
            yield key, at
            _, end = _DECODER.scan_once(characters, at)
        except (StopIteration, ValueError, RecursionError):
            return
        at = skip_space(content, end)
        if content[at : at + 1] == b",":
            at = skip_space(content, at + 1)
        index += 1
