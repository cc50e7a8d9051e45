"""Floating-point text as the producer's JSON library prints it: Grisu2, not always the shortest.

The library (nlohmann::json) prints with Grisu2 (Florian Loitsch, "Printing Floating-Point Numbers
Quickly and Accurately with Integers", PLDI 2010), which now and then gives another last digit, or
one digit more, than the shortest text that Python prints (bin-blocks.md 8.4).
"""

from __future__ import annotations

import math
import struct
from functools import cache

SIGNIFICAND_BITS = 64
ALPHA = -60
"""Lowest binary exponent of the scaled number; the highest is -32."""

FIXED_DIGITS_MIN = -4
FIXED_DIGITS_MAX = 15
"""Fixed notation where the decimal point stands between these places of the digits."""

POWER_MIN, POWER_STEP = -300, 8
"""The decimal exponents of the library's powers of ten: every eighth from -300."""


def float_text(value: float) -> str:
    """The text of a double in the producer's JSON; ``null`` for what is not finite."""
    if not math.isfinite(value):
        return "null"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0"
    digits, exponent = grisu2(abs(value))
    return sign + _notation(digits, exponent)


def grisu2(value: float) -> tuple[str, int]:
    """Decimal digits and exponent of a positive finite double: ``digits * 10**exponent``."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    fraction, biased = bits & ((1 << 52) - 1), bits >> 52
    significand, exponent = (
        (fraction, -1074) if biased == 0 else (fraction | 1 << 52, biased - 1075)
    )
    upper = _normalised(2 * significand + 1, exponent - 1)
    if fraction == 0 and biased > 1:  # the neighbour below lies half as far
        lower = (4 * significand - 1, exponent - 2)
    else:
        lower = (2 * significand - 1, exponent - 1)
    lower_significand = lower[0] << (lower[1] - upper[1])
    middle, _ = _normalised(significand, exponent)
    power, power_exponent, decimal = _cached_power(upper[1])
    scaled_exponent = upper[1] + power_exponent + SIGNIFICAND_BITS
    w = _product(middle, power)
    low = _product(lower_significand, power) + 1
    high = _product(upper[0], power) - 1
    digits, exponent10 = _digits(low, w, high, scaled_exponent)
    return digits, exponent10 - decimal


def _normalised(significand: int, exponent: int) -> tuple[int, int]:
    shift = SIGNIFICAND_BITS - significand.bit_length()
    return significand << shift, exponent - shift


def _product(left: int, right: int) -> int:
    """The upper half of a product, rounded half up."""
    return (left * right + (1 << 63)) >> 64


def _cached_power(exponent: int) -> tuple[int, int, int]:
    """A power of ten that brings a number of this binary exponent between ALPHA and -32."""
    wanted = ALPHA - exponent - 1
    # About ceil(wanted * log10(2)), in integers and rounded to zero as the library computes it.
    scaled = abs(wanted) * 78913 >> 18
    k = scaled + 1 if wanted > 0 else -scaled
    index = (k - POWER_MIN + POWER_STEP - 1) // POWER_STEP
    return _power(POWER_MIN + index * POWER_STEP)


@cache
def _power(decimal: int) -> tuple[int, int, int]:
    """64 bits of 10**decimal, rounded to nearest, with their binary exponent."""
    if decimal >= 0:
        number, exponent = 10**decimal, 0
    else:
        extra = SIGNIFICAND_BITS + 10 * -decimal
        number, exponent = (1 << extra) // 10**-decimal, -extra
    drop = number.bit_length() - SIGNIFICAND_BITS
    if drop <= 0:
        return number << -drop, exponent + drop, decimal
    rounded = (number + (1 << (drop - 1))) >> drop
    return rounded, exponent + drop, decimal


def _digits(low: int, w: int, high: int, exponent: int) -> tuple[str, int]:
    """The shortest digits within the bounds, the last one moved towards the number."""
    shift = -exponent
    one = 1 << shift
    delta, distance = high - low, high - w
    integral, fractional = high >> shift, high & (one - 1)
    text = str(integral)
    for place in range(len(text)):
        left = len(text) - place - 1
        ten = 10**left
        rest = ((integral % ten) << shift) + fractional
        if rest <= delta:
            digits = text[: place + 1]
            return _rounded(digits, distance, delta, rest, ten << shift), left
    exponent10 = 0
    digits = text
    while True:
        fractional *= 10
        delta *= 10
        distance *= 10
        digits += str(fractional >> shift)
        fractional &= one - 1
        exponent10 -= 1
        if fractional <= delta:
            return _rounded(digits, distance, delta, fractional, one), exponent10


def _rounded(digits: str, distance: int, delta: int, rest: int, ten: int) -> str:
    last = int(digits[-1])
    while (
        rest < distance
        and delta - rest >= ten
        and (rest + ten < distance or distance - rest > rest + ten - distance)
    ):
        last -= 1
        rest += ten
    return f"{digits[:-1]}{last}"


def _notation(digits: str, exponent: int) -> str:
    """Digits with point or exponent, always recognisable as a float."""
    count = len(digits)
    point = count + exponent
    if count <= point <= FIXED_DIGITS_MAX:
        return f"{digits}{'0' * exponent}.0"
    if 0 < point <= FIXED_DIGITS_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if FIXED_DIGITS_MIN < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    sign = "-" if point < 1 else "+"
    return f"{mantissa}e{sign}{abs(point - 1):02}"
