"""Parts of iterations: the one real step trace and small cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from real_text import document

from ascend_ref.derive.step_trace import (
    data_augmentation_starts,
    iteration_times,
    reduce_numbers,
)

REAL = "mindspore_legacy/step_trace_0_2_1.json"


def real(category: str, phase: str = "X") -> list[dict[str, Any]]:
    return [
        event for event in document(REAL) if event.get("cat") == category and event["ph"] == phase
    ]


def instants(name: str) -> np.ndarray:
    """An argument of the real iterations in ns; the writer kept multiples of 10."""
    events = real("Iteration Time")
    return np.array([round(event["args"][name], 2) * 1000 for event in events], np.int64)


def test_the_parts_of_the_real_iterations_are_those_of_their_instants() -> None:
    start = np.array([round(event["ts"], 2) * 1000 for event in real("Iteration Time")], np.int64)
    found = iteration_times(
        start, instants("FP Start"), instants("BP End"), instants("Iteration End")
    )
    for times, category, key in (
        (found.iteration, "Iteration Time", "Iteration Time(ns)"),
        (found.fp_to_bp, "FP_BP Time", "FP_BP Time(ns)"),
        (found.refresh, "Iteration Refresh", "Iteration Refresh(ns)"),
    ):
        events = real(category)
        assert len(events) == 10
        assert times.to_pylist() == [event["args"][key] for event in events]
    bounds = {
        event["id"]: event["args"]["Data_aug Bound(us)"] for event in real("Data_aug Bound", "t")
    }
    told = [bounds[f"Data_aug Bound {iteration}"] for iteration in range(1, 11)]
    assert told[0] == 0
    expected = [None, *(round(bound * 1000) for bound in told[1:])]
    assert found.bound.to_pylist() == expected


def test_what_is_not_known_has_no_parts() -> None:
    start, end = np.array([0, 100, 200]), np.array([90, 190, 290])
    found = iteration_times(start, np.array([5, -1, 205]), np.array([50, 150, -1]), end)
    assert found.iteration.to_pylist() == [90, 90, 90]
    assert found.fp_to_bp.to_pylist() == [45, None, None]
    assert found.refresh.to_pylist() == [40, 40, None]
    assert found.bound.to_pylist() == [None, None, 15]


def test_data_is_waited_for_since_the_last_iteration_that_had_ended() -> None:
    # The second iteration begins before the first ends, the third after both.
    found = iteration_times(
        np.array([0, 80, 210]),
        np.array([1, 85, 215]),
        np.array([2, 90, 220]),
        np.array([95, 200, 300]),
    )
    assert found.bound.to_pylist() == [None, None, 15]


def test_the_flow_leaves_in_the_middle_or_by_half_the_bound() -> None:
    bp_end, end, bound = np.array([100]), np.array([150]), np.array([8])
    assert data_augmentation_starts(bp_end, end, bound, "python").tolist() == [125]
    assert data_augmentation_starts(bp_end, end, bound, "cpp").tolist() == [104]


def test_sums_of_gradients_are_numbered_by_iteration_or_by_device() -> None:
    device, model = np.array([0, 0, 1, 0, 0]), np.array([2, 2, 2, 2, 3])
    iteration = np.array([1, 1, 1, 2, 2])
    assert reduce_numbers(device, model, iteration, "python").tolist() == [0, 1, 0, 0, 0]
    assert reduce_numbers(device, model, iteration, "cpp").tolist() == [0, 1, 0, 2, 3]
    none = np.empty(0, np.int64)
    assert reduce_numbers(none, none, none, "cpp").tolist() == []
    assert iteration_times(none, none, none, none).bound.to_pylist() == []
