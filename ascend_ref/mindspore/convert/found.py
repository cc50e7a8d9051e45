"""What files of older generations hold of a device. Times are ns since its counter was 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_spec.mindspore import TASK_NUMBERS


def _none() -> Integers:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output of an operator. ``shape``: sizes joined by commas."""

    format: str
    data_type: str
    shape: str


@dataclass(frozen=True, slots=True)
class Operator:
    """What the framework says of an operator. Empty texts and NONE for what it does not.

    ``model``: number of the graph. ``processor``: AI_CORE, AI_CPU, …
    """

    name: str
    type: str = ""
    processor: str = ""
    blocks: int = 0
    model: int = NONE
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of tasks in order of start. ``operator``: its number among those of :class:`Found`."""

    start: Integers = field(default_factory=_none)
    end: Integers = field(default_factory=_none)
    stream: Integers = field(default_factory=_none)
    task: Integers = field(default_factory=_none)
    operator: Integers = field(default_factory=_none)

    def __len__(self) -> int:
        return len(self.start)

    def later(self, by: int) -> Runs:
        """The same so many ns later."""
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass(frozen=True, slots=True)
class CpuRun:
    """A run of a kernel of an AI CPU; NONE for what is not known.

    ``name``: full where its task is known. ``compute`` and what follows: lengths.
    """

    name: str
    start: int
    end: int
    stream: int = NONE
    task: int = NONE
    compute: int = NONE
    memcpy: int = NONE
    dispatch: int = NONE
    total: int = NONE


@dataclass(frozen=True, slots=True)
class Iteration:
    """A step. ``start``: NONE of the first one; ``fp`` and ``bp``: NONE where it has none.

    ``reductions``: begin and end of each sum of gradients.
    """

    number: int
    start: int
    fp: int
    bp: int
    end: int
    reductions: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A small task of a collective; NONE for what is not known. ``size``: Byte."""

    kind: str
    start: int
    end: int
    stream: int
    task: int
    plane: int
    notify: int
    source: int
    target: int
    size: int
    transport: str


@dataclass(frozen=True, slots=True)
class Collective:
    """An operator of communication with its parts in order of start, at least one."""

    name: str
    kind: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A reading of prepared data. ``size``: batches in the queue."""

    name: str
    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Found:
    """All of it. ``zero``: Unix time, in ns, when the counter was 0. ``lost``: sentences on what is
    left out.
    """

    operators: Sequence[Operator]
    runs: Runs
    cpu_runs: Sequence[CpuRun]
    iterations: Sequence[Iteration]
    fetches: Sequence[Fetch]
    collectives: Sequence[Collective]
    zero: int
    lost: Sequence[str]


def placed(cpu_runs: Sequence[CpuRun], runs: Runs) -> tuple[Sequence[CpuRun], Sequence[str]]:
    """The same runs of AI CPUs with a task each, and a sentence on those that do not state theirs.

    Those get numbers in their order, on a stream that nothing else has.
    """
    unknown = [one for one in cpu_runs if one.stream == NONE]
    if not unknown:
        return cpu_runs, ()
    streams = [one.stream for one in cpu_runs]
    own = max([int(runs.stream.max()) if len(runs) else NONE, *streams]) + 1
    numbers = iter(range(len(unknown)))
    text = (
        f"{len(unknown):,} kernels of AI CPUs do not state their task; they stand on stream {own}, "
        "which no other task has"
    )
    return [
        replace(one, stream=own, task=next(numbers) % TASK_NUMBERS) if one.stream == NONE else one
        for one in cpu_runs
    ], (text,)


def earliest(
    runs: Runs,
    cpu_runs: Sequence[CpuRun],
    iterations: Sequence[Iteration],
    fetches: Sequence[Fetch],
    collectives: Sequence[Collective] = (),
) -> int:
    """The first time of all of it; 0 without any."""
    times = [int(one) for one in runs.start[:1]]
    times += [one.start for one in cpu_runs]
    times += [one.fp if one.start == NONE else one.start for one in iterations]
    times += [one.start for one in fetches]
    times += [one.parts[0].start for one in collectives]
    return min((one for one in times if one != NONE), default=0)
