"""What a builder of records may look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ascend_ref.capture import Batch, Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.transit import task_rows

from ..draws import Draws
from ..samples.scene import Columns, DeviceScene, Window, period_of, regular
from ..world.compiled import Compiled

HOST = NONE
"""The column ``device`` of rows about the host."""


@dataclass(frozen=True, kw_only=True)
class RecordScene(DeviceScene):
    """One rank's session, everything else of which is recorded.

    model: id of the graph that each step runs, NONE without one.
    """

    compiled: Compiled
    capture: Capture
    model: int

    @property
    def product(self) -> str:
        """Product family."""
        return self.machine.chip.product

    def noise(self, record: str) -> Draws:
        """The random numbers of a record, which no other record shares."""
        return self.draws("record", record)

    def sampled(self, record: str, frequency: int) -> Integers:
        """When a sampler of the device's system reads; the samples bound whole periods."""
        window = Window.of(self.timeline, self.traffic)
        return regular(window, period_of(frequency), self.noise(f"grid {record}"))

    @cached_property
    def kernels(self) -> KernelRuns:
        """The kernels in order of start."""
        capture = self.capture
        task = task_rows(capture.tasks)[capture.kernels.task]
        order = np.argsort(task, kind="stable")  # tasks stand in order of start
        chosen = capture.tasks.take(task[order])
        kind = capture.kernels.kind[order]
        return KernelRuns(
            start=chosen.start,
            end=chosen.end,
            stream=chosen.stream,
            number=chosen.number,
            name=capture.kernel_kinds.name[kind],
            kind=kind,
        )

    def column(self, name: str) -> Integers:
        """One number of each kind of kernel."""
        return self.compiled.kernel_column(name)


@dataclass(frozen=True, slots=True)
class KernelRuns(Batch):
    """Runs of kernels; kind: row of ``Compiled.kinds``."""

    start: Integers
    end: Integers
    stream: Integers
    number: Integers
    name: Integers
    kind: Integers

    def task_columns(self) -> Columns:
        """The columns that name the task of a row."""
        return {"stream": self.stream, "number": self.number, "name": self.name}


def rows(columns: Mapping[str, Iterable[Any]]) -> Columns:
    """Columns of integers from lists."""
    return {name: np.array(list(values), np.int64) for name, values in columns.items()}


def by_device(parts: Mapping[int, Columns]) -> Columns:
    """Rows of the systems of several devices, or of HOST, one after the other."""
    return stacked(
        [
            {"device": np.full(len(next(iter(part.values()))), device), **part}
            for device, part in parts.items()
        ]
    )


def stacked(parts: Sequence[Columns]) -> Columns:
    """Rows of several parts, one after the other; none without parts."""
    if not parts:
        return {}
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
