"""Times of events: microseconds in the file, whole nanoseconds in the viewer."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)")
_LONGEST = 400

NS_PER_US = 1000
LATEST = (1 << 63) - 1

_SURE = 1e12
"""Below it a product in doubles is nearer to the true one than :data:`_DOUBT`."""

_DOUBT = 1e-3


def nanoseconds(*microseconds: Any) -> int:
    """The sum of JSON values as nanoseconds, halves rounded up; what is no number counts as 0.

    A text counts as the number that it begins with. Sums below 0 or beyond 2^63 - 1 give 0, as in
    the viewer numbers do that it cannot hold.
    """
    parts = [_number(value) for value in microseconds]
    product = math.fsum(parts) * NS_PER_US
    if 0 <= product < _SURE:
        whole = math.floor(product)
        if abs(product - whole - 0.5) > _DOUBT:
            return whole if product - whole < 0.5 else whole + 1
    exact = sum((Decimal(repr(part)) for part in parts), Decimal(0)) * NS_PER_US
    try:
        rounded = int(exact.to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, OverflowError, ValueError):
        return 0
    return rounded if 0 <= rounded <= LATEST else 0


def _number(value: Any) -> float | int:
    if isinstance(value, bool):
        return 0
    if isinstance(value, float):
        return value if math.isfinite(value) else 0
    if isinstance(value, int):
        return value if abs(value) <= LATEST else 0
    if isinstance(value, str) and len(value) < _LONGEST and (found := _NUMBER.match(value)):
        number = float(found[1])
        return number if math.isfinite(number) else 0
    return 0
