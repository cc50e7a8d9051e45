"""The parts of SCHEMA_VERSION: which of them changes demand, and which a version raises."""

from __future__ import annotations

from typing import Literal, get_args

Bump = Literal["none", "MICRO", "MINOR", "MAJOR"]

BUMPS: tuple[Bump, ...] = get_args(Bump)
"""The least first."""

PARTS: tuple[Bump, ...] = ("MAJOR", "MINOR", "MICRO")
"""As a version spells them."""


def declared_bump(old: str, new: str) -> Bump:
    """The first part in which a version is above another one; ``none`` where it is not.

    Raises ``ValueError`` for a version that is not three numbers.
    """
    before, after = _numbers(old), _numbers(new)
    for part, was, now in zip(PARTS, before, after, strict=True):
        if was != now:
            return part if now > was else "none"
    return "none"


def admits(declared: Bump, required: Bump) -> bool:
    """Whether a version that was raised so says enough."""
    return BUMPS.index(declared) >= BUMPS.index(required)


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    if len(parts) != len(PARTS) or not all(one.isdecimal() and one.isascii() for one in parts):
        raise ValueError(f"SCHEMA_VERSION {version!r}: expected three numbers, as 1.2.0")
    return tuple(map(int, parts))
