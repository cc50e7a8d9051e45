"""The iterations of a capture's graph, with the points that each reaches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.transit import operators_of, task_rows

BETWEEN_STAGES = ("send", "receive")
"""Collectives of two ranks, which have points of steps as sums of gradients do."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A sum of gradients in an iteration, or what is sent between stages: its row of Collectives,
    its stream, and Unix ns.
    """

    collective: int
    stream: int
    start: int
    end: int


@dataclass(frozen=True)
class Iterations:
    """The iterations that a device recorded of its graph.

    ``start``, ``fp``, ``bp``, ``end``: Unix ns. Where nothing is trained the forward pass is all:
    from the first kernel to the end of the last one. ``reductions`` of each, in order of start.
    """

    capture: Capture
    device: int
    is_training: bool
    start: Integers
    fp: Integers
    bp: Integers
    end: Integers
    reductions: tuple[tuple[Reduction, ...], ...]

    def __len__(self) -> int:
        return len(self.start)

    def of(self, times: Integers) -> Integers:
        """The iteration that runs at each time; before the first one the first."""
        place = np.searchsorted(self.start, times, "right") - 1
        return np.maximum(place, 0)

    @classmethod
    def read(cls, capture: Capture, device: int) -> Iterations:
        """The iterations of a device, none where the capture has no graph."""
        trace = capture.records.get("step_trace")
        if trace is None:
            nothing = np.empty(0, np.int64)
            return cls(capture, device, False, nothing, nothing, nothing, nothing, ())
        own = trace["device"] == device
        number, start, end = (trace[name][own] for name in ("iteration", "start", "end"))
        fp, bp = trace["fp_start"][own].copy(), trace["bp_end"][own].copy()
        is_training = bool((bp != NONE).all())
        if not is_training:
            begun, ended = _kernels(capture, device)
            for place, (first, last) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
                inside = (begun >= first) & (ended <= last)
                fp[place] = begun[inside].min(initial=last)
                bp[place] = ended[inside].max(initial=first)
        sums = _Sums(capture, device)
        bounds = zip(number.tolist(), start.tolist(), end.tolist(), strict=True)
        reductions = tuple(tuple(sums.of(*one)) for one in bounds)
        return cls(capture, device, is_training, start, fp, bp, end, reductions)


def _kernels(capture: Capture, device: int) -> tuple[Integers, Integers]:
    """Start and end of every kernel."""
    tasks = capture.tasks
    rows = task_rows(tasks)[capture.kernels.task]
    rows = rows[tasks.device[rows] == device]
    return tasks.start[rows], tasks.end[rows]


@dataclass(frozen=True)
class _Sums:
    """The sums of gradients, each the collective operator with its interval."""

    capture: Capture
    device: int

    @cached_property
    def _rows(self) -> dict[tuple[int, int], int]:
        found = operators_of(self.capture)
        bounds = zip(found.start.tolist(), found.end.tolist(), strict=True)
        return dict(zip(bounds, found.rows.tolist(), strict=True))

    @cached_property
    def _streams(self) -> dict[int, int]:
        """The stream of the first master task of each collective."""
        transfers, tasks = self.capture.transfers, self.capture.tasks
        master = np.flatnonzero(transfers.master == 1)
        rows = task_rows(tasks)[transfers.task[master]]
        order = np.argsort(tasks.start[rows], kind="stable")[::-1]
        owners, streams = transfers.collective[master][order], tasks.stream[rows][order]
        return dict(zip(owners.tolist(), streams.tolist(), strict=True))

    @cached_property
    def _between_stages(self) -> list[tuple[int, int]]:
        """What is sent to another stage of a pipeline, and received."""
        kinds = self.capture.collectives.kind.tolist()
        return [
            bounds
            for bounds, row in self._rows.items()
            if self.capture.texts[kinds[row]] in BETWEEN_STAGES
        ]

    def of(self, iteration: int, start: int, end: int) -> list[Reduction]:
        """Those of an iteration from start to end, in order."""
        found = [one for one in self._between_stages if start <= one[0] and one[1] <= end]
        trace = self.capture.records.get("step_trace_reduce")
        if trace is not None:
            own = (trace["device"] == self.device) & (trace["iteration"] == iteration)
            found += zip(trace["start"][own].tolist(), trace["end"][own].tolist(), strict=True)
        return [
            Reduction(row, self._streams[row], *one)
            for one in sorted(found)
            if (row := self._rows.get(one)) is not None
        ]
