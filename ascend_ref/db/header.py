"""The first 100 bytes of a SQLite file, and what they promise about its length.

Basis: the file format page of SQLite, sections 1.3 (database header) and 4 (write-ahead log).
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

from ascend_ref.sniff import SQLITE_HEADER

from .display import printable, show_path

HEADER_BYTES = 100

READ_FLAGS = os.O_RDONLY
"""Flags to open a foreign file: no waiting for a peer, no controlling terminal, raw bytes."""
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
    READ_FLAGS |= getattr(os, _name, 0)

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


class UnreadableDatabase(Exception):
    """A file that cannot be read as a SQLite database; ``str()`` is one clear line.

    ``path`` is the file, ``reason`` what was found and, after a semicolon, what was expected.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = printable(reason)

    def __str__(self) -> str:
        return f"{show_path(self.path)}: {self.reason}"


class NoDatabase(UnreadableDatabase):
    """Nothing there is a SQLite database, not even a broken one. ``found``: what it is instead."""

    def __init__(self, path: Path, found: str, mark: str = "") -> None:
        super().__init__(path, f"{found}; expected a SQLite database{mark}")
        self.args = (path, found, mark)
        self.found = printable(found)


def sound_length(path: Path) -> int:
    """The bytes of a regular file whose header is that of a complete SQLite database.

    The header is read without ever blocking and without touching the file. Raises
    :class:`UnreadableDatabase` for anything that is not a complete SQLite database: another kind
    of file, no permission, an impossible header, a truncated file; :class:`NoDatabase` for another
    format, an empty file or none.
    """
    head, length = _read_start(path)
    if not head:
        raise NoDatabase(path, "an empty file of 0 bytes")
    if not SQLITE_HEADER.startswith(head[: len(SQLITE_HEADER)]):
        raise NoDatabase(path, f"starts with {head[:16]!r}", f", {SQLITE_HEADER!r}")
    if len(head) < HEADER_BYTES:
        raise UnreadableDatabase(
            path, f"truncated to {length} bytes; expected at least the {HEADER_BYTES} byte header"
        )
    _require_sound(path, head, length)
    return length


def _read_start(path: Path) -> tuple[bytes, int]:
    """The first bytes and the length. Stat comes first: opening a FIFO or device has effects."""
    try:
        _require_regular(path, os.stat(path).st_mode)
        descriptor = os.open(path, READ_FLAGS)
        try:
            found = os.fstat(descriptor)
            _require_regular(path, found.st_mode)
            return os.read(descriptor, HEADER_BYTES), found.st_size
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise NoDatabase(path, "no such file") from None
    except PermissionError:
        raise UnreadableDatabase(path, "no permission to read; expected a readable file") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UnreadableDatabase(path, f"{said}; expected a readable file") from None


def _require_regular(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in _KINDS if test(mode)), "a special file")
        raise UnreadableDatabase(path, f"{kind}; expected a regular file")


def _require_sound(path: Path, head: bytes, length: int) -> None:
    page_size = struct.unpack_from(">H", head, 16)[0]
    page_size = 65536 if page_size == 1 else page_size
    if page_size < 512 or page_size & (page_size - 1):
        raise UnreadableDatabase(
            path, f"page size {page_size}; expected a power of two from 512 to 65536"
        )
    if not {head[18], head[19]} <= {1, 2}:
        raise UnreadableDatabase(
            path, f"file format versions {head[18]} and {head[19]}; expected 1 (journal) or 2 (WAL)"
        )
    if page_size - head[20] < 480 or head[21:24] != b"\x40\x20\x20":
        raise UnreadableDatabase(
            path,
            f"bytes 20 to 23 are {tuple(head[20:24])}; expected a usable page of 480 bytes or more "
            "and the fractions 64, 32, 32",
        )
    change_counter, claimed = struct.unpack_from(">II", head, 24)
    encoding = struct.unpack_from(">I", head, 56)[0]
    valid_for = struct.unpack_from(">I", head, 92)[0]
    if encoding not in (1, 2, 3) and not (encoding == 0 and head[44:48] == b"\0" * 4):
        raise UnreadableDatabase(path, f"text encoding {encoding}; expected 1, 2 or 3")
    # The page count counts only where the writer that changed the file last also kept it.
    pages = claimed if claimed and change_counter == valid_for else max(1, length // page_size)
    if length < pages * page_size:
        raise UnreadableDatabase(
            path,
            f"truncated to {length // page_size:,} of {pages:,} pages ({length:,} bytes); "
            f"expected {pages * page_size:,} bytes",
        )
    if pages != claimed and length % page_size:
        raise UnreadableDatabase(
            path, f"truncated to {length:,} bytes; expected whole pages of {page_size:,} bytes"
        )
