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
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_ESCAPE_START = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_SURROGATE = re.compile(rb"\\u[dD](?:([89abAB])|[c-fC-F])[0-9a-fA-F]{2}")
_LOW = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_LOW_START = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_START = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?")
_LITERALS = (b"true", b"false", b"null")
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"[\0", b"{\0", b"\0[", b"\0{")
"""How texts in UTF-16 and UTF-32 begin."""
_NOT_FINITE = (b"NaN", b"Infinity", b"-Infinity")


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
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _Scanner:
    """Walks over one value, container by container."""

    def __init__(self, text: bytes, at: int) -> None:
        self._text = text
        self._at = at
        self._open: list[int] = []

    def value(self) -> int:
        """The byte behind the value. Raises :class:`_Stop`."""
        while True:
            opened = self._scalar_or_open()
            if opened and not self._first_member():
                continue
            while self._open:
                if self._next_member():
                    break
            else:
                return self._at

    def _mark(self) -> int:
        """The next byte that is no white space."""
        self._at = skip_space(self._text, self._at)
        if self._at >= len(self._text):
            raise _Stop(Scanned(depth=len(self._open)))
        return self._text[self._at]

    def _bad(self, reason: str, at: int | None = None) -> _Stop:
        return _Stop(Scanned(damage=Damage(self._at if at is None else at, reason)))

    def _scalar_or_open(self) -> bool:
        """Go behind a scalar, or behind the bracket that opens a container."""
        mark = self._mark()
        if mark in b"{[":
            if len(self._open) == MAX_DEPTH:
                raise self._bad(f"nested deeper than {MAX_DEPTH} levels")
            self._open.append(mark)
            self._at += 1
            return True
        if mark == ord('"'):
            self._string()
        elif mark in b"-0123456789":
            self._number()
        else:
            self._literal()
        return False

    def _first_member(self) -> bool:
        """Whether the container that has just been opened is empty, and closed again."""
        mark = self._mark()
        if mark == self._closing():
            self._at += 1
            self._open.pop()
            return True
        if self._open[-1] == ord("{"):
            self._key()
        return False

    def _next_member(self) -> bool:
        """Whether another value follows in the innermost container; else it is closed."""
        mark = self._mark()
        if mark == ord(","):
            self._at += 1
            following = self._mark()
            if following == self._closing():
                raise self._bad(f"a comma before {chr(following)!r}")
            if self._open[-1] == ord("{"):
                self._key()
            return True
        if mark == self._closing():
            self._at += 1
            self._open.pop()
            return False
        raise self._bad(self._missing_comma())

    def _closing(self) -> int:
        return ord("}") if self._open[-1] == ord("{") else ord("]")

    def _missing_comma(self) -> str:
        """What is wrong where a value is followed by no comma and no bracket."""
        before = self._text[self._at - 1 : self._at]
        mark = self._text[self._at : self._at + 1]
        wanted = f"a comma or {chr(self._closing())!r}"
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
        text, at = self._text, self._at + 1
        while True:
            found = _PLAIN.match(text, at)
            end = found.end() if found else at
            self._require_utf8(at, end)
            if end >= len(text):
                raise _Stop(Scanned(depth=len(self._open), in_text=True))
            mark = text[end]
            if mark == ord('"'):
                self._at = end + 1
                return
            if mark != ord("\\"):
                reason = f"control character 0x{mark:02x} in a text; expected an escape"
                raise self._bad(reason, end)
            at = self._escape(end)

    def _require_utf8(self, start: int, end: int) -> None:
        part = self._text[start:end]
        if part.isascii():
            return
        try:
            part.decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            if end == len(self._text) and error.reason == "unexpected end of data":
                raise _Stop(Scanned(depth=len(self._open), in_text=True)) from None
            raise self._bad(f"byte 0x{self._text[at]:02x} is not UTF-8", at) from None

    def _escape(self, at: int) -> int:
        """The byte behind an escape."""
        text = self._text
        found = _ESCAPE.match(text, at)
        if found is None:
            begun = _ESCAPE_START.match(text, at)
            end = begun.end() if begun else at
            if end >= len(text):
                raise _Stop(Scanned(depth=len(self._open), in_text=True))
            raise self._bad("a backslash that begins no escape", end)
        pair = _SURROGATE.match(text, at)
        if pair is None:
            return found.end()
        if pair.group(1) is None:
            raise self._bad("half of a surrogate pair as escape", at)
        low = _LOW.match(text, pair.end())
        if low is not None:
            return low.end()
        begun = _LOW_START.match(text, pair.end())
        if begun is not None and begun.end() >= len(text):
            raise _Stop(Scanned(depth=len(self._open), in_text=True))
        raise self._bad("half of a surrogate pair as escape", at)

    def _number(self) -> None:
        for token in _NOT_FINITE:
            if self._text.startswith(token, self._at):
                raise self._bad(f"{token.decode()} is no JSON", self._at + token.startswith(b"-"))
        begun = _NUMBER_START.match(self._text, self._at)
        longest = begun.end() if begun else self._at
        if longest >= len(self._text):
            # At the end of the text any number may go on.
            raise _Stop(Scanned(depth=len(self._open)))
        found = _NUMBER.match(self._text, self._at)
        if found is None or found.end() < longest:
            raise self._bad("no number of JSON", longest)
        self._at = found.end()
        if self._text[self._at] in b"0123456789":
            raise self._bad("a number with a zero before it")

    def _literal(self) -> None:
        text, at = self._text, self._at
        for token in _LITERALS:
            if text.startswith(token, at):
                self._at += len(token)
                return
        for token in _NOT_FINITE:
            if text.startswith(token, at):
                raise self._bad(f"{token.decode()} is no JSON")
        for token in _LITERALS:
            same = len(_common(token, text[at : at + len(token)]))
            if same:
                if at + same == len(text):
                    raise _Stop(Scanned(depth=len(self._open)))
                raise self._bad("no literal of JSON", at + same)
        raise self._bad("expected a value")


def _common(left: bytes, right: bytes) -> bytes:
    """The beginning that both have."""
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    return left[:same]
