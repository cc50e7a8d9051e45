"""Numbers as the exporter computes and prints them: in single precision, with six decimals."""

from __future__ import annotations

import numpy as np

NOT_AVAILABLE = "NA"


def single(value: float | np.float32) -> float:
    """The nearest number of single precision."""
    return float(np.float32(value))


def six(value: float) -> str:
    """The text of a number of single precision, with six decimals."""
    return f"{single(value):.6f}"


def share(part: int, whole: int) -> float:
    """Percent in single precision; 0, as with the exporter, for a part above the whole."""
    if not whole or part > whole:
        return 0.0
    return single(np.float32(part) / np.float32(whole) * np.float32(100))
