"""How each training step divides into computing, communication and free time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers

from .intervals import difference, joined, union
from .matching import greatest, least
from .overlap import hull


class Spans(NamedTuple):
    """Anything with a start and an end, as it comes; ns."""

    start: Integers
    end: Integers

    def at(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> Spans:
        """The spans of these rows, or where a mask is true."""
        return Spans(self.start[rows], self.end[rows])


class StepRange(NamedTuple):
    """A step as the device saw it. number: None where the program has no steps."""

    number: int | None
    begin: int | None
    low: int
    high: int

    def within(self, times: Integers) -> slice:
        """Where in ascending times those with ``low <= time < high`` stand."""
        return slice(*np.searchsorted(times, [self.low, self.high]).tolist())


@dataclass(frozen=True, slots=True)
class StepTrace:
    """The parts of one step on one device, ns.

    ``communication_not_overlapped + overlapped = communication``, and
    ``stage + bubble = computing + communication_not_overlapped + free``, the time from the first
    start to the last end.
    """

    step: StepRange
    computing: int
    communication_not_overlapped: int
    overlapped: int
    communication: int
    free: int
    stage: int
    bubble: int
    preparing: int


EVER = np.iinfo(np.int64).max


def step_ranges(
    numbers: Integers, steps: Spans, launches: Spans, launched: Integers, tasks: Spans
) -> list[StepRange]:
    """When the steps ran on the device: from the first task launched in a step to the last end.

    steps: one after the other. launches: calls of level node. launched: for each task the row of
    its launch, -1 without one. A step without launches has the host's bounds. Without steps there
    is one that holds everything.
    Source: exporter of the framework, parser of step infos (text-outputs.md 7.7).
    """
    known = launched >= 0
    launched, tasks = launched[known], tasks.at(known)
    if not numbers.size:
        return [StepRange(None, None, int(tasks.start.min()) if tasks.start.size else 0, EVER)]
    step = np.searchsorted(steps.start, launches.start, side="right") - 1
    step[launches.end > steps.end[step]] = -1
    own = step[launched]
    inside, count = own >= 0, len(numbers)
    low = least(own[inside], tasks.start[inside], count)
    low = np.where(low == EVER, steps.start, low)
    high = np.maximum(greatest(own[inside], tasks.end[inside], count), steps.end)
    columns = (numbers, steps.start, low, high)
    return [StepRange(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def step_trace(
    step: StepRange,
    kernels: Spans,
    operators: Spans,
    receiving: npt.NDArray[np.bool_],
    begin: int | None,
) -> StepTrace:
    """The parts of one step; a task belongs to the step in which it starts.

    kernels, operators: compute tasks and communication operators of one device, in order of start.
    receiving: which operators receive from another pipeline stage. begin: start of the first
    framework operator, for a capture without steps; None without such an operator.
    Source: db-schema.md 6, exact on ten real files.
    """
    computing_spans = kernels.at(step.within(kernels.start))
    inside = step.within(operators.start)
    communication_spans = operators.at(inside)
    computing, communication = union(*computing_spans), union(*communication_spans)
    alone = difference(communication, computing).total
    extent = hull(*computing_spans, *communication_spans) or (0, 0)
    length = extent[1] - extent[0]
    received = communication_spans.at(receiving[inside])
    bubble = int((received.end - received.start).sum())
    started = begin if step.begin is None else step.begin
    # Without compute tasks the exporter knows no first task, even if there is communication.
    if started is None or not computing_spans.start.size:
        started = extent[0]
    return StepTrace(
        step=step,
        computing=computing.total,
        communication_not_overlapped=alone,
        overlapped=communication.total - alone,
        communication=communication.total,
        free=length - joined(computing, communication).total,
        stage=length - bubble,
        bubble=bubble,
        preparing=extent[0] - started,
    )


def step_of(ranges: Iterable[StepRange], times: Integers) -> Integers:
    """The place of the first range that holds each time, both ends included; -1 without one.

    So the exporter assigns communication operators to steps (text-outputs.md 7.8).
    """
    place = np.full(len(times), -1)
    for number, step in enumerate(ranges):
        place[(place < 0) & (times >= step.low) & (times <= step.high)] = number
    return place
