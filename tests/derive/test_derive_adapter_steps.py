"""The adapter's step trace: bit-exact on the real file, and a replay slice by slice."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from real_text import document, layer, nanoseconds, rows_of

from ascend_ref.derive.adapter_steps import (
    COMMUNICATION,
    COMPUTING,
    FREE,
    NOT_OVERLAPPED,
    RECEIVE,
    RECEIVING,
    DeviceStep,
    Slices,
    StepRow,
    device_steps,
    step_rows,
)
from ascend_ref.derive.steps import Spans

KINDS = {
    "Computing": COMPUTING,
    "Communication": COMMUNICATION,
    "Communication(Not Overlapped)": NOT_OVERLAPPED,
    "Free": FREE,
}


def real_slices() -> Slices:
    chosen = [
        (KINDS.get(event["name"], RECEIVING), float(event["ts"]), float(event["dur"]))
        for event in document("trace_view")
        if event["ph"] == "X" and (event["name"] in KINDS or event["name"].startswith(RECEIVE))
    ]
    kind, start, duration = map(np.array, zip(*chosen, strict=True))
    return Slices(np.full(len(kind), -1), kind, start, duration)


def profiler_step() -> tuple[int, Spans]:
    (event,) = (
        event for event in document("trace_view") if event["name"].startswith("ProfilerStep#")
    )
    (start,) = nanoseconds([event["ts"]])
    (length,) = nanoseconds([event["dur"]])
    return int(event["name"].partition("#")[2]), Spans(
        np.array([start]), np.array([start + length])
    )


def launches() -> tuple[np.ndarray, Spans]:
    """Moments of the launches, and what they launched, ns."""
    flows = [event for event in document("trace_view") if event.get("cat") == "HostToDevice"]
    begun = {flow["id"]: flow["ts"] for flow in flows if flow["ph"] == "s"}
    kernels: dict[tuple[Any, Any], Any] = {
        (event["tid"], event["ts"]): event for event in layer("Ascend Hardware") + layer("HCCL")
    }
    pairs = [
        (begun[flow["id"]], kernels[flow["tid"], flow["ts"]]) for flow in flows if flow["ph"] == "f"
    ]
    start = nanoseconds(kernel["ts"] for _, kernel in pairs)
    length = nanoseconds(kernel["dur"] for _, kernel in pairs)
    return nanoseconds(moment for moment, _ in pairs), Spans(start, start + length)


def test_the_real_step_trace_is_bit_exact() -> None:
    number, step = profiler_step()
    moments, kernels = launches()
    inside = (moments >= step.start[0]) & (moments <= step.end[0])
    bounds = device_steps([number], step, np.where(inside, 0, -1), moments, kernels)
    (row,) = step_rows(real_slices(), bounds, None)
    (written,) = rows_of("step_trace_time")
    assert [str(number), *map(repr, row[2:])] == list(written.values())


def test_the_real_kernels_lie_in_the_bounds_of_their_step() -> None:
    number, step = profiler_step()
    moments, kernels = launches()
    inside = (moments >= step.start[0]) & (moments <= step.end[0])
    (bounds,) = device_steps([number], step, np.where(inside, 0, -1), moments, kernels)
    rows = rows_of("kernel_details")
    starts = [float(row["Start Time(us)"]) for row in rows]
    within = [str(number) if bounds.start <= start <= bounds.end else "" for start in starts]
    assert within == [row["Step Id"] for row in rows]


def test_a_step_without_launches_is_none() -> None:
    steps = Spans(np.array([0, 100, 200]), np.array([90, 190, 290]))
    kernels = Spans(np.array([20, 15, 260, 250, 270]), np.array([30, 25, 265, 300, 280]))
    found = device_steps(
        [7, 8, 9], steps, np.array([0, 0, 2, 2, -1]), np.array([1, 2, 9, 9, 5]), kernels
    )
    assert found == [DeviceStep(7, 0.02, 0.09, 0.0), DeviceStep(9, 0.25, 0.3, 0.2)]
    assert (
        device_steps([], Spans(*np.empty((2, 0), np.int64)), *np.empty((2, 0), np.int64), kernels)
        == []
    )


def replayed(
    chosen: list[tuple[int, int, float, float]], steps: list[DeviceStep], first: float | None
) -> list[StepRow]:
    """The adapter's rule in plain Python."""
    if all(kind == RECEIVING for _, kind, _, _ in chosen):
        return []
    bounds = steps or [DeviceStep(None, -1, -1, -1)]
    rows: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
    for device, kind, start, duration in chosen:
        places = [place for place, step in enumerate(steps) if step.start <= start < step.end]
        if places or not steps:
            rows.setdefault((device, min(places, default=0)), []).append((kind, start, duration))
    found = []
    for (device, place), slices in sorted(rows.items()):
        spent: list[float] = [0] * 5
        for kind, _, duration in slices:
            spent[kind] += duration
        stage = max(start + length for _, start, length in slices) - min(
            start for _, start, _ in slices
        )
        works = [start for kind, start, _ in slices if kind in (COMPUTING, COMMUNICATION)]
        begin = bounds[place].begin if steps else first
        found.append(
            StepRow(
                device,
                bounds[place].number,
                spent[COMPUTING],
                spent[NOT_OVERLAPPED],
                spent[COMMUNICATION] - spent[NOT_OVERLAPPED],
                spent[COMMUNICATION],
                spent[FREE],
                stage - spent[RECEIVING],
                spent[RECEIVING],
                max(spent[NOT_OVERLAPPED] - spent[RECEIVING], 0),
                0 if begin is None else min(works, default=-1.0) - begin,
            )
        )
    return found


epoch = 1_736_408_883_704_643.25
instants = st.integers(0, 1000).map(lambda quarter: epoch + quarter / 4)
lengths = st.floats(0, 9).map(lambda length: round(length, 3))
many = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 4), instants, lengths))
ranges = st.lists(st.tuples(instants, lengths, instants), max_size=4)


@given(many, ranges, st.none() | instants)
def test_rows_are_those_of_a_replay(
    chosen: list[tuple[int, int, float, float]],
    given_steps: list[tuple[float, float, float]],
    first: float | None,
) -> None:
    steps = [
        DeviceStep(number, start, start + 9 * length, begin)
        for number, (start, length, begin) in enumerate(given_steps)
    ]
    columns = zip(*chosen, strict=True) if chosen else [()] * 4
    device, kind, start, duration = columns
    slices = Slices(
        np.array(device, np.int64), np.array(kind, np.int64), np.array(start), np.array(duration)
    )
    found = step_rows(slices, steps, first)
    assert list(map(repr, found)) == list(map(repr, replayed(chosen, steps, first)))


def test_what_did_not_happen_is_the_integer_zero() -> None:
    slices = Slices(np.zeros(1, np.int64), np.array([FREE]), np.array([epoch]), np.array([2.5]))
    (row,) = step_rows(slices, [], None)
    assert list(map(repr, row)) == ["0", "None", "0", "0", "0", "0", "2.5", "2.5", "0", "0", "0"]
