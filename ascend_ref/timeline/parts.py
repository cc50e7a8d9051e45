"""Reading a timeline part by part, cut where an event ends, and decoding such parts strictly.

Parts that are damaged, or spelled in a strange way, are read event by event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import msgspec

from ascend_ref.json_damage import Damage, scan_value, skip_space, truncated
from ascend_spec import per_spec

from .event_keys import event_type

PART = 1 << 19
"""Bytes read at a time; so many fit into the caches of a processor."""

MAX_EVENT = 16 << 20
"""Bytes of one event, or of the values outside of the list of events."""

REFUSALS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoders raise for text that is no JSON, or not of the wanted types."""

_TEXTS: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])
_CUT = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*(?=\{)")
_CUTS_TRIED = 4
_TAILS = (1 << 12, 1 << 16, PART)
"""Bytes at the end of a part in which an end of an event is looked for, one after the other."""
_ANY: msgspec.json.Decoder[msgspec.Raw] = msgspec.json.Decoder(msgspec.Raw)
_CLOSED = '{["'
"""First characters of values whose last character marks their end."""


Span = tuple[int, int]
"""Where an element begins and ends in a text."""


@per_spec
def _events_decoder(*, text_lengths: bool) -> msgspec.json.Decoder[list[msgspec.Struct]]:
    """For lists of events with keys of the right types only."""
    return msgspec.json.Decoder(list[event_type(text_lengths=text_lengths)])  # type: ignore[misc]  # made at run time


@per_spec
def event_decoder(*, text_lengths: bool) -> msgspec.json.Decoder[msgspec.Struct]:
    """For one such event."""
    return msgspec.json.Decoder(event_type(text_lengths=text_lengths))


def _likely_ends(buffer: bytearray, top: int, ended: bool) -> Iterator[tuple[int, int, bool]]:
    """Where the list could end: the byte for its bracket, what follows, whether it is closed."""
    if ended:
        end = buffer.rfind(b"]", 1, top)
        if end > 0:
            yield end, end + 1, True
        return
    for begin in (*(max(1, top - tail) for tail in _TAILS), 1):
        places = [found.span() for found in _CUT.finditer(buffer, begin, top)][-_CUTS_TRIED:]
        for at, following in reversed(places):
            yield at + 1, following, False
        if len(places) == _CUTS_TRIED:
            return


def read_part(buffer: bytearray, top: int, ended: bool, *, text_lengths: bool = False) -> Part:
    """The elements that end in a buffer, whose first byte is a bracket.

    Its text shares the buffer, in which a bracket stands behind the last of them.
    """
    for end, following, closed in _likely_ends(buffer, top, ended):
        saved = buffer[end]
        buffer[end] = ord("]")
        text = memoryview(buffer)[: end + 1]
        found = _count(text, text_lengths)
        if found is not None and _is_utf8(buffer, text):
            count, typed = found
            return Part(text, count, following, closed, typed=typed)
        buffer[end] = saved
    return walk(bytes(memoryview(buffer)[:top]), ended)


def _count(text: memoryview, text_lengths: bool) -> tuple[int, bool] | None:
    """How many elements a list has, and whether their keys have the right types.

    ``None``: the text is no sound list.
    """
    try:
        return len(_events_decoder(text_lengths=text_lengths).decode(text)), True
    except msgspec.ValidationError:
        pass
    except REFUSALS:
        return None
    try:
        return len(_TEXTS.decode(text)), False
    except REFUSALS:
        return None


def _is_utf8(buffer: bytearray, text: memoryview) -> bool:
    """Whether a text, which is part of a buffer, is UTF-8."""
    try:
        return buffer.isascii() or str(text, "utf-8") != ""
    except UnicodeDecodeError:
        return False


class Source:
    """A file, part after part. ``carry``: bytes that were read and are still to come; ``at``:
    where they stand in the file; ``ended``: nothing stands behind them.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.at = 0
        self.ended = False
        head = bytearray(PART)
        top = self._read_into(memoryview(head))
        self.carry = bytes(memoryview(head)[:top])

    def skip(self, number: int) -> None:
        """Go on behind some bytes of :attr:`carry`."""
        self.carry = self.carry[number:]
        self.at += number

    def fill(self) -> tuple[bytearray, int]:
        """A buffer with a bracket, the carried bytes and further bytes, and where they end.

        It reads more each time that the carried bytes held no end of an event.
        """
        kept = 1 + len(self.carry)
        buffer = bytearray(kept + (0 if self.ended else max(PART, kept)) + 1)
        buffer[0] = ord("[")
        buffer[1:kept] = self.carry
        top = kept
        if not self.ended:
            top += self._read_into(memoryview(buffer)[kept:-1])
        return buffer, top

    def keep(self, buffer: bytearray, start: int, top: int) -> None:
        """Carry the bytes of a buffer from some place on; its first byte is no part of the file."""
        self.at += start - 1
        self.carry = bytes(memoryview(buffer)[start:top])

    def rest(self) -> bytes:
        """What remains of the file, up to the longest value."""
        return self.carry + (b"" if self.ended else self._file.read(MAX_EVENT))

    def _read_into(self, target: memoryview) -> int:
        """Fill the target as far as the file goes; the bytes that came."""
        done = 0
        while done < len(target):
            number = self._file.readinto(target[done:])  # type: ignore[attr-defined]  # unbuffered
            if not number:
                self.ended = True
                break
            done += number
        return done


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
