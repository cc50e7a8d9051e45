"""What files of older generations hold of a device. Times are ns since its counter was 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE


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
    zero: int
    lost: Sequence[str]
