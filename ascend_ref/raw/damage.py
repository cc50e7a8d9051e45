"""What is wrong with a raw file, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class Unreadable(ValueError):
    """What was named is no raw file and no folder of raw files."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that cannot be read; the rest of the file is.

    ``offset``: the byte in the file where it begins; ``None`` where it is no place. ``kind``: what
    the spec calls the file, where ``file`` is the folder with all slices of it.
    """

    file: Path
    message: str
    offset: int | None = None
    kind: str | None = None

    def __str__(self) -> str:
        place = "" if self.offset is None else f"byte {self.offset:,}: "
        return f"{self.file}: {place}{self.message}"
