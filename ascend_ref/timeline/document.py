"""A JSON array of events on disk, in one file or cut into several."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from ascend_ref.atomic import Drafts, Naming

OPEN, CLOSE = b"[", b"]"
COPIED_AT_ONCE = 1 << 20


class Document:
    """Takes rows that each begin with the separator; files have hidden names until the end."""

    def __init__(self, folder: Path, naming: Naming, separator: str) -> None:
        self._separator = separator.encode()
        self._drafts = Drafts(folder, naming)
        self._file: BinaryIO | None = None

    def metadata(self, row: bytes) -> None:
        """Append an event of phase M."""
        self.events(memoryview(row))

    def events(self, rows: memoryview) -> None:
        """Append events."""
        if self._file is None:
            self._file = self._drafts.open()
            self._file.write(OPEN)
            rows = rows[len(self._separator) :]
        self._file.write(rows)

    def finish(self) -> list[Path]:
        """Give the file its name; no file without rows."""
        if self._file is None:
            return []
        self._file.write(CLOSE)
        return self._drafts.keep([None])

    def discard(self) -> None:
        """Remove what has not been finished."""
        self._drafts.discard()


class SlicedDocument(Document):
    """Cut where about ``size`` bytes are reached; every slice begins with all metadata, so that it
    can be opened by itself (text-outputs.md 2.3).
    """

    def __init__(self, folder: Path, naming: Naming, separator: str, size: int) -> None:
        super().__init__(folder, naming, separator)
        self._slices = Drafts(folder, naming)
        self._size = size
        self._metadata: list[bytes] = []
        self._cuts = [0]

    def metadata(self, row: bytes) -> None:
        """Keep an event of phase M for every slice."""
        self._metadata.append(row)

    def events(self, rows: memoryview) -> None:
        """Append events to the slice that has room."""
        if self._file is None:
            self._file = self._drafts.open()
        if self._file.tell() - self._cuts[-1] >= self._size:
            self._cuts.append(self._file.tell())
        self._file.write(rows)

    def finish(self) -> list[Path]:
        """Cut the slices; a single one is called like a whole."""
        body = self._file
        if body is None:
            return []
        head = b"".join(self._metadata)
        bounds = list(pairwise([*self._cuts, body.tell()]))
        for first, last in bounds:
            with self._slices.open() as part:
                self._copy(body, part, head, first, last)
        self._drafts.discard()
        return self._slices.keep(range(len(bounds)) if len(bounds) > 1 else [None])

    def discard(self) -> None:
        """Remove what has not been finished."""
        super().discard()
        self._slices.discard()

    def _copy(self, body: BinaryIO, part: BinaryIO, head: bytes, first: int, last: int) -> None:
        """One slice: the metadata, and the events between two places."""
        part.write(OPEN)
        part.write(head[len(self._separator) :])
        body.seek(first if head else first + len(self._separator))
        left = last - body.tell()
        while left:
            block = body.read(min(left, COPIED_AT_ONCE))
            part.write(block)
            left -= len(block)
        part.write(CLOSE)
