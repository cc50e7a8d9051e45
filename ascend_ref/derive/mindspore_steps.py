"""How MindSpore's analysis divides a recording into steps, and its figures of each.

Source: mindspore-present.md 2.5, ``AscendStepTraceTimeViewer``. Times are whole ns: the analysis
adds decimals that hold them exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers

from .steps import Spans

COPIER = "viewer-2024"
"""The writer of MindSpore 2.3 and 2.4, which knows no steps (text/writers.yaml)."""
STEP = "ProfilerStep#"
"""What the names of events of steps hold; the step is what follows the last ``#``."""
ONE_STEP = "0"
"""What a recording without steps is shown as."""


class Step(NamedTuple):
    """A step and its bounds, which belong to it; ``None``: without bound."""

    name: str
    start: int | None
    end: int | None

    def holds(self, moments: Integers) -> Mask:
        """Which moments lie in the step."""
        if self.start is None or self.end is None:
            return np.ones(len(moments), np.bool_)
        mask: Mask = (moments >= self.start) & (moments <= self.end)
        return mask


class Overlaps(NamedTuple):
    """The events of the overlap analysis, by kind."""

    computing: Spans
    communication: Spans
    not_overlapped: Spans
    free: Spans


class StepFigures(NamedTuple):
    """A row of step_trace_time.csv: the step, and ns."""

    step: str
    computing: int
    communication_not_overlapped: int
    overlapped: int
    communication: int
    free: int
    stage: int
    bubble: int
    communication_not_overlapped_and_exclude_receive: int
    preparing: int


def steps_in(names: Sequence[str], events: Spans) -> list[Step]:
    """The steps in order of their starts; of several events of one name the last counts."""
    found = {
        name.rpartition("#")[2]: (start, end)
        for name, start, end in zip(names, events.start.tolist(), events.end.tolist(), strict=True)
    }
    ordered = sorted(found.items(), key=lambda one: one[1][0])
    return [Step(name, start, end) for name, (start, end) in ordered]


def step_at(steps: Sequence[Step], moments: Integers) -> Integers:
    """The place of the first step that holds each moment, -1 without one."""
    place = np.full(len(moments), -1)
    for number in range(len(steps) - 1, -1, -1):
        place[steps[number].holds(moments)] = number
    return place


def step_figures(
    steps: Sequence[Step], overlaps: Overlaps, first_call: int | None
) -> list[StepFigures]:
    """A row for each step, or one for all where there are none.

    Stage and bubble are 0: they are sums over the process HCCL, which msprof calls Communication
    today. first_call: start of the first event of the framework, ``None`` where it was not
    recorded.
    """
    every = steps or [Step(ONE_STEP, None, None)]
    return [_figures(step, overlaps, first_call) for step in every]


def whole_figures(overlaps: Overlaps, events: int, end: int, last: int) -> StepFigures:
    """The only row of MindSpore 2.3 and 2.4, whose stage and bubble mean nothing (erratum M60).

    events, end, last: of msprof's timeline the number of events, the end of the latest, and the
    length of the last.
    """
    bubble = events * last
    found = _figures(Step("", None, None), overlaps, None)
    return found._replace(
        stage=end - bubble,
        bubble=bubble,
        communication_not_overlapped_and_exclude_receive=(
            found.communication_not_overlapped - bubble
        ),
    )


def _figures(step: Step, overlaps: Overlaps, first_call: int | None) -> StepFigures:
    computing, communication, alone = (_sum(one, step) for one in overlaps[:3])
    return StepFigures(
        step.name,
        computing,
        alone,
        communication - alone,
        communication,
        _within(overlaps.free, step),
        stage=0,
        bubble=0,
        communication_not_overlapped_and_exclude_receive=alone,
        preparing=_preparing(step, overlaps, first_call),
    )


def _sum(events: Spans, step: Step) -> int:
    """The whole length of what starts in a step."""
    mask = step.holds(events.start)
    return int((events.end - events.start)[mask].sum())


def _within(events: Spans, step: Step) -> int:
    """The time of events that lies in a step."""
    if step.start is None or step.end is None:
        return _sum(events, step)
    inside = np.minimum(events.end, step.end) - np.maximum(events.start, step.start)
    return int(np.maximum(inside, 0).sum())


def _preparing(step: Step, overlaps: Overlaps, first_call: int | None) -> int:
    """From the start of a step on the host to the first work at or behind it."""
    if first_call is None:
        return 0
    starts = np.concatenate([overlaps.computing.start, overlaps.communication.start])
    if step.start is not None:
        starts = starts[starts >= step.start]
    begin = first_call if step.start is None else step.start
    return int(starts.min()) - begin if len(starts) else 0
