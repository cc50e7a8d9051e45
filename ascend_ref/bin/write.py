"""Writing ``visualize_data.bin``: headers, padding, whole files that appear at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.atomic import atomic_file
from ascend_spec.bin import ALIGNMENT, FILLER, HEADER, LEGACY_VERSION, PATH_SECTION_SIZE, PATH_TYPE
from ascend_spec.core.packed import struct_of

_HEADER = struct_of(HEADER)


@dataclass(frozen=True, slots=True)
class Block:
    """One block to write. ``payload`` has no padding; ``path`` (type 0x01 only) no NUL.

    ``version`` is byte 10: 0 in blocks of type 0x04 from current producers, else filler.
    """

    type: int
    payload: bytes | memoryview
    path: bytes | None = None
    version: int = LEGACY_VERSION


def pieces(block: Block) -> Iterator[bytes | memoryview]:
    """The bytes of a block: header, path section, payload, padding.

    Raises ``ValueError`` for a path that does not fit its section, or stands in another type.
    """
    padding = -len(block.payload) % ALIGNMENT
    size = len(block.payload) + padding
    yield _HEADER.pack(size, block.type, padding, block.version, FILLER)
    if block.type == PATH_TYPE:
        yield path_section(block.path or b"")
    elif block.path is not None:
        raise ValueError(f"a block of type 0x{block.type:02x} has no path")
    yield block.payload
    yield bytes(padding)


def path_section(path: bytes) -> bytes:
    """A path with the zeros that fill its section. Raises ``ValueError`` if it does not fit."""
    if len(path) >= PATH_SECTION_SIZE or b"\0" in path:
        raise ValueError(f"a path of {len(path):,} bytes; expected at most 4095 and no NUL")
    return path.ljust(PATH_SECTION_SIZE, b"\0")


def to_bytes(blocks: Iterable[Block]) -> bytes:
    """A whole file in memory."""
    return b"".join(piece for block in blocks for piece in pieces(block))


def write_file(path: Path | str, blocks: Iterable[Block]) -> None:
    """Write a file under a temporary name and rename it into place. Raises ``OSError``."""
    with atomic_file(Path(path)) as file:
        for block in blocks:
            file.writelines(pieces(block))
