"""The faults that lose data of a rank, and what each of them took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_ref.capture import Capture, Steps
from ascend_ref.capture.model import NONE

from ..choices import LOSSES_OF_RECORDS, FaultChoice, FaultKind
from ..world.disturbance import MILLISECOND, Disturbances
from .rows import rows_of
from .without import without_device, without_steps, without_tasks


@dataclass(frozen=True, slots=True)
class Loss:
    """What one fault took of a rank.

    start_ns, end_ns: Unix ns by the clock of the rank's host; what begins from the start on and
    before the end is lost. rows: how many, by the name of their table or record.
    """

    rank: int
    start_ns: int
    end_ns: int
    rows: Mapping[str, int]


def lose(capture: Capture, disturbances: Disturbances) -> tuple[Capture, dict[int, Loss]]:
    """What the faults leave of a complete capture, and what each took, by its place.

    They follow each other in the order of the scenario: what one has taken, none takes again.
    """
    rank, steps = capture.origin.rank, capture.steps
    left, losses = capture, {}
    for place, fault in enumerate(disturbances.faults):
        if fault.kind not in LOSSES_OF_RECORDS or rank not in disturbances.ranks_of(fault):
            continue
        window = _window(fault, capture, _bounds(steps, *disturbances.steps_of(fault)))
        before, left = rows_of(left), _left(fault.kind, left, *window)
        losses[place] = Loss(rank, *window, rows=dict(before - rows_of(left)))
    return left, losses


def _bounds(steps: Steps, first: int, last: int) -> tuple[int, int]:
    return int(steps.start[first]), int(steps.end[last])


def _window(fault: FaultChoice, capture: Capture, steps: tuple[int, int]) -> tuple[int, int]:
    """From when until when records are lost; a slice is no longer than its steps."""
    origin, (first, last) = capture.origin, steps
    length = fault.milliseconds * MILLISECOND
    if fault.kind == "lost-head":
        return origin.start, first + length
    if fault.kind == "lost-slice":
        start = max(first + (last - first - length) // 2, first)
        return start, min(start + length, last)
    return origin.start, NONE if origin.end is None else origin.end


def _left(kind: FaultKind, capture: Capture, start: int, end: int) -> Capture:
    if kind == "lost-device":
        return without_device(capture)
    if kind == "lost-steps":
        return without_steps(capture)
    begins = capture.tasks.start
    return without_tasks(capture, (begins >= start) & (begins < end))
