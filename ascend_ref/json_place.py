"""Where in a sound JSON text values stand, whatever they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ascend_spec.core.pointer import keys_of

from .json_damage import skip_space

# Numbers stay texts, so that none is too long or too large.
_DECODER: Any = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


@dataclass(frozen=True)
class Member:
    """One member of an object, or value of a list, whose ``key`` is empty.

    ``start``: where the key with its quotes begins, or the value; ``value``: where the value does.
    """

    text: JsonText = field(repr=False)
    key: str
    start: int
    value: int

    @cached_property
    def end(self) -> int:
        """Where the value ends. Raises ``RecursionError`` for one that is nested too deeply."""
        return self.text.end(self.value)


class JsonText:
    """A sound JSON text, whose values are addressed by where they begin."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        # One character for each byte: the structure of JSON is ASCII.
        self._characters = content.decode("latin-1")

    @property
    def start(self) -> int:
        """Where the value of the whole text begins."""
        return skip_space(self.content, 0)

    def kind(self, at: int) -> str:
        """The first character of a value."""
        return self._characters[at : at + 1]

    def end(self, at: int) -> int:
        """Where a value ends."""
        _, end = _DECODER.scan_once(self._characters, at)
        return int(end)

    def value(self, at: int) -> Any:
        """A value, read."""
        return json.loads(self.content[at : self.end(at)])

    def members(self, at: int) -> Iterator[Member]:
        """The members of an object or the values of a list; none of what is neither."""
        opened = self.kind(at)
        if opened not in ("{", "["):
            return
        at = skip_space(self.content, at + 1)
        while self.kind(at) not in ("]", "}", ""):
            start, key = at, ""
            if opened == "{":
                end = self.end(at)
                key = str(json.loads(self.content[at:end]))
                at = skip_space(self.content, skip_space(self.content, end) + 1)
            member = Member(self, key, start, at)
            yield member
            at = skip_space(self.content, member.end)
            if self.kind(at) == ",":
                at = skip_space(self.content, at + 1)


def place_of(text: bytes | memoryview, pointer: str) -> int:
    """The byte at which the value of a JSON pointer begins.

    Where the pointer leads nowhere, the place of the innermost value on its way that exists. Of
    equal keys the first.
    """
    content = JsonText(bytes(text))
    at = content.start
    for wanted in keys_of(pointer):
        inside = _member(content, at, wanted)
        if inside is None:
            break
        at = inside
    return at


def _member(text: JsonText, at: int, wanted: str) -> int | None:
    """The place of the value with a key or an index."""
    is_object = text.kind(at) == "{"
    try:
        for index, member in enumerate(text.members(at)):
            if wanted == (member.key if is_object else str(index)):
                return member.value
    except (RuntimeError, ValueError):  # nested too deeply, or not sound
        return None
    return None
