"""Differences of figures that are texts, as compare mode shows them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext

from .values import INT64, NUMBER, UINT64

_UNSIGNED = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]{1,4000})")

DIGITS = 3
"""Significant digits behind the leading zeros of a fraction."""

MAX_EXPONENT = 300
"""Numbers beyond a double's range do not occur; such a text counts as 0, as no number does."""


def difference(compare: str, baseline: str) -> str:
    """compare minus baseline; empty where one is empty. A text without a number counts as 0.

    Three digits remain behind the leading zeros of the fraction, trailing zeros do not.
    """
    if not compare or not baseline:
        return ""
    with localcontext(Context(prec=2 * MAX_EXPONENT + 20, rounding=ROUND_HALF_EVEN)):
        exact = _number(compare) - _number(baseline)
        fraction = abs(exact - int(exact))
        zeros = -fraction.adjusted() - 1 if fraction else 0
        rounded = f"{exact:.{DIGITS + zeros}f}"
    shortened = rounded.rstrip("0").rstrip(".")
    return "0" if shortened in ("", "-", "-0") else shortened


def _number(value: str) -> Decimal:
    found = NUMBER.match(value)
    if not found or len(found[1]) > MAX_EXPONENT:
        return Decimal(0)
    number = Decimal(found[1])
    return number if abs(number.adjusted()) < MAX_EXPONENT else Decimal(0)


def whole_difference(compare: str, baseline: str) -> str:
    """compare minus baseline of whole numbers, within 64 bits; a text without one counts as 0."""
    exact = _unsigned(compare) - _unsigned(baseline)
    return str(min(max(exact, INT64.start), INT64.stop - 1))


def _unsigned(value: str) -> int:
    found = _UNSIGNED.match(value)
    number = int(found[1]) if found else 0
    return number if number in UINT64 else 0
