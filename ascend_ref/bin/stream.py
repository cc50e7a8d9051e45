"""Walking through a long JSON array in constant memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from .canonical import SURROGATE_ESCAPE, MalformedPayload, NotJson, is_encodable, scanner

WINDOW = 1 << 20
"""Bytes read at a time."""

MAX_ELEMENT = 1 << 24
"""Bytes of one element, or of one value outside of the array."""

MAX_MEMBERS = 10_000
"""Members of the object around the array; documented ones have four."""

_SPACE = re.compile(r"[ \t\n\r]*")
_SEPARATOR = re.compile(r"[ \t\n\r]*,[ \t\n\r]*(?=[^ \t\n\r\]])")
"""A comma with another value behind it."""


def iterate_events(payload: bytes | memoryview) -> Iterator[tuple[int, Any]]:
    """The elements of ``traceEvents`` of a timeline payload, each with its byte in the payload.

    Nothing is yielded where the key is missing. Raises :class:`MalformedPayload` at the place from
    which the text is no JSON, of an element longer than :data:`MAX_ELEMENT`, or of more members of
    the object than :data:`MAX_MEMBERS`.
    """
    return iterate_array(payload, "traceEvents")


def iterate_array(
    payload: bytes | memoryview, inside: str | None = None
) -> Iterator[tuple[int, Any]]:
    """The elements of a top-level array, or of the array under a key of a top-level object."""
    window = _Window(memoryview(payload))
    if inside is None:
        if window.next_mark() != "[":
            raise window.problem("expected a JSON array")
        yield from _elements(window)
    elif window.next_mark() == "{":
        yield from _member(window, inside)
    else:
        raise window.problem("expected a JSON object")
    if window.next_mark():
        raise window.problem("something follows the JSON text")


def _member(window: _Window, wanted: str) -> Iterator[tuple[int, Any]]:
    window.take(1)
    mark = window.next_mark()
    members = 0
    while mark != "}":
        members += 1
        if members > MAX_MEMBERS:
            raise window.problem(f"more than {MAX_MEMBERS:,} members of the object")
        key = window.scan()
        if not isinstance(key, str) or window.next_mark() != ":":
            raise window.problem("expected a key and a colon")
        window.take(1)
        if key == wanted and window.next_mark() == "[":
            yield from _elements(window)
        else:
            window.scan()
        mark = window.next_mark()
        if mark == ",":
            window.take(1)
            if window.next_mark() != '"':
                raise window.problem("expected a key")
        elif mark != "}":
            raise window.problem("expected a comma or the end of the object")
    window.take(1)


def _elements(window: _Window) -> Iterator[tuple[int, Any]]:
    window.take(1)
    mark = window.next_mark()
    while mark != "]":
        yield from window.scan_many()
        if window.next_mark() == "]":
            break
        place = window.offset
        yield place, window.scan()
        mark = window.next_mark()
        if mark == ",":
            window.take(1)
            if window.next_mark() == "]":
                raise window.problem("a comma before the end of the array")
        elif mark != "]":
            raise window.problem("expected a comma or the end of the array")
    window.take(1)


class _Window:
    """The part of the text that has been decoded and not been consumed."""

    def __init__(self, payload: memoryview) -> None:
        self._payload = payload
        self._read = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._escapes = False
        self.offset = 0
        self._scan_once = scanner()

    def next_mark(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            if found and found.end() > self._at:
                self.take(found.end() - self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, characters: int) -> None:
        """Go on by some characters that are in the window."""
        part = self._text[self._at : self._at + characters]
        self.offset += len(part) if part.isascii() else len(part.encode())
        self._at += characters

    def scan(self) -> Any:
        """The value that begins here."""
        self.next_mark()
        while True:
            try:
                value, end = self._scan_once(self._text, self._at)
            except (json.JSONDecodeError, StopIteration) as error:
                if len(self._text) - self._at > MAX_ELEMENT:
                    raise self.problem(f"one value of more than {MAX_ELEMENT:,} bytes") from None
                if self._more():
                    continue
                raise self.problem(getattr(error, "msg", "expected a value")) from None
            except NotJson as error:
                raise self.problem(str(error)) from None
            except RecursionError:
                raise self.problem("nested too deeply") from None
            except ValueError:
                raise self.problem("an integer of more than 4,300 digits") from None
            if not (self._may_go_on(value, end) and self._more()):
                if self._escapes and not is_encodable(value):
                    raise self.problem("half a surrogate pair as escape")
                self.take(end - self._at)
                return value

    def _may_go_on(self, value: Any, end: int) -> bool:
        """Whether the value is a number whose next digits may not be in the window yet."""
        return isinstance(value, (int, float)) and not self._text[end:].strip("0123456789.eE+-")

    def scan_many(self) -> Iterator[tuple[int, Any]]:
        """As many values as end before a comma in this window, with the comma: the fast way."""
        text, at, offset, ascii_only = self._text, self._at, self.offset, self._text.isascii()
        while not self._escapes:
            try:
                value, end = self._scan_once(text, at)
            except (ValueError, StopIteration, NotJson, RecursionError):
                return  # unfinished or wrong: the other way finds out
            separator = _SEPARATOR.match(text, end)
            if separator is None:
                return
            following = separator.end()
            width = following - at if ascii_only else len(text[at:following].encode())
            # Before the value is handed on: who takes it may never come back.
            self._at, self.offset = following, offset + width
            yield offset, value
            at, offset = following, self.offset

    def problem(self, reason: str) -> MalformedPayload:
        """What to raise when the text cannot be followed from here on."""
        return MalformedPayload(self.offset, reason)

    def _more(self) -> bool:
        """Decode further bytes behind what is not consumed; false at the end."""
        if self._read >= len(self._payload):
            return False
        # Twice as much each time, so that a long element is not scanned again and again.
        size = max(WINDOW, len(self._text) - self._at)
        part = bytes(self._payload[self._read : self._read + size])
        last = self._read + len(part) >= len(self._payload)
        try:
            decoded = self._decoder.decode(part, last)
        except UnicodeDecodeError as error:
            place = self._read + error.start
            raise MalformedPayload(place, "not UTF-8 from here on") from None
        self._read += len(part)
        self._text = self._text[self._at :] + decoded
        self._at = 0
        self._escapes = SURROGATE_ESCAPE.search(self._text) is not None
        return True
