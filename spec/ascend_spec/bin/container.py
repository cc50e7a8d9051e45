"""The framing: a file is a plain concatenation of blocks (seed-004).

header (12 bytes) + path section (4096 bytes, type 0x01 only) + payload + padding. ``FILE`` says it
in full, for sound files in memory; readers of damaged or large ones need no more than ``HEADER``.
"""

from __future__ import annotations

from functools import partial

from construct import (
    Bytes,
    FixedSized,
    GreedyBytes,
    GreedyRange,
    If,
    Int8ul,
    Int64ul,
    NullTerminated,
    Struct,
    this,
)

from ascend_spec.core.packed import field

ALIGNMENT = 4
"""Payload and padding together are a multiple of this; padding bytes are zero."""

PATH_SECTION_SIZE = 4096
"""Bytes of a path section: PATH_MAX of the producer, so at most 4095 bytes and a NUL."""

PATH_TYPE = 0x01
"""The one type with a path section between header and payload."""

VERSIONED_TYPE = 0x04
"""The one type whose version byte may be 0 instead of the filler."""

FILLER = 0x5A
"""Byte 11 of every header, and byte 10 where no version is stated."""

LEGACY_VERSION = FILLER
"""What byte 10 reads as where it is filler."""

_field = partial(field, source=("seed-004",))

HEADER = Struct(
    _field(
        "contentSize",
        Int64ul,
        "Size of payload and padding; neither the header nor the path section counts.",
        unit="Byte",
    ),
    _field("type", Int8ul, "Code of the block type."),
    _field("padding", Int8ul, "Zeros behind the payload, 0 to 3.", unit="Byte"),
    _field(
        "version",
        Int8ul,
        "0x5A, or 0 where a block of type 0x04 states a version; with the next byte the documents' "
        "reverse = 0x5a5a.",
    ),
    _field("reverse", Int8ul, "Always 0x5A."),
)

HEADER_SIZE = 12
"""The documents' struct, packed to 4 bytes as producer and consumer do; unpacked it were 16."""

PATH_SECTION = FixedSized(PATH_SECTION_SIZE, NullTerminated(GreedyBytes, require=False))
"""A path up to its NUL, and zeros; readers must expect a section without any NUL."""

BLOCK = Struct(
    "header" / HEADER,
    "path" / If(this.header.type == PATH_TYPE, PATH_SECTION),
    "payload" / Bytes(this.header.contentSize - this.header.padding),
    "zeros" / Bytes(this.header.padding),
)

FILE = GreedyRange(BLOCK)

# The declarations against the document.
assert HEADER.sizeof() == HEADER_SIZE  # noqa: S101
assert PATH_SECTION.sizeof() == PATH_SECTION_SIZE  # noqa: S101
