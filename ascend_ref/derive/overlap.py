"""When a device computed, communicated, only communicated, or did nothing.

Source: text-outputs.md 7.5 and the note of OVERLAP_ANALYSIS.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_ref.spill import Spill

from .intervals import Intervals, clipped, difference, joined, union

KERNEL_TASKS = (
    "KERNEL_AICORE",
    "KERNEL_AIVEC",
    "FFTS_PLUS",
    "KERNEL_MIX_AIC",
    "KERNEL_MIX_AIV",
    "PROFILING_ENABLE",
    "PROFILING_DISABLE",
)
"""Types of device tasks that do not open or close the time under analysis."""
COMMUNICATION_KERNELS = ("AicpuKernel", "AivKernel")
"""Ends of the names of operators that run as kernels but communicate."""

INTERVALS_AT_ONCE = 1 << 16


class Overlap(NamedTuple):
    """The four kinds of time of one device, in the order of ENUM_OVERLAP_ANALYSIS_TYPE."""

    computing: Intervals
    communication: Intervals
    communication_not_overlapped: Intervals
    free: Intervals


def overlap(computing: Intervals, communication: Intervals, start: int, end: int) -> Overlap:
    """The kinds of time between ``start`` and ``end``, which enclose both unions.

    Computing, communication not overlapped and free are disjoint and fill the time.
    """
    window = union(np.array([start]), np.array([end]))
    return Overlap(
        computing,
        communication,
        difference(communication, computing),
        difference(window, joined(computing, communication)),
    )


def long_overlap(
    spill: Spill, computing: Intervals, communication: Intervals, start: int, end: int
) -> Overlap:
    """As :func:`overlap`, of however many intervals."""
    found = _windows(computing, communication, start, end)
    columns = spill.arrays(found, 4, np.int64)
    return Overlap(computing, communication, Intervals(*columns[:2]), Intervals(*columns[2:]))


def _windows(
    computing: Intervals, communication: Intervals, start: int, end: int
) -> Iterator[tuple[Integers, ...]]:
    """Starts and ends of the last two kinds of time, window by window.

    A window begins where something does, so that nothing of these kinds crosses its bounds.
    """
    longer = max(computing, communication, key=lambda kind: len(kind.start))
    cuts = longer.start[INTERVALS_AT_ONCE::INTERVALS_AT_ONCE].tolist()
    for low, high in pairwise([start, *cuts, end]):
        own = overlap(clipped(computing, low, high), clipped(communication, low, high), low, high)
        yield *own.communication_not_overlapped, *own.free


def computes(names: pa.Array, on_mc2_stream: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which compute tasks count as computing: none on a stream of an MC² kernel, none that is the
    kernel of a communication operator. names: of the operators, null without one.
    """
    communicates = on_mc2_stream.copy()
    for end in COMMUNICATION_KERNELS:
        found = pc.ends_with(names.cast(pa.string()), end).fill_null(False)
        communicates |= found.to_numpy(zero_copy_only=False)
    return ~communicates


def window(
    computing: Intervals, communication: Intervals, *tasks: Integers
) -> tuple[int, int] | None:
    """The time under analysis; None where nothing happened.

    tasks: starts and ends of the device's tasks whose type is not in KERNEL_TASKS. Writers of 2025
    and before (erratum T27) took the two unions alone.
    """
    return hull(*computing, *communication, *tasks)


def hull(*bounds: Integers) -> tuple[int, int] | None:
    """Least and greatest of all bounds; None without any."""
    found = [
        int(extreme) for array in bounds if array.size for extreme in (array.min(), array.max())
    ]
    return (min(found), max(found)) if found else None
