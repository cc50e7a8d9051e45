"""Times that are known to a precision only must not make a recording that cannot be.

A stream runs one task after another. Where an end lies behind the start of the next task by no
more than the precision of both, the task ended there at the latest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ascend_ref.capture import Integers

from .found import CpuRun, Runs

_UNITS = (1_000, 1_000_000)
"""ns of a us and of a ms."""
_ROUNDED = 1
"""ns by which a difference of two times can be off since both are whole ns."""


def precision_of(latest: int) -> int:
    """How far, in ns, a difference of two starts can be off, none of them later than ``latest`` ns.

    Parsers read them as doubles of us and write them as doubles of ms (erratum M56).
    """
    return _ROUNDED + sum(int(np.ceil(np.spacing(latest / unit) * unit)) for unit in _UNITS)


def runs_in_turn(runs: Runs, precision: int) -> tuple[Runs, int]:
    """The same with ends that the next starts allow, and how many were set."""
    end, count = _ends(runs.start, runs.end, runs.stream, precision)
    return replace(runs, end=end), count


def cpu_runs_in_turn(runs: Sequence[CpuRun], precision: int) -> tuple[Sequence[CpuRun], int]:
    """The same of AI CPUs."""
    if not runs:
        return runs, 0
    table = np.array([(one.start, one.end, one.stream) for one in runs], np.int64)
    end, count = _ends(table[:, 0], table[:, 1], table[:, 2], precision)
    return [replace(one, end=own) for one, own in zip(runs, end.tolist(), strict=True)], count


def _ends(start: Integers, end: Integers, stream: Integers, precision: int) -> tuple[Integers, int]:
    order = np.lexsort((end, start, stream))
    first, second = order[:-1], order[1:]
    over = end[first] - start[second]
    late = (stream[first] == stream[second]) & (over > 0) & (over <= precision)
    found = end.copy()
    found[first[late]] = start[second[late]]
    return found, int(np.sum(late))
