"""The order of the activities of a capture that is made of files."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers


def enclosing_first(start: Integers, end: Integers, turn: Integers) -> Integers:
    """The rows in order of start, the longer one first; ``turn`` decides between equal ones."""
    return np.lexsort((turn, -end, start))


def turns(count: int) -> Integers:
    """The turn of rows that are in order."""
    return np.arange(count, dtype=np.int64)
