"""What a file is, by its first bytes."""

from __future__ import annotations

import stat
from pathlib import Path

from ascend_spec.bin import FILLER, HEADER_SIZE, LEGACY_VERSION

SQLITE_HEADER = b"SQLite format 3\0"

_MARK = bytes((LEGACY_VERSION, FILLER))


def first_bytes(path: Path, number: int) -> bytes | None:
    """The first bytes of a file; ``None`` for what is no file, or cannot be opened. Never waits."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            return file.read(number)
    except (OSError, ValueError):
        return None


def is_sqlite(path: Path) -> bool:
    """Whether a file is a database, by its first bytes."""
    return first_bytes(path, len(SQLITE_HEADER)) == SQLITE_HEADER


def is_block_file(path: Path) -> bool:
    """Whether a file of this name and these first bytes is one of blocks, sound or not.

    That is the consumer's own test of the first header, or the suffix that it asks for on a file
    that is no database either. False for what cannot be opened.
    """
    start = first_bytes(path, len(SQLITE_HEADER))
    if start is None or start == SQLITE_HEADER:
        return False
    marked = len(start) >= HEADER_SIZE and start[HEADER_SIZE - 2 : HEADER_SIZE] == _MARK
    return marked or path.suffix == ".bin"
