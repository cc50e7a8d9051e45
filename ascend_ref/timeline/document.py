"""A JSON array of events on disk, in one file or cut into several."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

Naming = Callable[[int | None], str]
"""File name of a slice, counted from 0; of the whole for ``None``."""

OPEN, CLOSE = b"[", b"]"
COPIED_AT_ONCE = 1 << 20


class Document:
    """Takes rows that each begin with the separator; files have hidden names until the end."""

    def __init__(self, folder: Path, naming: Naming, separator: str) -> None:
        self._folder, self._naming = folder, naming
        self._separator = separator.encode()
        self._drafts: list[Path] = []
        self._file: BinaryIO | None = None

    def metadata(self, row: bytes) -> None:
        """Append an event of phase M."""
        self.events(memoryview(row))

    def events(self, rows: memoryview) -> None:
        """Append events."""
        if self._file is None:
            self._file = self._next()
            self._file.write(OPEN)
            rows = rows[len(self._separator) :]
        self._file.write(rows)

    def finish(self) -> list[Path]:
        """Give the file its name; no file without rows."""
        if self._file is None:
            return []
        self._file.write(CLOSE)
        self._close()
        return self._named([None])

    def discard(self) -> None:
        """Remove what has not been finished."""
        self._close()
        for draft in self._drafts:
            draft.unlink(missing_ok=True)

    def _next(self) -> BinaryIO:
        draft = self._folder / f".{self._naming(None)}.{secrets.token_hex(4)}.partial"
        self._drafts.append(draft)
        return draft.open("x+b")

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _named(self, numbers: list[int | None]) -> list[Path]:
        """The drafts under the names of these slices."""
        paths = [self._folder / self._naming(number) for number in numbers]
        for draft, path in zip(self._drafts, paths, strict=True):
            os.replace(draft, path)
        self._drafts = []
        return paths


class SlicedDocument(Document):
    """Cut where about ``size`` bytes are reached; every slice begins with all metadata, so that it
    can be opened by itself (text-outputs.md 2.3).
    """

    def __init__(self, folder: Path, naming: Naming, separator: str, size: int) -> None:
        super().__init__(folder, naming, separator)
        self._size = size
        self._metadata: list[bytes] = []
        self._cuts = [0]

    def metadata(self, row: bytes) -> None:
        """Keep an event of phase M for every slice."""
        self._metadata.append(row)

    def events(self, rows: memoryview) -> None:
        """Append events to the slice that has room."""
        if self._file is None:
            self._file = self._next()
        if self._file.tell() - self._cuts[-1] >= self._size:
            self._cuts.append(self._file.tell())
        self._file.write(rows)

    def finish(self) -> list[Path]:
        """Cut the slices; a single one is called like a whole."""
        body, bounds = self._file, self._cuts
        if body is None:
            return []
        bounds = [*self._cuts, body.tell()]
        head = b"".join(self._metadata)
        parts = self._drafts
        self._drafts = []
        try:
            for first, last in pairwise(bounds):
                with self._next() as part:
                    self._copy(body, part, head, first, last)
            self._close()
            count = len(self._drafts)
            return self._named(list(range(count)) if count > 1 else [None])
        finally:
            self._close()
            for draft in parts:
                draft.unlink(missing_ok=True)

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
