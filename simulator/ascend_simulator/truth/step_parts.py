"""What step_trace_time.csv states about each step in addition to the totals of the step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Capture, Integers

from .timelines import Shown

RECEIVES = "receive"
"""Type of the operators that wait for another pipeline stage."""


@dataclass(frozen=True, slots=True)
class StepParts:
    """Lengths in ns, of the intervals of the overlap analysis that begin in the step.

    A step begins on the device with the work that its first launching call launched. So the time
    until the next step is free time of this one. stage: from the first begin of an interval to the
    last end, without the bubble. bubble: in operators that receive from another pipeline stage.
    preparing: from the start on the host to the first kernel or operator.
    """

    step: int
    free_ns: int
    stage_ns: int
    bubble_ns: int
    preparing_ns: int


def step_parts(capture: Capture, kernel_steps: Integers) -> tuple[StepParts, ...]:
    """The parts of every step in which anything ran (text-outputs.md 7.7).

    ``kernel_steps``: number of the step that each row of Kernels ran in.
    """
    shown = Shown(capture)
    found = shown.overlap()
    if found is None:
        return ()
    free = found.free
    rows, begin, end = shown.operator
    kernel_start = shown.tasks.start[shown.row_of(capture.kernels.task)]
    operator_step = capture.collectives.step[rows]
    receiving = capture.collectives.kind[rows] == shown.kind(RECEIVES)
    launched = shown.launched()
    called = capture.calls.start[launched.call]
    starts = np.concatenate([part.start for part in found])
    ends = np.concatenate([part.end for part in found])
    parts = []
    steps = capture.steps
    for number, start, stop in zip(
        steps.number.tolist(), steps.start.tolist(), steps.end.tolist(), strict=True
    ):
        first = np.append(kernel_start[kernel_steps == number], begin[operator_step == number])
        during = called[(called >= start) & (called <= stop)]
        if not len(first) or not len(during):
            continue
        low = int(launched.start[called == during.min()].min())
        inside = (starts >= low) & (starts < stop)
        if not inside.any():  # the step was over before its first task began
            continue
        begins = (free.start >= low) & (free.start < stop)
        received = receiving & (operator_step == number)
        bubble = int((end - begin)[received].sum())
        parts.append(
            StepParts(
                step=number,
                free_ns=int((free.end - free.start)[begins].sum()),
                stage_ns=int(ends[inside].max()) - int(starts[inside].min()) - bubble,
                bubble_ns=bubble,
                preparing_ns=int(first.min()) - start,
            )
        )
    return tuple(parts)
