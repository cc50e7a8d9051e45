"""How each training step divides, as the PyTorch adapter computes it: step_trace_time.csv.

It adds times in us as floats, and at the size of an instant neighbouring floats are a quarter of a
us apart, so only the same arithmetic in the same order gives its figures. Source: text-outputs.md
7.7, bit-exact on real files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.capture.model import NONE

from .decimals import unit_floats
from .matching import greatest, least, sums
from .steps import Spans

COMPUTING, COMMUNICATION, NOT_OVERLAPPED, FREE, RECEIVING = range(5)
"""Kinds of slices: the four of the overlap analysis, and operators that receive."""
RECEIVE = "hcom_receive"
"""So the names of operators begin that receive from another pipeline stage."""
UNSET = -1.0
"""Instant of something that did not happen."""


class Slices(NamedTuple):
    """Slices of the timeline in the order of its file. start, duration: us as floats."""

    device: Integers
    kind: Integers
    start: Reals
    duration: Reals


class DeviceStep(NamedTuple):
    """A step with its bounds on the device, and its begin on the host; us as floats."""

    number: int | None
    start: float
    end: float
    begin: float


class StepRow(NamedTuple):
    """A row of step_trace_time.csv; us. Without slices of a kind its figure is the integer 0."""

    device: int
    step: int | None
    computing: float
    communication_not_overlapped: float
    overlapped: float
    communication: float
    free: float
    stage: float
    bubble: float
    communication_not_overlapped_and_exclude_receive: float
    preparing: float


Side = Literal["left", "right"]


class Generation(NamedTuple):
    """How the adapter divided steps since a month.

    first, last: sides on which slices are sought that start as the step does and as it ends.
    every_step: whether a step without slices has a row. least: of exposed communication without
    receiving. begin: of a capture without operators and steps. all_launches: whether a step lasts
    from the first to the last kernel of any launch, and as on the host without any.
    """

    since: str
    first: Side
    last: Side
    every_step: bool = True
    least: float = -math.inf
    begin: float | None = None
    all_launches: bool = False


GENERATIONS = (
    Generation("2026-03", "left", "left", every_step=False, least=0),
    Generation("2025-06", "left", "left", every_step=False),
    Generation("2024-10", "left", "left"),
    Generation("2023-12", "left", "right", begin=UNSET),
    Generation("2023-08", "right", "left", all_launches=True),
)
"""Source: commits 337272901, 72e3a7dc5, 7e8ae592b with d1e6d73ba, and c047c84cb with a7fbb1ec3 of
torch_npu."""


def launching_steps(steps: Spans, moment: Integers) -> Integers:
    """The row of the last step that began by each moment, -1 where it has ended before. In ns."""
    order = np.argsort(steps.start, kind="stable")
    place = np.searchsorted(steps.start[order], moment, side="right") - 1
    step = np.append(order, NONE)[place]
    step[moment > np.append(steps.end, 0)[step]] = NONE
    return step


def device_steps(
    numbers: Sequence[int],
    steps: Spans,
    step: Integers,
    launch: Integers,
    kernels: Spans,
    *,
    all_launches: bool = False,
) -> list[DeviceStep]:
    """The steps as the device saw them; a step that launched nothing is none. Times in ns.

    kernels: with the row of the ``step`` in which they were launched (-1: in none) and a number
    that ascends with the ``launch``. A step lasts from the first kernel of its first launch until
    the end of the last kernel of its last one, at least to its own end. all_launches: see
    :class:`Generation`.
    """
    found = []
    order = np.lexsort((launch, step))
    bounds = np.searchsorted(step[order], [range(len(numbers)), range(1, len(numbers) + 1)])
    for row, (low, high) in enumerate(bounds.T.tolist()):
        rows = order[low:high]
        if not len(rows):
            if all_launches:
                begin, end = int(steps.start[row]) / 1000, int(steps.end[row]) / 1000
                found.append(DeviceStep(numbers[row], begin, end, begin))
            continue
        first = rows if all_launches else rows[launch[rows] == launch[rows[0]]]
        last = rows if all_launches else rows[launch[rows] == launch[rows[-1]]]
        end = max(int(kernels.end[last].max()), int(steps.end[row]))
        found.append(
            DeviceStep(
                numbers[row],
                int(kernels.start[first].min()) / 1000,
                end / 1000,
                int(steps.start[row]) / 1000,
            )
        )
    return found


def step_rows(
    slices: Slices,
    steps: Sequence[DeviceStep],
    first_operator: float | None,
    generation: Generation = GENERATIONS[0],
) -> list[StepRow]:
    """The rows of the file, by device and number of the step, as a generation writes them.

    A slice belongs to the first step in which it starts; where there are steps, others are left
    out. Without any, one row per device holds everything and its preparing begins with the first
    operator of the framework, us. A step without computing and communication prepares until -1.
    """
    if not (slices.kind < RECEIVING).any():
        return []
    place = np.zeros(len(slices.start), np.int64)
    if steps:
        place = _steps_of(slices.start, steps, generation)
    devices, device = np.unique(slices.device, return_inverse=True)
    kept = place != NONE
    slices = Slices(*(column[kept] for column in slices))
    bounds = steps or [DeviceStep(None, UNSET, UNSET, UNSET)]
    owner = device[kept] * len(bounds) + place[kept]
    count = len(devices) * len(bounds)
    amounts, present = _amounts(slices, owner, count)
    start, end, work = _extents(slices, owner, count)
    first = generation.begin if first_operator is None else first_operator
    rows = []
    shown = present.any(axis=1) | generation.every_step
    for row in np.flatnonzero(shown).tolist():
        spent = [
            float(amounts[row, kind]) if present[row, kind] else 0 for kind in range(RECEIVING + 1)
        ]
        step = bounds[row % len(bounds)]
        begin = step.begin if steps else first
        rows.append(
            StepRow(
                device=int(devices[row // len(bounds)]),
                step=step.number,
                computing=spent[COMPUTING],
                communication_not_overlapped=spent[NOT_OVERLAPPED],
                overlapped=spent[COMMUNICATION] - spent[NOT_OVERLAPPED],
                communication=spent[COMMUNICATION],
                free=spent[FREE],
                stage=float(end[row] - start[row]) - spent[RECEIVING],
                bubble=spent[RECEIVING],
                communication_not_overlapped_and_exclude_receive=max(
                    spent[NOT_OVERLAPPED] - spent[RECEIVING], generation.least
                ),
                preparing=0 if begin is None else float(work[row]) - begin,
            )
        )
    return sorted(rows, key=lambda row: (row.device, row.step or 0))


def _steps_of(start: Reals, steps: Sequence[DeviceStep], generation: Generation) -> Integers:
    """The place of the first step that holds each time; today ``start <= time < end``."""
    order = np.argsort(start, kind="stable")
    ascending = start[order]
    lows = np.searchsorted(ascending, [step.start for step in steps], side=generation.first)
    highs = np.searchsorted(ascending, [step.end for step in steps], side=generation.last)
    found = np.full(len(start), NONE)
    for place in range(len(steps) - 1, -1, -1):
        found[order[lows[place] : highs[place]]] = place
    return found


def step_at(steps: Sequence[DeviceStep], start: Integers) -> Integers:
    """The number of the first step in whose bounds work starts, ends included; -1 without one."""
    moments = unit_floats(start)
    order = np.argsort(moments, kind="stable")
    ascending = moments[order]
    number = np.full(len(start), NONE)
    for step in reversed(steps):
        low = np.searchsorted(ascending, step.start, side="left")
        high = np.searchsorted(ascending, step.end, side="right")
        number[order[low:high]] = step.number
    return number


def _amounts(slices: Slices, owner: Integers, count: int) -> tuple[Reals, Integers]:
    """Time and number of slices, by owner and kind; times added in the order of the file."""
    kinds = RECEIVING + 1
    key = owner * kinds + slices.kind
    times = sums(key, slices.duration, count * kinds)
    number = np.bincount(key, minlength=count * kinds)
    return times.reshape(count, kinds), number.reshape(count, kinds)


def _extents(slices: Slices, owner: Integers, count: int) -> tuple[Reals, Reals, Reals]:
    """First start, last end, and first start of computing or communication, by owner."""
    works = slices.kind <= COMMUNICATION
    found = (
        least(owner, slices.start, count),
        greatest(owner, slices.start + slices.duration, count),
        least(owner[works], slices.start[works], count),
    )
    start, end, first = (np.where(np.isinf(one), UNSET, one) for one in found)
    return start, end, first
