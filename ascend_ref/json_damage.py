"""Where a text stops being JSON, and why: RFC 8259 to the byte.

For texts that a fast reader refused. The place is the first byte with which no JSON text could go
on; of a sequence that is no UTF-8, its first byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DEPTH = 200
"""Nesting of lists and objects; documented files need 5."""

_SPACE = re.compile(rb"[ \t\n\r]*")
_PLAIN = rb'[^"\\\x00-\x1f]*+'
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SINGLE = rb'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})'
_SOUND = re.compile(rb"%b(?:(?:%b|%b%b)%b){0,999}" % (_PLAIN, _SINGLE, _HIGH, _LOW, _PLAIN))
"""What a text may hold, up to so many escapes.

No group is possessive: Python before 3.11.5 goes on behind a part that did not fit (gh-106052).
"""
_ESCAPE_START = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_PAIR_START = re.compile(_HIGH + rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")
_LONE = re.compile(_LOW)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_START = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?")
_LITERALS = (b"true", b"false", b"null")
_LITERAL_START = re.compile(rb"t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?")
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"[\0", b"{\0", b"\0[", b"\0{")
"""How texts in UTF-16 and UTF-32 begin."""
_NOT_FINITE = re.compile(rb"-?Infinity|NaN")


@dataclass(frozen=True, slots=True)
class Damage:
    """The first byte that does not fit, from the start of the text, and what is wrong there."""

    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """What stands at a place: a value up to ``end``, or damage, or (neither) an unfinished value.

    ``depth`` is how many containers are open at the end of an unfinished value, ``in_text`` whether
    it ends inside a text.
    """

    end: int | None = None
    damage: Damage | None = None
    depth: int = 0
    in_text: bool = False

    @property
    def unfinished(self) -> bool:
        """Whether further bytes could complete the value."""
        return self.end is None and self.damage is None


class _Stop(Exception):
    """The scan has its result."""

    def __init__(self, result: Scanned) -> None:
        super().__init__()
        self.result = result


def wide_text(text: bytes) -> Damage | None:
    """The damage of a text in UTF-16 or UTF-32, by its first bytes; ``None`` for others."""
    return Damage(0, "UTF-16 or UTF-32; expected UTF-8") if text.startswith(_WIDE) else None


def scan_value(text: bytes, at: int = 0) -> Scanned:
    """What stands at a byte of a text, white space before it skipped."""
    try:
        return Scanned(end=_Scanner(text, at).value())
    except _Stop as stop:
        return stop.result


def find_damage(text: bytes) -> Damage | None:
    """The damage of a text that should be one JSON value; ``None`` for a sound text."""
    scanned = scan_value(text)
    if scanned.damage:
        return scanned.damage
    if scanned.end is None:
        start = skip_space(text, 0)
        number = _NUMBER.fullmatch(text, start)
        return None if number else truncated(len(text), scanned)
    after = skip_space(text, scanned.end)
    return None if after == len(text) else Damage(after, "something follows the JSON text")


def truncated(offset: int, scanned: Scanned) -> Damage:
    """The damage of a text that ends with an unfinished value."""
    if scanned.in_text:
        return Damage(offset, "the file ends inside a text; its tail is missing")
    if scanned.depth == 0:
        return Damage(offset, "the file ends where a value is expected")
    opened = "a list or object" if scanned.depth == 1 else f"{scanned.depth} lists and objects"
    return Damage(offset, f"the file ends inside {opened}; its tail is missing")


def skip_space(text: bytes, at: int) -> int:
    """The first byte from ``at`` on that is no white space."""
    return _behind(_SPACE, text, at)


def _behind(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


class _Scanner:
    """Walks over one value, container by container."""

    def __init__(self, text: bytes, at: int) -> None:
        self._text = text
        self._at = at
        self._closing: list[int] = []
        """The brackets that close what is open."""

    def value(self) -> int:
        """The byte behind the value. Raises :class:`_Stop`."""
        while True:
            opened = self._scalar_or_open()
            if opened and not self._first_member():
                continue
            while self._closing:
                if self._next_member():
                    break
            else:
                return self._at

    def _mark(self) -> int:
        """The next byte that is no white space."""
        self._at = skip_space(self._text, self._at)
        if self._at >= len(self._text):
            raise _Stop(Scanned(depth=len(self._closing)))
        return self._text[self._at]

    def _bad(self, reason: str, at: int | None = None) -> _Stop:
        return _Stop(Scanned(damage=Damage(self._at if at is None else at, reason)))

    def _scalar_or_open(self) -> bool:
        """Go behind a scalar, or behind the bracket that opens a container."""
        mark = self._mark()
        if mark in b"{[":
            if len(self._closing) == MAX_DEPTH:
                raise self._bad(f"nested deeper than {MAX_DEPTH} levels")
            self._closing.append(ord("}" if mark == ord("{") else "]"))
            self._at += 1
            return True
        if mark == ord('"'):
            self._string()
        else:
            self._word(mark in b"-0123456789")
        return False

    def _first_member(self) -> bool:
        """Whether the container that has just been opened is empty, and closed again."""
        mark = self._mark()
        if mark == self._closing[-1]:
            self._at += 1
            self._closing.pop()
            return True
        if self._closing[-1] == ord("}"):
            self._key()
        return False

    def _next_member(self) -> bool:
        """Whether another value follows in the innermost container; else it is closed."""
        mark = self._mark()
        if mark == ord(","):
            self._at += 1
            following = self._mark()
            if following == self._closing[-1]:
                raise self._bad(f"a comma before {chr(following)!r}")
            if self._closing[-1] == ord("}"):
                self._key()
            return True
        if mark == self._closing[-1]:
            self._at += 1
            self._closing.pop()
            return False
        raise self._bad(self._missing_comma())

    def _missing_comma(self) -> str:
        """What is wrong where a value is followed by no comma and no bracket."""
        before = self._text[self._at - 1 : self._at]
        mark = self._text[self._at : self._at + 1]
        wanted = f"a comma or {chr(self._closing[-1])!r}"
        touching = before == b'"'
        if self._text[: self._at].rstrip(b" \t\n\r").endswith(b'"') and (
            touching or mark not in b'"{['
        ):
            return f"expected {wanted} behind a text; perhaps a quote in it is not escaped"
        if mark in b'"{[-0123456789tfn':
            return f"a comma is missing; expected {wanted}"
        return f"expected {wanted}"

    def _key(self) -> None:
        if self._mark() != ord('"'):
            raise self._bad("expected a key in double quotes")
        self._string()
        if self._mark() != ord(":"):
            raise self._bad("expected a colon behind a key")
        self._at += 1

    def _string(self) -> None:
        """Go behind a text; its opening quote stands here."""
        text, start = self._text, self._at + 1
        end, behind = start, _behind(_SOUND, text, start)
        while end < behind:
            end, behind = behind, _behind(_SOUND, text, behind)
        self._require_utf8(start, end)
        if text.startswith(b'"', end):
            self._at = end + 1
            return
        if not text.startswith(b"\\", end) and end < len(text):
            reason = f"control character 0x{text[end]:02x} in a text; expected an escape"
            raise self._bad(reason, end)
        pair = _PAIR_START.match(text, end)
        longest = pair.end() if pair else _behind(_ESCAPE_START, text, end)
        lone = _LONE.match(text, end)
        if longest >= len(text) and not lone:
            raise _Stop(Scanned(depth=len(self._closing), in_text=True))
        if pair or lone:
            raise self._bad("half of a surrogate pair as escape", end)
        raise self._bad("a backslash that begins no escape", longest)

    def _require_utf8(self, start: int, end: int) -> None:
        try:
            self._text[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            if end == len(self._text) and error.reason == "unexpected end of data":
                raise _Stop(Scanned(depth=len(self._closing), in_text=True)) from None
            raise self._bad(f"byte 0x{self._text[at]:02x} is not UTF-8", at) from None

    def _word(self, number: bool) -> None:
        """Go behind a number or a literal."""
        text, at = self._text, self._at
        if found := _NOT_FINITE.match(text, at):
            raise self._bad(f"{found.group().decode()} is no JSON", at + text.startswith(b"-", at))
        begun = (_NUMBER_START if number else _LITERAL_START).match(text, at)
        if begun is None:
            raise self._bad("expected a value")
        self._at = begun.end()
        if not number and begun.group() in _LITERALS:
            return
        if self._at >= len(text):
            # At the end of the text any number may go on.
            raise _Stop(Scanned(depth=len(self._closing)))
        if not (number and _NUMBER.fullmatch(text, at, self._at)):
            raise self._bad("no number of JSON" if number else "no literal of JSON")
        if text[self._at] in b"0123456789":
            raise self._bad("a number with a zero before it")
