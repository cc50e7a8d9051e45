"""Lengths of time for people."""

from __future__ import annotations

from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A unit of time and its length in ns."""

    name: str
    length: int


UNITS: Final = (Unit("ns", 1), Unit("us", 1_000), Unit("ms", 1_000_000), Unit("s", 1_000_000_000))


def unit_of(length: int) -> Unit:
    """The greatest unit that fits into a length; ns for nothing."""
    return next((unit for unit in reversed(UNITS) if length >= unit.length), UNITS[0])


def duration(length: int) -> str:
    """A length with three significant digits, at least one decimal: ``136.6 ms``."""
    if not length:
        return "0"
    unit = unit_of(length)
    value = length / unit.length
    decimals = 0 if unit.length == 1 or value >= 999.5 else 2 if value < 9.995 else 1
    return f"{value:,.{decimals}f} {unit.name}"


def percent(part: int, whole: int) -> str:
    """A share with one decimal; a share that is not nothing is never shown as nothing."""
    share = 100 * part / whole if whole else 0.0
    if part and share < 0.05:
        return "<0.1 %"
    if part < whole and share > 99.95:
        return ">99.9 %"
    return f"{share:.1f} %"
