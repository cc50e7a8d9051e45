"""OVERLAP_ANALYSIS, derived from the tasks and the communication operators."""

from __future__ import annotations

import numpy as np

from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import hull, overlap

from .recording import Recording, Rows

PROFILER_TASKS = ("PROFILING_ENABLE", "PROFILING_DISABLE")
"""Kinds of tasks that are the profiler's own and bound no time."""


def overlaps(recording: Recording) -> Rows:
    """Per device the intervals of type 0, 1, 2 and 3, none empty, numbered from 0."""
    tasks = recording.capture.tasks
    own = np.isin(tasks.kind, recording.texts.numbers(PROFILER_TASKS), invert=True)
    kernels = recording.task_rows(recording.capture.kernels.task)
    found = recording.operators
    device_of_operator = recording.capture.collectives.device[found.rows]
    starts, ends, devices, types = [], [], [], []
    for device in np.unique(tasks.device).tolist():
        rows = kernels[tasks.device[kernels] == device]
        here = device_of_operator == device
        shown = own & (tasks.device == device)
        window = hull(tasks.start[shown], tasks.end[shown], found.start[here], found.end[here])
        if window is None:
            continue
        parts = overlap(
            union(tasks.start[rows], tasks.end[rows]),
            union(found.start[here], found.end[here]),
            *window,
        )
        for kind, part in enumerate(parts):
            starts.append(part.start)
            ends.append(part.end)
            devices.append(np.full(len(part.start), device))
            types.append(np.full(len(part.start), kind))
    rows = sum(len(part) for part in starts)
    none = np.empty(0, np.int64)
    return {
        "id": np.arange(rows),
        "device": np.concatenate([none, *devices]),
        "start": np.concatenate([none, *starts]),
        "end": np.concatenate([none, *ends]),
        "kind": np.concatenate([none, *types]),
    }
