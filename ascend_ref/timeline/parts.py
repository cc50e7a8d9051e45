"""Reading a timeline part by part, cut where an event ends, and decoding such parts strictly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from ascend_spec import per_spec

from .event_keys import event_type
from .walk import Part, walk

PART = 1 << 19
"""Bytes read at a time; so many fit into the caches of a processor."""

MAX_EVENT = 16 << 20
"""Bytes of one event, or of the values outside of the list of events."""

REFUSALS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoders raise for text that is no JSON, or not of the wanted types."""

_TEXTS: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])
_CUT = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*(?=\{)")
_CUTS_TRIED = 4
_TAIL = 1 << 16
"""Bytes at the end of a part in which it is cut, if an event ends there."""


@per_spec
def _events_decoder() -> msgspec.json.Decoder[list[msgspec.Struct]]:
    """For lists of events with keys of the right types only."""
    return msgspec.json.Decoder(list[event_type()])  # type: ignore[misc]  # made at run time


@per_spec
def event_decoder() -> msgspec.json.Decoder[msgspec.Struct]:
    """For one such event."""
    return msgspec.json.Decoder(event_type())


def _likely_ends(buffer: bytearray, top: int, ended: bool) -> Iterator[tuple[int, int, bool]]:
    """Where the list could end: the byte for its bracket, what follows, whether it is closed."""
    if ended:
        end = buffer.rfind(b"]", 1, top)
        if end > 0:
            yield end, end + 1, True
        return
    for begin in (max(1, top - _TAIL), 1):
        places = [found.span() for found in _CUT.finditer(buffer, begin, top)][-_CUTS_TRIED:]
        for at, following in reversed(places):
            yield at + 1, following, False
        if places:
            return


def read_part(buffer: bytearray, top: int, ended: bool) -> Part:
    """The elements that end in a buffer, whose first byte is a bracket.

    Its text shares the buffer, in which a bracket stands behind the last of them.
    """
    for end, following, closed in _likely_ends(buffer, top, ended):
        saved = buffer[end]
        buffer[end] = ord("]")
        text = memoryview(buffer)[: end + 1]
        found = _count(text)
        if found is not None and _is_utf8(buffer, text):
            count, typed = found
            return Part(text, count, following, closed, typed=typed)
        buffer[end] = saved
    return walk(bytes(memoryview(buffer)[:top]), ended)


def _count(text: memoryview) -> tuple[int, bool] | None:
    """How many elements a list has, and whether their keys have the right types.

    ``None``: the text is no sound list.
    """
    try:
        return len(_events_decoder().decode(text)), True
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
