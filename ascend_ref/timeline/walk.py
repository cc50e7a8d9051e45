"""Events one after the other: for parts of a file that are damaged, or spelled in a strange way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ascend_ref.json_damage import Damage, scan_value, skip_space, truncated

Integers = npt.NDArray[np.int64]

_ANY: msgspec.json.Decoder[msgspec.Raw] = msgspec.json.Decoder(msgspec.Raw)
_CLOSED = '{["'
"""First characters of values that tell where they end."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some elements of a buffer, by the bytes where they begin and end in it.

    ``commas``: the bytes of those between them. ``following``: where the next one begins.
    ``closed``: the array ends there. ``damage``: what stops the reading behind these elements,
    counted from the start of the buffer. ``typed``: the keys of all elements have been checked.
    """

    starts: Integers
    ends: Integers
    commas: Integers
    following: int
    closed: bool = False
    damage: Damage | None = None
    typed: bool = False


def walk(text: bytes, ended: bool) -> Part:
    """The whole elements of a list whose bracket is the first byte of the text.

    ``ended``: no bytes come behind the text, so that an unfinished element is damage.
    """
    part = _walk(text, ended)
    place = _first_unsound(text, part)
    if place is None:
        return part
    start, end = int(part.starts[place]), int(part.ends[place])
    damage = scan_value(text[:end], start).damage or Damage(start, "an event that cannot be read")
    return replace(
        part,
        starts=part.starts[:place],
        ends=part.ends[:place],
        commas=part.commas[: max(place - 1, 0)],
        following=start,
        closed=False,
        damage=damage,
    )


def _walk(text: bytes, ended: bool) -> Part:  # noqa: PLR0911 - one return for each way to end
    # One character for each byte: the structure of JSON is ASCII, and what texts hold is judged
    # afterwards.
    latin = text.decode("latin-1")
    decoder: Any = json.JSONDecoder(strict=False)
    spans: list[tuple[int, int, int]] = []
    at = skip_space(text, 1)
    if text[at : at + 1] == b"]":
        return _part(spans, at + 1, closed=True)
    while at < len(text):
        try:
            _, end = decoder.scan_once(latin, at)
        except (StopIteration, ValueError, RecursionError):
            scanned = scan_value(text, at)
            if scanned.damage is not None:
                return _part(spans, at, damage=scanned.damage)
            if scanned.end is None:
                damage = truncated(len(text), replace(scanned, depth=scanned.depth + 1))
                return _part(spans, at, damage=damage if ended else None)
            end = scanned.end
        following = skip_space(text, end)
        mark = text[following : following + 1]
        if not mark and (not ended or latin[at] not in _CLOSED):
            break  # a number may go on; and without its comma an element is read again
        spans.append((at, end, following))
        if mark == b"]":
            return _part(spans, following + 1, closed=True)
        if mark and mark != b",":
            return _part(spans, following, damage=Damage(following, _NO_COMMA))
        at = skip_space(text, following + 1) if mark else len(text)
        if text[at : at + 1] == b"]":
            return _part(spans, at, damage=Damage(at, "a comma before ']'"))
    return _part(spans, at, damage=Damage(len(text), _NO_END) if ended else None)


_NO_COMMA = "a comma is missing; expected a comma or ']' behind an event"
_NO_END = "the file ends inside the list of events; its tail is missing"


def _part(
    spans: Sequence[tuple[int, int, int]],
    following: int,
    *,
    closed: bool = False,
    damage: Damage | None = None,
) -> Part:
    starts, ends, commas = np.array(spans, np.int64).reshape(-1, 3).T
    return Part(starts, ends, commas[:-1], following, closed, damage)


def _first_unsound(text: bytes, part: Part) -> int | None:
    """The first of the elements that is not strictly JSON."""
    if not len(part.starts):
        return None
    if _is_sound(b"[" + text[int(part.starts[0]) : int(part.ends[-1])] + b"]"):
        return None
    spans = zip(part.starts.tolist(), part.ends.tolist(), strict=True)
    return next(
        (place for place, (start, end) in enumerate(spans) if not _is_sound(text[start:end])), None
    )


def _is_sound(text: bytes) -> bool:
    try:
        _ANY.decode(text)
        return text.isascii() or bool(text.decode("utf-8"))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
