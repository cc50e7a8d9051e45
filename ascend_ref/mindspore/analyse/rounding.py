"""Numbers rounded as Python's ``round`` does it, all at once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

EXACT = 2.0**50
"""Below it a product with a power of ten keeps its fraction well enough to see a tie."""


def rounded(numbers: Floats, digits: int) -> Floats:
    """As ``round(number, digits)``: to the nearest decimal of the exact value."""
    scaled = numbers * 10.0**digits
    nearest = np.rint(scaled)
    result = nearest / 10.0**digits
    close = np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) <= np.abs(scaled) * 4e-16
    unsure = np.flatnonzero(close | (np.abs(scaled) >= EXACT) | ~np.isfinite(scaled))
    for place in unsure.tolist():
        result[place] = round(float(numbers[place]), digits)
    return result


def shown(numbers: Floats) -> Floats:
    """Below 1 to 6 decimals, else to 3."""
    small = numbers < 1
    result = np.array(rounded(numbers, 3))
    result[small] = rounded(numbers[small], 6)
    return result


def added(keys: npt.NDArray[Any], numbers: Floats, count: int) -> Floats:
    """The sums of numbers by key, added in their order."""
    return np.bincount(keys, numbers, count).astype(np.float64)
