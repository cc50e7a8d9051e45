"""Messages of Protocol Buffers as elements, and back to the bytes that its own writers make.

These write members in the order of their numbers, leave out zeros and empty texts, and put the
numbers of a list together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from ascend_spec.mindspore.messages import Member, Message

Element: TypeAlias = dict[str, Any]

_VARINT, _LENGTH = 0, 2
"""Wire types: a number of seven bits a byte, and bytes behind their length."""
_LONGEST = 10
"""Bytes of a number."""
_BITS = 64
_MOST = 1 << 63


class NoMessage(ValueError):
    """Bytes that are none of a kind of message. ``offset``: of the first of them."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


def decode_message(content: bytes, message: Message) -> Element:
    """The members of a message by name: lists as lists, of others 0 or nothing where they lack.

    Raises :class:`NoMessage` for a member that the message does not have, and for bytes that are
    none.
    """
    return _decode(memoryview(content), message, 0)


def encode_message(element: Element, message: Message) -> bytes:
    """The bytes of a message. Raises ``KeyError`` for a member without a value."""
    found = b""
    for one in message.members:
        value = element[one.name]
        if one.form == "whole" and one.is_list:
            found += _piece(one, b"".join(map(_number, value))) if value else b""
            continue
        for item in value if one.is_list else [value]:
            if item or one.is_list:
                found += _encoded(one, item)
    return found


def _encoded(member: Member, value: Any) -> bytes:
    if member.form == "whole":
        return _number(member.number << 3 | _VARINT) + _number(value)
    if member.message is not None:
        return _piece(member, encode_message(value, member.message))
    return _piece(member, str(value).encode())


def _piece(member: Member, content: bytes) -> bytes:
    return _number(member.number << 3 | _LENGTH) + _number(len(content)) + content


def _number(value: int) -> bytes:
    left = value % (1 << _BITS)
    found = bytearray()
    while left >= 1 << 7:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])


def _decode(content: memoryview, message: Message, start: int) -> Element:
    known = {one.number: one for one in message.members}
    found: Element = {
        one.name: [] if one.is_list else "" if one.form == "text" else 0 for one in message.members
    }
    for offset, number, value in _pieces(content, start):
        member = known.get(number)
        if member is None or isinstance(value, int) != (member.form == "whole"):
            is_packed = member is not None and member.form == "whole" and member.is_list
            if member is None or not is_packed or isinstance(value, int):
                raise NoMessage(f"no member {number} of {message.name} is so", offset)
            found[member.name] += _packed(value[1], value[0])
            continue
        item = value if isinstance(value, int) else _content(member, *value)
        if member.is_list:
            found[member.name].append(item)
        else:
            found[member.name] = item
    return found


def _content(member: Member, start: int, content: memoryview) -> Any:
    if member.message is not None:
        return _decode(content, member.message, start)
    try:
        return bytes(content).decode()
    except UnicodeDecodeError:
        raise NoMessage(f"{member.name} is no UTF-8", start) from None


def _pieces(
    content: memoryview, start: int
) -> Iterator[tuple[int, int, int | tuple[int, memoryview]]]:
    """Offset, number and value of each member; of bytes where they begin, too."""
    at = 0
    while at < len(content):
        offset = start + at
        tag, at = _read(content, at, start)
        if tag & 7 == _VARINT:
            value, at = _read(content, at, start)
            yield offset, tag >> 3, _signed(value)
            continue
        if tag & 7 != _LENGTH:
            raise NoMessage(f"a member of the wire type {tag & 7}", offset)
        length, at = _read(content, at, start)
        if length > len(content) - at:
            raise NoMessage(f"{length:,} bytes, of which {len(content) - at:,} are left", offset)
        yield offset, tag >> 3, (start + at, content[at : at + length])
        at += length


def _packed(content: memoryview, start: int) -> list[int]:
    found, at = [], 0
    while at < len(content):
        value, at = _read(content, at, start)
        found.append(_signed(value))
    return found


def _signed(value: int) -> int:
    return value - (1 << _BITS) if value >= _MOST else value


def _read(content: memoryview, at: int, start: int) -> tuple[int, int]:
    """A number and where the next byte is."""
    value = 0
    for place in range(_LONGEST):
        if at + place >= len(content):
            break
        byte = content[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 1 << 7:
            return value % (1 << _BITS), at + place + 1
    raise NoMessage("a number that does not end", start + at)
