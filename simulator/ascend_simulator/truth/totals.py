"""What one rank did, counted while it was simulated and not from what was written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.intervals import difference, joined, union

from .timelines import Shown, StepParts, TimelineTotals, step_parts, timeline_totals


@dataclass(frozen=True, slots=True)
class StepTotals:
    """One step on the device, ns. start, end: the step on the host.

    free: from the first kernel or operator to the last, while neither ran.
    """

    step: int
    start_ns: int
    end_ns: int
    computing_ns: int
    communication_ns: int
    communication_not_overlapped_ns: int
    free_ns: int


@dataclass(frozen=True, slots=True)
class OperatorTotals:
    """Runs of one compute operator; its name is there at every level, its type from level 1 on."""

    name: str
    op_type: str
    core: str
    count: int
    time_ns: int


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """A communication group. bytes: what the rank's small tasks moved to other ranks."""

    group: str
    purpose: str
    ranks: tuple[int, ...]
    operators: int
    bytes: int


@dataclass(frozen=True, slots=True)
class RankTotals:
    """Totals of one rank."""

    rank: int
    device: int
    session_start_ns: int
    session_end_ns: int
    tasks: int
    host_calls: int
    steps: tuple[StepTotals, ...]
    operators: tuple[OperatorTotals, ...]
    groups: tuple[GroupTotals, ...]
    step_trace_time: tuple[StepParts, ...]
    timeline: TimelineTotals


def rank_totals(capture: Capture, kernel_steps: Integers) -> RankTotals:
    """Count one rank. ``kernel_steps``: number of the step that each row of Kernels ran in."""
    shown = Shown(capture)
    ran = shown.row_of(capture.kernels.task)
    begin, end = shown.tasks.start[ran], shown.tasks.end[ran]
    operators = shown.operators
    operator_step = capture.collectives.step[operators.rows]
    steps = []
    for number, start, stop in zip(
        capture.steps.number.tolist(),
        capture.steps.start.tolist(),
        capture.steps.end.tolist(),
        strict=True,
    ):
        computes = kernel_steps == number
        communicates = operator_step == number
        computing = union(begin[computes], end[computes])
        communication = union(operators.start[communicates], operators.end[communicates])
        either = joined(computing, communication)
        extent = int(either.end[-1] - either.start[0]) if len(either.start) else 0
        steps.append(
            StepTotals(
                step=number,
                start_ns=start,
                end_ns=stop,
                computing_ns=computing.total,
                communication_ns=communication.total,
                communication_not_overlapped_ns=difference(communication, computing).total,
                free_ns=extent - either.total,
            )
        )
    origin = capture.origin
    return RankTotals(
        rank=origin.rank,
        device=origin.devices[0],
        session_start_ns=origin.start,
        session_end_ns=NONE if origin.end is None else origin.end,
        tasks=len(capture.tasks),
        host_calls=len(capture.calls),
        steps=tuple(steps),
        operators=_compute_operators(capture, end - begin),
        groups=_groups(capture),
        step_trace_time=step_parts(shown, kernel_steps),
        timeline=timeline_totals(capture),
    )


def _compute_operators(capture: Capture, lengths: Integers) -> tuple[OperatorTotals, ...]:
    kinds, texts = capture.kernel_kinds, capture.texts.all
    found: dict[tuple[str, str, str], list[int]] = {}
    counts = np.bincount(capture.kernels.kind, minlength=len(kinds))
    for kind in np.flatnonzero(counts).tolist():
        key = (
            texts[int(kinds.name[kind])],
            texts[int(kinds.op_type[kind])],
            texts[int(kinds.core[kind])],
        )
        entry = found.setdefault(key, [0, 0])
        entry[0] += int(counts[kind])
        entry[1] += int(lengths[capture.kernels.kind == kind].sum())
    return tuple(
        OperatorTotals(*key, count=count, time_ns=time)
        for key, (count, time) in sorted(found.items())
    )


def _groups(capture: Capture) -> tuple[GroupTotals, ...]:
    groups, transfers, collectives = capture.groups, capture.transfers, capture.collectives
    texts = capture.texts.all
    remote = (transfers.target != NONE) & (transfers.target != transfers.source)
    of_group = collectives.group[transfers.collective]
    found = []
    for row in range(len(groups)):
        first, size = int(groups.first[row]), int(groups.size[row])
        ranks = capture.group_ranks[first : first + size]
        found.append(
            GroupTotals(
                group=texts[int(groups.name[row])],
                purpose=texts[int(groups.purpose[row])],
                ranks=tuple(ranks.tolist()),
                operators=int((collectives.group == row).sum()),
                bytes=int(transfers.size[remote & (of_group == row)].sum()),
            )
        )
    return tuple(found)
