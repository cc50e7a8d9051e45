"""What parsers have to find in what msprof exports of a job, computed from the capture alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_ref.derive.transit import task_rows
from ascend_ref.mindspore.write.exported import OPERATORS
from ascend_ref.mindspore.write.job import Job

Element = dict[str, Any]


def expected_of_export(job: Job) -> Element:
    """Operators, kernels of AI CPUs and steps of an export; nothing on days without one.

    Times are ns, those of a step Unix ns: ``begin``, ``fp``, ``bp``, ``end``; ``interval`` is the
    time from the end of the step before to the forward start, 0 of the first.
    """
    if not job.writes(OPERATORS):
        return {}
    return {"exported": {"operators": _operators(job), "steps": _steps(job)}}


def _operators(job: Job) -> list[Element]:
    """Kernels by the full name of their operator, in order of names."""
    tasks, kernels, kinds = job.capture.tasks, job.capture.kernels, job.capture.kernel_kinds
    rows = task_rows(tasks)[kernels.task]
    found: dict[str, Element] = {}
    for row, kind in zip(rows.tolist(), kernels.kind.tolist(), strict=True):
        place = int(job.graph.operator[row])
        one = job.graph.operators[place]
        known = found.setdefault(
            one.name,
            {
                "name": one.name,
                "type": one.op_type,
                "core": job.text(int(kinds.core[kind])),
                "executions": 0,
                "ns": 0,
            },
        )
        known["executions"] += 1
        known["ns"] += int(tasks.end[row] - tasks.start[row])
    return [found[name] for name in sorted(found)]


def _steps(job: Job) -> list[Element]:
    steps = job.graph.iterations
    if not len(steps):
        return []
    interval = np.append(0, steps.fp[1:] - steps.end[:-1])
    columns = (steps.start, steps.fp, steps.bp, steps.end, interval)
    names = ("begin", "fp", "bp", "end", "interval")
    return [
        {"step": number, **dict(zip(names, row, strict=True))}
        for number, row in enumerate(zip(*(one.tolist() for one in columns), strict=True), 1)
    ]
