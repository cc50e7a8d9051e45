"""Amounts, and the rates at which they move: whole numbers, exact and rounded once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

SECOND = 1_000_000_000
"""ns."""
MOST = 1 << 62
"""No greater amount or rate is shown; only damaged numbers give it."""
LONGEST = (1 << 60) - 1
"""ns that a longer time, of more than 36 years, is taken for."""


def rates(amount: npt.NDArray[np.integer], length: Integers, each: int = 1) -> Integers:
    """What so many of ``each`` are per second if they move in so many ns; 0 in no time.

    No amount is negative; fractions are cut off.
    """
    whole, _ = _quotients(amount, each * SECOND, np.clip(length, 1, LONGEST))
    return np.where(length > 0, whole, 0)


def least_amounts(rate: Integers, length: Integers, each: int = 1) -> Integers:
    """How many of ``each`` move at least at a rate in so many ns.

    Where any number has this rate, :func:`rates` gives it of this one.
    """
    whole, rest = _quotients(rate, np.clip(length, 0, LONGEST), each * SECOND)
    return whole + (rest > 0)


def amounts(rate: Integers, length: Integers, each: int = 1) -> Integers:
    """How many of ``each`` move at a rate in so many ns.

    The least number that has the rate, so that what was shown comes back; where none has it, the
    one nearest to it, of two the even one.
    """
    least = least_amounts(rate, length, each)
    whole, rest = _quotients(rate, np.clip(length, 0, LONGEST), each * SECOND)
    nearest = whole + (rest > each * SECOND // 2 - whole % 2)
    return np.where(rates(least, length, each) == rate, least, nearest)


def _quotients(
    number: npt.NDArray[np.integer], factor: Integers | int, divisor: Integers | int
) -> tuple[Integers, Integers]:
    """``number * factor / divisor`` and the rest; :data:`MOST` and none for anything greater.

    The factor is taken in digits so short that no step exceeds 64 bits.
    """
    factor, divisor = np.asarray(factor, np.int64), np.asarray(divisor, np.int64)
    # Of floats; what is between the two limits is cut off below.
    fits = number * (factor / divisor) < 1.5 * MOST
    number = np.where(fits, number, 0).astype(np.int64)
    turns, base = np.divmod(number, divisor)
    bits = 62 - int(divisor.max(initial=1)).bit_length()
    whole, rest = np.zeros_like(base), np.zeros_like(base)
    for shift in reversed(range(0, int(factor.max(initial=0)).bit_length(), bits)):
        digit = factor >> shift & (1 << bits) - 1
        more, rest = np.divmod((rest << bits) + base * digit, divisor)
        whole = (whole << bits) + more
    found = np.where(fits, turns * factor + whole, MOST)
    return np.minimum(found, MOST), np.where(found < MOST, rest, 0)
