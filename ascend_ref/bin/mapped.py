"""Whole files as memory that costs nothing until it is looked at."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path


def mapped(path: Path) -> memoryview:
    """The bytes of a file; the map lives as long as somebody looks into it. Raises ``OSError``."""
    if not path.stat().st_size:  # which cannot be mapped
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
