"""Guesses at what was meant by a number in the wrong unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BINARY = {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_BITS = {"BIT": 1, "KBIT": 10**3, "MBIT": 10**6, "GBIT": 10**9, "TBIT": 10**12}
_SHORT_BITS = {f"{prefix}b": 1000**power for power, prefix in enumerate(("", "K", "M", "G", "T"))}

_SPELLINGS: dict[str, dict[str, Fraction]] = {
    "MHz": {
        "HZ": Fraction(1, 10**6),
        "KHZ": Fraction(1, 1000),
        "MHZ": Fraction(1),
        "GHZ": Fraction(1000),
    },
    "Hz": {"HZ": Fraction(1), "KHZ": Fraction(1000)},
    "ns": {
        "NS": Fraction(1),
        "US": Fraction(1000),
        "MS": Fraction(10**6),
    },
    "ms": {
        "NS": Fraction(1, 10**6),
        "US": Fraction(1, 1000),
        "MS": Fraction(1),
        "S": Fraction(1000),
        "MIN": Fraction(60_000),
    },
    # Of memory, GB means 2^30 Byte.
    "MiB": {
        spelled: Fraction(size, 1 << 20)
        for name, size in _BINARY.items()
        for spelled in (name, name.replace("I", ""))
    },
    "10^9 Byte/s": {
        **{f"{name}/S": Fraction(size, 10**9) for name, size in (_BYTES | _BINARY).items()},
        **{f"{name}/S": Fraction(size, 8 * 10**9) for name, size in _BITS.items()},
    },
    "thousandths": {
        "": Fraction(1000),
        "X": Fraction(1000),
        "%": Fraction(10),
    },
    "tenths": {"": Fraction(10), "X": Fraction(10), "%": Fraction(1, 10)},
}
"""Unit of the schema to other units in capitals, with what one of them is in the schema's."""

_PARTS = ("thousandths", "tenths")
_QUANTITY = re.compile(
    r"\s*([0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*([A-Za-z%/]*)\s*"
)


def meant(value: object, schema: Mapping[str, Any]) -> int | None:
    """The number in the schema's unit that a value probably stands for, if there is one.

    A text may name its unit (``1.8GHz``); a number out of range may be in a unit 10^3, 10^6 or
    10^9 times as small or as large (a clock in Hz).
    """
    unit = schema.get("x-unit")
    if isinstance(value, str):
        return _fitting(_read(value, unit), schema)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    number = Fraction(value).limit_denominator(10**6)
    if unit in _PARTS:
        return _fitting([number * _SPELLINGS[unit][""]], schema)
    if unit not in _SPELLINGS:
        return None
    powers = (10**3, 10**6, 10**9)
    return _fitting(
        [*(number / power for power in powers), *(number * power for power in powers)], schema
    )


def _read(text: str, unit: str | None) -> list[Fraction]:
    """What a quantity may be in a unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return []
    number = Fraction(match[1].replace("_", "").replace(",", ""))
    return [number * factor for factor in _factors(unit, match[2])]


def _factors(unit: str | None, spelled: str) -> list[Fraction]:
    """What one of the spelled unit is in the schema's; 1 for a plain number as text."""
    if unit is None or not spelled:
        return [Fraction(1), *([_SPELLINGS[unit][""]] if unit in _PARTS else [])]
    known = _SPELLINGS.get(unit, {})
    # Gb/s and Gbps are bits, GB/s and GBps Byte: here alone a capital matters.
    rate = spelled.removesuffix("/s").removesuffix("ps")
    if unit == "10^9 Byte/s" and rate[-1:] == "b":
        bits = _SHORT_BITS.get(rate[:-1].upper() + "b")
        return [Fraction(bits, 8 * 10**9)] if bits else []
    text = spelled.upper()
    if unit == "10^9 Byte/s":
        text = text.removesuffix("/S").removesuffix("PS") + "/S"
    return [known[text]] if text in known else []


def _fitting(numbers: list[Fraction], schema: Mapping[str, Any]) -> int | None:
    """The first whole number within the schema's range."""
    least, most = schema.get("minimum", 0), schema.get("maximum", 1 << 62)
    return next(
        (int(one) for one in numbers if one.denominator == 1 and least <= one <= most), None
    )
