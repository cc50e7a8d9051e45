"""The tables of analysis.db, derived from a capture by the formulas of ascend_ref.derive."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ascend_ref.capture.model import NONE
from ascend_ref.derive.steps import Spans, StepRange, StepTrace, step_of, step_ranges, step_trace

from .collection import NODE, OP
from .recording import Recording, Rows
from .transit_tables import TransitTables

EXPOSED = "communication_not_overlapped_and_exclude_receive"


def analysis_tables(recording: Recording) -> dict[str, Rows]:
    """The four tables; those without rows are left out."""
    ranges = _step_ranges(recording)
    tables: dict[str, Rows] = {"StepTraceTime": _step_traces(recording, ranges)}
    place = step_of(ranges, recording.operators.start)
    if (place >= 0).any():
        tables |= TransitTables(recording, ranges, place).tables()
    return {name: columns for name, columns in tables.items() if len(columns["step"])}


def _step_ranges(recording: Recording) -> list[StepRange]:
    capture = recording.capture
    steps, calls, tasks = capture.steps, capture.calls, capture.tasks
    launches = calls.take(calls.level == NODE)
    place = np.searchsorted(launches.connection, tasks.connection)
    place[place == len(launches)] = 0
    found = (
        launches.connection[place] == tasks.connection
        if len(launches)
        else np.zeros(len(tasks), np.bool_)
    )
    return step_ranges(
        steps.number,
        Spans(steps.start, steps.end),
        Spans(launches.start, launches.end),
        np.where(found, place, NONE),
        Spans(tasks.start, tasks.end),
    )


def _step_traces(recording: Recording, ranges: list[StepRange]) -> Rows:
    """StepTraceTime: per device a row for every step."""
    capture = recording.capture
    # Tasks are in order of start, and so are their rows.
    kernels = capture.tasks.take(np.sort(recording.task_rows(capture.kernels.task)))
    found = recording.operators
    operators = capture.collectives.take(found.rows)
    receive = operators.kind == recording.texts.number("receive")
    framework = capture.activities.start[capture.activities.kind == OP]
    begin = int(framework.min()) if framework.size else None
    traces: list[StepTrace] = []
    devices = np.union1d(kernels.device, operators.device)
    for device in devices.tolist():
        own, here = kernels.device == device, operators.device == device
        traces += [
            step_trace(
                step,
                Spans(kernels.start[own], kernels.end[own]),
                Spans(found.start[here], found.end[here]),
                receive[here],
                begin,
            )
            for step in ranges
        ]
    lengths = {
        name: np.array([getattr(trace, name) for trace in traces], np.int64)
        for name in StepTrace.__dataclass_fields__
        if name != "step"
    }
    exposed = lengths["communication_not_overlapped"] - lengths["bubble"]
    lengths[EXPOSED] = np.maximum(exposed, 0) if recording.habits.receive_floored else exposed
    steps = [trace.step.number for trace in traces]
    return {
        "device": np.repeat(devices, len(ranges)),
        "step": pa.array(
            [None if step is None else str(step) for step in steps], pa.large_string()
        ),
        **lengths,
    }
