"""Forms that records of several kinds have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construct import BitStruct, ByteSwapped, Construct, Int16ul, Int32ul, Int64ul, Padding, Struct

from ascend_spec.core.packed import ClockName, Field, field

HASH_DIC = "hash_dic"
"""What names a hash; ``ascend_ref.derive.text_hash`` computes it."""

MAGIC = 0x5A5A
"""The first two bytes of every record that software reports."""

HEAD_SIZE = 24
"""Bytes before the body of a compact or an additional record."""

COMPACT_SIZE = 64

ADDITIONAL_SIZE = 256

Shows = str | Mapping[str, Any]

CONSTANT: Shows = {"nothing": "constant"}
DERIVED: Shows = {"nothing": "derived"}
REPEATED: Shows = {"nothing": "repeated"}
UNRECORDED: Shows = {"nothing": "unrecorded"}

_SOURCE = ("raw-prof 4.2", "ge-profiling 5", "upstream-msprof MsprofCompactInfo")


def bits(*parts: Construct) -> Construct:
    """Parts of one little-endian number of 16 bits or more, the highest first."""
    return ByteSwapped(BitStruct(*parts))


def magic(source: tuple[str, ...] = _SOURCE) -> Field:
    """What every record that software reports begins with."""
    return field(
        "magicNumber",
        Int16ul,
        "0x5A5A; the exporter skips a record with any other.",
        source=source,
        grade="observed",
        shows=CONSTANT,
    )


def head(
    *,
    thread: Shows = DERIVED,
    time: Shows = DERIVED,
    kind: Shows = CONSTANT,
    clock: ClockName | None = None,
) -> tuple[Field, ...]:
    """The head of a compact or an additional record; ``kind`` is what its type shows, ``clock`` the
    one of its time where that is no call's.

    Most records belong to the call of the same thread whose interval holds their time, so that
    both follow from that call (raw-prof 5).
    """
    return (
        magic(),
        _head("level", Int16ul, "Layer that reported the record.", CONSTANT, values="levels"),
        _head("type", Int32ul, "Kind of the record within its layer.", kind),
        _head("threadId", Int32ul, "Thread that reported the record.", thread),
        _head(
            "dataLen",
            Int32ul,
            "Bytes of the body that are in use; GE writes 0 in some records, and no reader needs "
            "it.",
            DERIVED,
            unit="Byte",
        ),
        _head(
            "timeStamp",
            Int64ul,
            "Time by the counter of the host." if clock is None else "Time of the record.",
            time,
            unit="tick",
            clock=clock,
        ),
    )


def compact(size: int, begin: tuple[Field, ...], *body: Construct) -> Struct:
    """A record of 64 bytes whose body has the size that the documents state."""
    return _record(COMPACT_SIZE, size, begin, body)


def additional(size: int, begin: tuple[Field, ...], *body: Construct) -> Struct:
    """A record of 256 bytes whose body has the size that the documents state."""
    return _record(ADDITIONAL_SIZE, size, begin, body)


def _record(whole: int, size: int, begin: tuple[Field, ...], body: tuple[Construct, ...]) -> Struct:
    found = Struct(*begin).sizeof(), Struct(*body).sizeof()
    if found != (HEAD_SIZE, size):
        raise ValueError(f"head and body have {found} bytes, not {(HEAD_SIZE, size)}")
    left = whole - HEAD_SIZE - size
    return Struct(*begin, *body, *([Padding(left)] if left else []))


def _head(name: str, form: Construct, summary: str, shows: Shows, **more: Any) -> Field:
    return field(name, form, summary, source=_SOURCE, grade="observed", shows=shows, **more)
