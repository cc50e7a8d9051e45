"""Steps as the device saw them, and their parts."""

from __future__ import annotations

import numpy as np

from ascend_ref.derive.steps import Spans, StepRange, step_of, step_ranges, step_trace
from ascend_ref.derive.transit import operators

NOTHING = np.zeros(0, np.bool_)


def spans(*pairs: tuple[int, int]) -> Spans:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return Spans(table[:, 0], table[:, 1])


def test_a_step_begins_with_its_first_task_and_outlasts_its_last() -> None:
    found = step_ranges(
        np.array([7, 8]),
        spans((0, 100), (100, 200)),
        launches=spans((10, 20), (110, 120), (50, 60)),
        launched=np.array([0, -1, 2, 1]),
        tasks=spans((30, 40), (1, 2), (90, 130), (140, 150)),
    )
    assert found == [StepRange(7, 0, 30, 130), StepRange(8, 100, 140, 200)]


def test_a_step_without_launches_keeps_the_bounds_of_the_host() -> None:
    found = step_ranges(np.array([7]), spans((5, 9)), spans(), np.array([-1]), spans((1, 2)))
    assert found == [StepRange(7, 5, 5, 9)]


def test_without_steps_one_range_holds_everything() -> None:
    (found,) = step_ranges(
        np.empty(0, np.int64), spans(), spans((1, 2)), np.array([0, 0]), spans((30, 40), (10, 11))
    )
    assert (found.number, found.begin, found.low) == (None, None, 10)
    assert found.within(np.array([9, 10, 10**18])) == slice(1, 3)


def test_the_parts_of_a_step_add_up() -> None:
    step = StepRange(7, 3, 10, 100)
    trace = step_trace(
        step,
        spans((5, 9), (10, 30), (20, 40), (100, 120)),
        spans((35, 60), (70, 80), (200, 300)),
        np.array([False, True, False]),
        None,
    )
    assert (trace.computing, trace.communication, trace.overlapped) == (30, 35, 5)
    assert trace.communication_not_overlapped == 30
    assert (trace.free, trace.bubble, trace.stage) == (10, 10, 60)
    assert trace.preparing == 7
    whole = trace.computing + trace.communication_not_overlapped + trace.free
    assert trace.stage + trace.bubble == whole == 70


def test_without_compute_tasks_nothing_was_prepared() -> None:
    step = StepRange(7, 3, 10, 100)
    trace = step_trace(step, spans(), spans((35, 60)), np.array([False]), None)
    assert (trace.preparing, trace.communication_not_overlapped, trace.stage) == (0, 25, 25)


def test_without_steps_preparation_counts_from_the_first_framework_operator() -> None:
    step = StepRange(None, None, 10, 100)
    assert step_trace(step, spans((20, 30)), spans(), NOTHING, 12).preparing == 8
    assert step_trace(step, spans((20, 30)), spans(), NOTHING, None).preparing == 0


def test_an_idle_step_has_no_parts() -> None:
    trace = step_trace(StepRange(7, 3, 10, 100), spans(), spans(), NOTHING, None)
    assert (trace.computing, trace.free, trace.stage, trace.preparing) == (0, 0, 0, 0)


def test_a_moment_belongs_to_the_first_range_that_holds_it() -> None:
    ranges = [StepRange(7, 0, 10, 20), StepRange(8, 0, 20, 30)]
    assert step_of(ranges, np.array([9, 10, 20, 21, 30, 31])).tolist() == [-1, 0, 0, 1, 1, -1]


def test_operators_are_numbered_in_order_of_their_intervals() -> None:
    found = operators(
        count=4,
        owner=np.array([2, 0, 2, 3]),
        start=np.array([5, 7, 9, 5]),
        end=np.array([6, 9, 20, 6]),
        first=1,
    )
    assert found.rows.tolist() == [3, 2, 0]
    assert list(zip(found.start, found.end, strict=True)) == [(5, 6), (5, 20), (7, 9)]
    assert found.number.tolist() == [1, 2, 3]
    assert found.number_of.tolist() == [3, -1, 2, 1]
