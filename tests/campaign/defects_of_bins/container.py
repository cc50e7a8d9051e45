"""The container: headers, order and bytes of blocks."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from damaged_profiles import Bin
from exporter_defects import defect

from .payloads import BASIC, CODE, CORES, COUNTS, FIGURE, HEAT, INSTRUCTIONS, LINES, ROOFS, TABLES


def _headers(bin_: Bin, change: Callable[[bytes, bytes], bytes]) -> None:
    """Rewrite each block from its header and what follows it."""
    content, at, parts = bin_.path.read_bytes(), 0, []
    while at < len(content):
        size, kind = struct.unpack_from("<QB", content, at)
        end = at + 12 + size + (4096 if kind == CODE else 0)
        parts.append(change(content[at : at + 12], content[at + 12 : end]))
        at = end
    bin_.put(b"".join(parts))


@defect("bin", "no header stands where the block before ends")
def lengths_without_padding(bin_: Bin) -> None:
    """The length is that of the payload, without the bytes that fill it up."""
    _headers(
        bin_,
        lambda head, rest: (
            struct.pack("<Q", struct.unpack("<Q", head[:8])[0] - head[9]) + head[8:] + rest
        ),
    )


@defect("bin", "no header stands where the block before ends")
def lengths_with_the_header(bin_: Bin) -> None:
    """The length counts its own 12 bytes."""
    _headers(
        bin_,
        lambda head, rest: (
            struct.pack("<Q", struct.unpack("<Q", head[:8])[0] + 12) + head[8:] + rest
        ),
    )


@defect("bin", "no header stands where the block before ends")
def headers_of_16_bytes(bin_: Bin) -> None:
    """The compiler fills the header up to its alignment."""
    _headers(bin_, lambda head, rest: head + bytes(4) + rest)


@defect("bin", "the length is beyond the file")
def lengths_in_network_order(bin_: Bin) -> None:
    """The length is written with its highest byte first."""
    _headers(bin_, lambda head, rest: head[:8][::-1] + head[8:] + rest)


@defect("bin", "padding is announced and the payload does not end in it")
def padding_of_blanks(bin_: Bin) -> None:
    """Payloads are filled up with blanks."""
    _headers(
        bin_,
        lambda head, rest: head + (rest[: -head[9]] + b" " * head[9] if head[9] else rest),
    )


@defect("bin", "the payload ends in bytes that are no JSON")
def padding_is_not_announced(bin_: Bin) -> None:
    """The number of bytes that fill the payload up is not written."""
    _headers(bin_, lambda head, rest: head[:9] + b"\0" + head[10:] + rest)


@defect("bin", "no header ends in another byte")
def headers_without_their_mark(bin_: Bin) -> None:
    """The reserved bytes are cleared."""
    _headers(bin_, lambda head, rest: head[:10] + (b"\0\0" if rest else b"") + rest)


@defect("bin", "each block may stand once, and stands twice")
def written_twice_into_one_file(bin_: Bin) -> None:
    """A second run appends to the file of the first."""
    content = bin_.path.read_bytes()
    bin_.put(content + content)


@defect("bin", "the file ends before its last block")
def end_of_the_file_lost(bin_: Bin) -> None:
    """The last page is never flushed."""
    bin_.put(bin_.path.read_bytes()[:-700])


def _exchanged(name: str, first: int, second: int) -> None:
    @defect("bin", "the payload is not that of its type", f"{name}-exchanged")
    def exchanged(bin_: Bin) -> None:
        """Two types of blocks are exchanged."""
        swap = {first: second, second: first}
        bin_.write([replace(one, type=swap.get(one.type, one.type)) for one in bin_.blocks()])


_exchanged("figure-and-counts", FIGURE, COUNTS)
_exchanged("heat-map-and-tables", HEAT, TABLES)
_exchanged("cores-and-roofs", CORES, ROOFS)
_exchanged("lines-and-instructions", LINES, INSTRUCTIONS)


def _without(name: str, code: int) -> None:
    @defect("bin", "the blocks that belong to it are there", f"{name}-lost")
    def lost(bin_: Bin) -> None:
        """One block is not written."""
        bin_.write([one for one in bin_.blocks() if one.type != code])


_without("basic-info", BASIC)
_without("instructions", INSTRUCTIONS)
_without("source-text", CODE)


def _raw(bin_: Bin, change: Callable[[bytes], bytes]) -> None:
    bin_.write(
        [
            one if one.type == CODE else replace(one, payload=change(bytes(one.payload)))
            for one in bin_.blocks()
        ]
    )


@defect("bin", "NaN is no JSON")
def shares_that_are_no_number(bin_: Bin) -> None:
    """0 by 0 is written as the language prints it."""
    bin_.need(FIGURE)
    _raw(bin_, lambda text: text.replace(b'"unit":3,"value":0.0', b'"unit":3,"value":nan'))


@defect("bin", "a comma before a bracket is no JSON")
def commas_behind_the_last(bin_: Bin) -> None:
    """Lists are written element by element, each with a comma."""
    _raw(bin_, lambda text: text.replace(b"}]", b"},]"))


@defect("bin", "the text is no UTF-8")
def texts_in_another_encoding(bin_: Bin) -> None:
    """Texts are written in the encoding of the machine."""
    _raw(bin_, lambda text: text.decode().encode("utf-16-le"))


@defect("bin", "the payload is no object")
def payloads_in_a_list(bin_: Bin) -> None:
    """The payload is wrapped into a list."""
    _raw(bin_, lambda text: b"[" + text + b"]")


@defect("bin", "keys are spelt as nobody reads them")
def keys_in_upper_case(bin_: Bin) -> None:
    """Keys are those of the program's own structures."""

    def upper(value: Any) -> Any:
        if isinstance(value, dict):
            return {key.upper(): upper(one) for key, one in value.items()}
        return [upper(one) for one in value] if isinstance(value, list) else value

    _raw(bin_, lambda text: json.dumps(upper(json.loads(text)), separators=(",", ":")).encode())
