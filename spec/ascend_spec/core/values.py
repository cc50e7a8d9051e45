"""Value types: a unit and a range are written down once, and columns refer to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StorageClass = Literal["integer", "real", "text", "blob", "null"]


@dataclass(frozen=True, slots=True)
class ValueType:
    """A kind of value: how SQLite stores it and what numbers are possible.

    ``minimum`` and ``maximum`` bound every value that is not a sentinel; ``unit`` is the SI-like
    unit of the stored number (``ns``, ``Byte``, ``Byte/s``, ``%``, …) or ``None``.
    """

    id: str
    declared: str
    storage: tuple[StorageClass, ...]
    summary: str
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    references: tuple[str, ...] = ()
