"""Events one after the other: for parts of a file that are damaged, or spelled in a strange way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ascend_ref.json_damage import Damage, scan_value, skip_space, truncated

_ANY: msgspec.json.Decoder[msgspec.Raw] = msgspec.json.Decoder(msgspec.Raw)
_CLOSED = '{["'
"""First characters of values whose last character marks their end."""


Span = tuple[int, int]
"""Where an element begins and ends in a text."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some whole elements as a list in JSON, whose places are those of the buffer it was read from.

    ``following``: where the next element begins there. ``closed``: the array ends here. ``damage``:
    what stops the reading behind these elements, counted from the start of the buffer. ``typed``:
    the keys of all elements have been checked.
    """

    text: bytes | memoryview
    count: int
    following: int
    closed: bool = False
    damage: Damage | None = None
    typed: bool = False


def walk(text: bytes, ended: bool) -> Part:
    """The whole elements of a list whose bracket is the first byte of the text.

    ``ended``: no bytes come behind the text, so that an unfinished element is damage.
    """
    found = _walk(text, ended)
    place = _first_unsound(text, found.spans)
    if place is not None:
        start, end = found.spans[place]
        damage = scan_value(text[:end], start).damage or Damage(start, "it cannot be read")
        found = _Walked(found.spans[:place], start, damage=damage)
    end = found.spans[-1][1] if found.spans else 1
    whole = text[:end] + b"]"
    return Part(whole, len(found.spans), found.following, found.closed, found.damage)


def whole_elements(text: bytes) -> list[Span]:
    """Where the elements of a list begin and end whose bracket is the first byte of a sound text.

    A last one that is not complete is left out.
    """
    return _walk(text, ended=True).spans


@dataclass(frozen=True, slots=True)
class _Walked:
    spans: list[Span]
    following: int
    closed: bool = False
    damage: Damage | None = None


def _walk(text: bytes, ended: bool) -> _Walked:  # noqa: PLR0911 - one return for each way to end
    # One character for each byte: the structure of JSON is ASCII, and what texts hold is judged
    # afterwards.
    latin = text.decode("latin-1")
    decoder: Any = json.JSONDecoder(strict=False)
    spans: list[Span] = []
    at = skip_space(text, 1)
    if text[at : at + 1] == b"]":
        return _Walked(spans, at + 1, closed=True)
    while at < len(text):
        try:
            _, end = decoder.scan_once(latin, at)
        except (StopIteration, ValueError, RecursionError):
            scanned = scan_value(text, at)
            if scanned.damage is not None:
                return _Walked(spans, at, damage=scanned.damage)
            if scanned.end is None:
                damage = truncated(len(text), replace(scanned, depth=scanned.depth + 1))
                return _Walked(spans, at, damage=damage if ended else None)
            end = scanned.end
        following = skip_space(text, end)
        mark = text[following : following + 1]
        if not mark and (not ended or latin[at] not in _CLOSED):
            break  # a number may go on; and without its comma an element is read again
        spans.append((at, end))
        if mark == b"]":
            return _Walked(spans, following + 1, closed=True)
        if mark and mark != b",":
            return _Walked(spans, following, damage=Damage(following, _NO_COMMA))
        at = skip_space(text, following + 1) if mark else len(text)
        if text[at : at + 1] == b"]":
            return _Walked(spans, at, damage=Damage(at, "a comma before ']'"))
    return _Walked(spans, at, damage=Damage(len(text), _NO_END) if ended else None)


_NO_COMMA = "a comma is missing; expected a comma or ']' behind an event"
_NO_END = "the file ends inside the list of events; its tail is missing"


def _first_unsound(text: bytes, spans: Sequence[Span]) -> int | None:
    """The first of the elements that is not strictly JSON."""
    if not spans or _is_sound(b"[" + text[spans[0][0] : spans[-1][1]] + b"]"):
        return None
    return next(
        (place for place, (start, end) in enumerate(spans) if not _is_sound(text[start:end])), None
    )


def _is_sound(text: bytes) -> bool:
    try:
        _ANY.decode(text)
        return text.isascii() or bool(text.decode("utf-8"))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
