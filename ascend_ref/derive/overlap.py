"""When a device computed, communicated, only communicated, or did nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers

from .intervals import Intervals, difference, joined, union


class Overlap(NamedTuple):
    """The four kinds of time of one device, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""

    computing: Intervals
    communication: Intervals
    communication_not_overlapped: Intervals
    free: Intervals


def overlap(computing: Intervals, communication: Intervals, start: int, end: int) -> Overlap:
    """The kinds of time between ``start`` and ``end``, which enclose both unions.

    Source: note of OVERLAP_ANALYSIS. The last three are disjoint from the first and from each
    other where they should be, so computing, communication not overlapped and free fill the time.
    """
    window = union(np.array([start]), np.array([end]))
    return Overlap(
        computing,
        communication,
        difference(communication, computing),
        difference(window, joined(computing, communication)),
    )


def hull(*bounds: Integers) -> tuple[int, int] | None:
    """Least and greatest of all bounds; None without any."""
    found = [
        int(extreme) for array in bounds if array.size for extreme in (array.min(), array.max())
    ]
    return (min(found), max(found)) if found else None
