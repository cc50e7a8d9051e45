"""Overlap analysis against the real timeline, and its two windows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from real_text import layer, nanoseconds, rows_of

from ascend_ref.derive.intervals import Intervals, union
from ascend_ref.derive.overlap import KERNEL_TASKS, computes, overlap, window

KINDS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")


def made(*pairs: tuple[int, int]) -> Intervals:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return union(table[:, 0], table[:, 1])


def spans(events: list[dict[str, object]]) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of slices, ns."""
    start = nanoseconds(event["ts"] for event in events)
    return start, start + nanoseconds(event["dur"] for event in events)


def real_unions() -> tuple[Intervals, Intervals]:
    """Computing from kernel_details, communication from the operators of the timeline."""
    kernels = [row for row in rows_of("kernel_details") if row["Accelerator Core"] != "HCCL"]
    start = nanoseconds(row["Start Time(us)"] for row in kernels)
    length = nanoseconds(row["Duration(us)"] for row in kernels)
    operators = [event for event in layer("HCCL") if event["tid"] == 0]
    return union(start, start + length), union(*spans(operators))


@pytest.mark.parametrize(("kind", "count"), list(enumerate([187, 4, 101, 90])))
def test_the_real_overlap_layer_is_that_of_the_older_window(kind: int, count: int) -> None:
    computing, communication = real_unions()
    bounds = window(computing, communication)
    assert bounds is not None
    found = overlap(computing, communication, *bounds)[kind]
    start, end = spans(
        [event for event in layer("Overlap Analysis") if event["name"] == KINDS[kind]]
    )
    assert len(start) == len(found.start) == count
    assert np.abs(found.start - np.sort(start)).max() <= 1
    assert np.abs(found.end - np.sort(end)).max() <= 1.5


def test_the_current_window_begins_before_the_first_kernel() -> None:
    computing, communication = real_unions()
    shown = [event for event in layer("Ascend Hardware") if event["name"] not in KERNEL_TASKS]
    copies = [event for event in shown if event["name"] == "MEMCPY_ASYNC"]
    bounds = window(computing, communication, *spans(copies))
    older = window(computing, communication)
    assert bounds is not None
    assert older is not None
    assert (bounds[0] < older[0], bounds[1]) == (True, older[1])
    free = overlap(computing, communication, *bounds).free
    assert len(free.start) == 91


def test_windows_of_nothing_of_tasks_and_of_unions() -> None:
    nothing = made()
    assert window(nothing, nothing) is None
    assert window(nothing, nothing, np.array([5]), np.array([9])) == (5, 9)
    assert window(made((3, 4)), made((7, 8)), np.array([5]), np.array([9])) == (3, 9)


def test_kernels_of_communication_do_not_compute() -> None:
    names = pa.array(
        ["Mul1", "allreduceAicpuKernel", "hcom_AivKernel", None, "AivKernelNot", "MatmulMc2"]
    ).dictionary_encode()
    on_mc2_stream = np.array([False, False, False, False, False, True])
    assert computes(names, on_mc2_stream).tolist() == [True, False, False, True, True, False]
