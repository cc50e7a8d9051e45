"""A JSON recogniser that knows nothing but RFC 8259: byte by byte, with a stack. For comparison."""

from __future__ import annotations

HEX = b"0123456789abcdefABCDEF"
DIGITS = b"0123456789"
LITERALS = {b"t": b"rue", b"f": b"alse", b"n": b"ull"}


class Bad(Exception):
    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class Unfinished(Exception):
    """The text ends although more must come."""


def first_bad_byte(text: bytes) -> int | None:
    """The byte at which no JSON text can go on; ``len(text)`` where it ends too early."""
    try:
        at = _space(text, _value(text, _space(text, 0)))
    except Bad as bad:
        return bad.offset
    except Unfinished:
        return len(text)
    return None if at == len(text) else at


def _at(text: bytes, at: int) -> bytes:
    if at >= len(text):
        raise Unfinished
    return text[at : at + 1]


def _space(text: bytes, at: int) -> int:
    while at < len(text) and text[at] in b" \t\n\r":
        at += 1
    return at


def _value(text: bytes, at: int) -> int:
    mark = _at(text, at)
    if mark == b'"':
        return _string(text, at + 1)
    if mark in (b"{", b"["):
        return _container(text, at + 1, mark)
    if mark in LITERALS:
        for offset, wanted in enumerate(LITERALS[mark], start=at + 1):
            if _at(text, offset) != bytes([wanted]):
                raise Bad(offset)
        return at + 1 + len(LITERALS[mark])
    if mark == b"-" or mark in _each(DIGITS):
        return _number(text, at)
    raise Bad(at)


def _each(marks: bytes) -> list[bytes]:
    return [bytes([mark]) for mark in marks]


def _container(text: bytes, at: int, opened: bytes) -> int:
    closing = b"}" if opened == b"{" else b"]"
    at = _space(text, at)
    if _at(text, at) == closing:
        return at + 1
    while True:
        if opened == b"{":
            at = _space(text, at)
            if _at(text, at) != b'"':
                raise Bad(at)
            at = _space(text, _string(text, at + 1))
            if _at(text, at) != b":":
                raise Bad(at)
            at += 1
        at = _space(text, _value(text, _space(text, at)))
        mark = _at(text, at)
        if mark == closing:
            return at + 1
        if mark != b",":
            raise Bad(at)
        at += 1


def _digits(text: bytes, at: int) -> int:
    if _at(text, at) not in _each(DIGITS):
        raise Bad(at)
    while _at(text, at) in _each(DIGITS):
        at += 1
    return at


def _number(text: bytes, at: int) -> int:
    if text[at] == ord("-"):
        at += 1
    if _at(text, at) == b"0":
        at += 1
        if _at(text, at) in _each(DIGITS):
            raise Bad(at)
    else:
        at = _digits(text, at)
    if _at(text, at) == b".":
        at = _digits(text, at + 1)
    if _at(text, at) in (b"e", b"E"):
        at += 1
        if _at(text, at) in (b"+", b"-"):
            at += 1
        at = _digits(text, at)
    return at


def _string(text: bytes, at: int) -> int:
    while True:
        mark = _at(text, at)
        if mark == b'"':
            return at + 1
        if mark == b"\\":
            at = _escape(text, at)
        elif mark[0] < 0x20:
            raise Bad(at)
        else:
            at = _character(text, at)


def _character(text: bytes, at: int) -> int:
    for length in range(1, 5):
        if at + length > len(text):
            try:
                text[at:].decode()
            except UnicodeDecodeError as error:
                if error.reason == "unexpected end of data":
                    raise Unfinished from None
            raise Bad(at)
        try:
            text[at : at + length].decode()
        except UnicodeDecodeError:
            continue
        return at + length
    raise Bad(at)


def _escape(text: bytes, at: int) -> int:
    mark = _at(text, at + 1)
    if mark != b"u":
        if mark not in _each(b'"\\/bfnrt'):
            raise Bad(at + 1)
        return at + 2
    code = _hexadecimal(text, at + 2)
    if 0xDC00 <= code < 0xE000:
        raise Bad(at)
    if 0xD800 <= code < 0xDC00:
        for offset, wanted in enumerate(b"\\u", start=at + 6):
            if _at(text, offset) != bytes([wanted]):
                raise Bad(at)
        # The pair is judged as one: its place is where it begins.
        for offset in range(at + 8, at + 12):
            if _at(text, offset) not in _each(HEX):
                raise Bad(at)
            if offset == at + 8 and text[offset] not in b"dD":
                raise Bad(at)
            if offset == at + 9 and text[offset] not in b"cdefCDEF":
                raise Bad(at)
        return at + 12
    return at + 6


def _hexadecimal(text: bytes, at: int) -> int:
    for offset in range(at, at + 4):
        if _at(text, offset) not in _each(HEX):
            raise Bad(offset)
    return int(text[at : at + 4], 16)
