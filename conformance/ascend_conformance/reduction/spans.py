"""Text files whose rows are spans of bytes."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .reducible import NEVER, Flags, Integers, Reducible

INSTANT = "timestamp"
"""What names of the types of instants begin with."""

PART = 4 << 20
"""Bytes copied at a time."""


class Spans(Reducible):
    """A file of rows that follow each other: ``begins`` and ``ends`` are bytes of the file.

    ``joint`` stands between two rows that did not follow each other.
    """

    def __init__(self, path: Path, begins: Integers, ends: Integers, joint: bytes = b"") -> None:
        super().__init__(path)
        self.begins, self.ends, self.joint = begins, ends, joint

    def write(self, target: Path, parts: Flags, rows: Flags) -> None:
        """The bytes around all rows stay, and so do those between rows that followed each other."""
        kept = np.flatnonzero(rows)
        breaks = np.flatnonzero(np.diff(kept) != 1) + 1
        with self.path.open("rb") as source, target.open("wb") as file:
            if not len(self.begins):
                _copy(source, file, 0, None)
                return
            _copy(source, file, 0, int(self.begins[0]))
            for number, run in enumerate(np.split(kept, breaks) if len(kept) else ()):
                file.write(self.joint if number else b"")
                _copy(source, file, int(self.begins[run[0]]), int(self.ends[run[-1]]))
            _copy(source, file, int(self.ends[-1]), None)

    def row_at(self, written: Path, rows: Flags, part: str | None, place: int) -> int | None:
        """The row that holds a byte."""
        kept = np.flatnonzero(rows)
        if not len(kept):
            return None
        follows = np.diff(kept) == 1
        between = np.where(follows, self.begins[kept[1:]] - self.ends[kept[:-1]], len(self.joint))
        lengths = self.ends[kept] - self.begins[kept]
        begins = self.begins[0] + np.cumsum(np.append(0, lengths[:-1] + between))
        at = int(np.searchsorted(begins, place, "right")) - 1
        return int(kept[at]) if at >= 0 and place < begins[at] + lengths[at] else None


def _copy(source: BinaryIO, target: BinaryIO, begin: int, end: int | None) -> None:
    source.seek(begin)
    while end is None or begin < end:
        part = source.read(PART if end is None else min(PART, end - begin))
        if not part:
            return
        target.write(part)
        begin += len(part)


def nanoseconds(text: Any, scale: int) -> int:
    """A time as files write it, in units of ``scale`` ns; :data:`.NEVER` for what is none."""
    try:
        value = Decimal(str(text).strip()) * scale
        return int(value) if abs(value) < NEVER else NEVER
    except (InvalidOperation, ValueError):  # no number, or NaN
        return NEVER
