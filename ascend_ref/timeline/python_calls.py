"""Numbers of calls of Python functions: the places of their calls and returns in their thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.nesting import last_reaching

from .lookup import NONE


class Nested(NamedTuple):
    """identity: how many calls and returns of the thread came before. parent: that of the call that
    made it, 0 where none is known.
    """

    identity: Integers
    parent: Integers


def nested(start: Integers, end: Integers, thread: Integers) -> Nested:
    """The numbers of calls that nest, as the exporter of the framework counts them.

    Source: exporter of the framework, parser of the Python trace; so in the real timeline, but for
    the calls that the exporter leaves out (data/text/pytorch_level1_rank0).
    """
    identity, parent = np.empty(len(start), np.int64), np.zeros(len(start), np.int64)
    for one in np.unique(thread).tolist():
        rows = np.flatnonzero(thread == one)
        order = rows[np.lexsort((-end[rows], start[rows]))]
        begin, stop = start[order], end[order]
        place = np.arange(len(order))
        # A call that ends as another begins has returned before; only one without length that
        # stands behind it has not.
        returned = np.searchsorted(np.sort(stop), begin, side="right")
        empty = begin == stop
        behind = np.cumsum(empty[::-1])[::-1]
        last_equal = np.searchsorted(begin, begin, side="right")
        later = behind - np.append(behind, 0)[last_equal]
        number = place + returned - later
        identity[order] = number
        above = last_reaching(stop, place, begin + 1)
        known = above != NONE
        parent[order[known]] = number[above[known]]
    return Nested(identity, parent)
