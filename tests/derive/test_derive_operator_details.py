"""Times of framework operators: every row of the real file, and a tree kept node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from real_text import document, nanoseconds, rows_of

from ascend_ref.capture.model import NONE
from ascend_ref.derive.operator_details import (
    Kernels,
    dequeuing_calls,
    launching_operators,
    operator_details,
)
from ascend_ref.derive.steps import Spans


def slices(category: str) -> list[dict[str, Any]]:
    events = [event for event in document("trace_view") if event.get("cat") == category]
    found = [event for event in events if event["ph"] == "X"]
    return sorted(found, key=lambda event: nanoseconds([event["ts"]])[0])


def spans(events: list[dict[str, Any]]) -> Spans:
    start = nanoseconds(event["ts"] for event in events)
    return Spans(start, start + nanoseconds(event["dur"] for event in events))


def threads(events: list[dict[str, Any]]) -> np.ndarray:
    return np.array([event["tid"] for event in events])


def launched_kernels() -> list[tuple[int, dict[str, Any]]]:
    """Moments of the launches in ns and what they launched, in order of the launches."""
    events = document("trace_view")
    flows = [event for event in events if event.get("cat") == "HostToDevice"]
    ends: dict[str, dict[str, Any]] = {}
    for flow in flows:
        if flow["ph"] == "f":
            ends.setdefault(flow["id"], flow)
    slice_at = {
        (event["pid"], event["tid"], event["ts"]): event for event in events if event["ph"] == "X"
    }
    found = []
    for flow in flows:
        if flow["ph"] == "s":
            end = ends[flow["id"]]
            kernel = slice_at[end["pid"], end["tid"], end["ts"]]
            found.append((int(nanoseconds([flow["ts"]])[0]), kernel))
    return sorted(found, key=lambda launch: launch[0])


def test_every_row_of_the_real_operator_details_comes_from_its_trace() -> None:
    operators, enqueues, dequeues = slices("cpu_op"), slices("enqueue"), slices("dequeue")
    launches = launched_kernels()
    calls = np.array([moment for moment, _ in launches])
    queued = dequeuing_calls(spans(dequeues), calls)
    assert (queued != NONE).all()
    enqueued = {event["args"]["correlation_id"]: place for place, event in enumerate(enqueues)}
    enqueue = np.array([enqueued[dequeues[place]["args"]["correlation_id"]] for place in queued])
    opened = launching_operators(
        spans(operators), threads(operators), spans(enqueues).start, threads(enqueues)
    )
    order = np.argsort(enqueue, kind="stable")
    chosen = [launches[place][1] for place in order]
    kernels = Kernels(
        operator=opened[enqueue[order]],
        duration=np.array([float(kernel["dur"]) for kernel in chosen]),
        on_ai_core=np.array([kernel["args"].get("Task Type") == "AI_CORE" for kernel in chosen]),
    )
    found = operator_details(spans(operators), kernels)
    written = rows_of("operator_details")
    listed = [
        place for place, event in enumerate(operators) if "ProfilerStep#" not in event["name"]
    ]
    assert len(written) == len(listed) == 859
    for row, place in zip(written, listed, strict=True):
        assert row["Name"] == operators[place]["name"]
        told = (
            found.host_self[place] / 1000,
            found.host_total[place] / 1000,
            found.device_self[place],
            found.device_total[place],
            found.device_self_with_ai_core[place],
            found.device_total_with_ai_core[place],
        )
        assert told == tuple(float(cell) for cell in list(row.values())[3:])


moments = st.integers(0, 40)
calls = st.lists(st.tuples(moments, st.integers(0, 15)), max_size=12)


@given(calls, st.lists(st.tuples(moments, st.floats(0, 9), st.booleans()), max_size=12))
def test_operators_and_those_around_them_share_their_kernels(
    given_calls: list[tuple[int, int]], work: list[tuple[int, float, bool]]
) -> None:
    table = np.array(sorted(given_calls), np.int64).reshape(-1, 2)
    operators = Spans(table[:, 0], table[:, 0] + table[:, 1])
    work.sort(key=lambda kernel: kernel[0])
    of = np.zeros(len(work), np.int64)
    owner = launching_operators(
        operators,
        np.zeros(len(table), np.int64),
        np.array([moment for moment, *_ in work], np.int64),
        of,
    )
    cores = np.array([core for *_, core in work], np.bool_)
    kernels = Kernels(owner, np.array([time for _, time, _ in work], np.float64), cores)
    found = operator_details(operators, kernels)

    stack: list[int] = []
    own, total = [[0.0, 0.0] for _ in table], [[0.0, 0.0] for _ in table]
    host = (operators.end - operators.start).tolist()
    events = [(start, 0, place) for place, start in enumerate(operators.start.tolist())]
    events += [(moment, 1, place) for place, (moment, *_) in enumerate(work)]
    for moment, kind, place in sorted(events):
        while stack and operators.end[stack[-1]] < moment:
            stack.pop()
        if kind == 0:
            if stack:
                host[stack[-1]] -= int(operators.end[place] - operators.start[place])
            stack.append(place)
        elif stack:
            for core in range(2 if work[place][2] else 1):
                own[stack[-1]][core] += work[place][1]
                for outer in stack:
                    total[outer][core] += work[place][1]
    assert found.host_self.tolist() == host
    assert (
        list(map(list, zip(found.device_self, found.device_self_with_ai_core, strict=True))) == own
    )
    assert (
        list(map(list, zip(found.device_total, found.device_total_with_ai_core, strict=True)))
        == total
    )


def test_an_operator_of_another_thread_did_not_launch() -> None:
    operators = Spans(np.array([0, 10]), np.array([100, 20]))
    found = launching_operators(
        operators, np.array([1, 2]), np.array([5, 15, 15, 50, 200]), np.array([1, 1, 2, 1, 1])
    )
    assert found.tolist() == [0, NONE, 1, 0, NONE]


@given(calls, st.lists(moments))
def test_work_is_launched_by_the_first_call_that_is_running(
    given_calls: list[tuple[int, int]], asked: list[int]
) -> None:
    table = np.array(sorted(given_calls), np.int64).reshape(-1, 2)
    dequeues = Spans(table[:, 0], table[:, 0] + table[:, 1])
    found = dequeuing_calls(dequeues, np.array(asked, np.int64)).tolist()
    for moment, place in zip(asked, found, strict=True):
        running = (dequeues.start <= moment) & (moment <= dequeues.end)
        assert place == (int(np.argmax(running)) if running.any() else NONE)


def test_an_absurdly_deep_stack_takes_no_absurd_memory() -> None:
    depth = 5_000
    operators = Spans(np.arange(depth), 2 * depth - np.arange(depth))
    kernels = Kernels(np.arange(depth), np.ones(depth), np.ones(depth, np.bool_))
    found = operator_details(operators, kernels)
    assert found.device_total[-10:].tolist() == list(range(10, 0, -1))
    assert found.host_self[0] == 2
