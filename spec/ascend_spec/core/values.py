"""Value types: a unit and a range are written down once, and columns refer to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .bounds import Bounds

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


@dataclass(frozen=True, slots=True)
class SetMember(Bounds):
    """One value of a set.

    ``name`` is what source code calls a number, ``label`` what the viewer shows for it.
    ``alias_of``: the value that current exporters write instead; ``order`` and ``colour`` (the
    ``cname`` of its events) describe a lane of the timeline. ``calls``: a regular expression for
    the beginning of the names of the calls that are of this kind; an empty one is for all others.
    """

    value: str | int
    summary: str = ""
    name: str | None = None
    label: str | None = None
    alias_of: str | int | None = None
    erratum: str | None = None
    order: int | None = None
    colour: str | None = None
    chips: tuple[str, ...] = ()
    calls: str | None = None


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A set of values; ``closed`` is false where readers take any other value as well."""

    name: str
    summary: str
    source: tuple[str, ...]
    members: tuple[SetMember, ...]
    closed: bool = True
