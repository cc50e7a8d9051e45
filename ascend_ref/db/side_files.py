"""The files that SQLite leaves next to a database whose last writer did not finish."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .header import READ_FLAGS

WAL_HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


@dataclass(frozen=True, slots=True)
class SideFiles:
    """What lies next to a database that was opened immutable, and so was not read with it.

    ``wal_frames`` counts the page images of committed transactions in the write-ahead log: rows
    that an ordinary reader would see and we do not. ``hot_journal_bytes`` is the length of a
    rollback journal that an ordinary reader would roll back. A file of 0 bytes counts as absent.
    """

    wal_frames: int = 0
    hot_journal_bytes: int = 0

    def __bool__(self) -> bool:
        return self.wal_frames > 0 or self.hot_journal_bytes > 0


def side_files(path: Path) -> SideFiles:
    """Look for ``-wal`` and ``-journal`` next to ``path``; never blocks, never writes, never fails.

    A log or journal that cannot be read counts as absent: it could not be recovered either.
    """
    return SideFiles(
        _counted(path, "-wal", _committed_frames), _counted(path, "-journal", _hot_bytes)
    )


def _counted(path: Path, suffix: str, count: Callable[[int], int]) -> int:
    """What is counted in a regular, non-empty file next to the database; 0 without one."""
    side = os.fsencode(path) + suffix.encode("ascii")
    try:
        found = os.stat(side)
        if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
            return 0
        descriptor = os.open(side, READ_FLAGS)
        try:
            return count(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return 0


def _hot_bytes(descriptor: int) -> int:
    """The length of a journal that is to be rolled back."""
    is_hot = os.read(descriptor, len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
    return os.fstat(descriptor).st_size if is_hot else 0


def _committed_frames(descriptor: int) -> int:
    """Frames up to the last commit whose salts are those of the log's header.

    Frames behind it belong to an earlier round of the log or to an unfinished transaction
    (SQLite file format, section 4.4). Checksums are not computed.
    """
    header = os.read(descriptor, WAL_HEADER_BYTES)
    if len(header) < WAL_HEADER_BYTES or struct.unpack_from(">I", header)[0] not in _WAL_MAGIC:
        return 0
    page_size = struct.unpack_from(">I", header, 8)[0]
    if page_size < 512 or page_size > 65536:
        return 0
    salts = header[16:24]
    seen = committed = 0
    position = WAL_HEADER_BYTES
    while True:
        os.lseek(descriptor, position, os.SEEK_SET)
        frame = os.read(descriptor, FRAME_HEADER_BYTES)
        if len(frame) < FRAME_HEADER_BYTES or frame[8:16] != salts:
            return committed
        seen += 1
        if struct.unpack_from(">I", frame, 4)[0]:
            committed = seen
        position += FRAME_HEADER_BYTES + page_size
