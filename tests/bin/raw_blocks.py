"""The real files, and small files made by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data" / "bin"

REAL = ("base_info.bin", "mix.bin", "roofline_data.bin")


def real(name: str) -> Path:
    """A real file, or the test is skipped."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs the real file {path}, which is not part of the project")
    return path


def raw_block(
    kind: int,
    payload: bytes | memoryview,
    *,
    path: bytes = b"",
    size: int | None = None,
    padding: int | None = None,
    version: int = 0x5A,
    filler: int = 0x5A,
) -> bytes:
    """A block spelled out byte by byte from the document, sound unless told otherwise."""
    pad = -len(payload) % 4
    header = struct.pack(
        "<QBBBB",
        len(payload) + pad if size is None else size,
        kind,
        pad if padding is None else padding,
        version,
        filler,
    )
    section = path.ljust(4096, b"\0") if kind == 0x01 else b""
    return b"".join((header, section, payload, bytes(pad)))


SMALL = raw_block(0x05, b'{"name":"add"}') + raw_block(0x07, b'{"advice":[],"x":1.5}')
