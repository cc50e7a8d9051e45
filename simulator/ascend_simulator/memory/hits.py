"""Which captured steps of a rank a fault hits, and how much memory it costs there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ascend_ref.capture import Integers

from ..choices import FaultChoice, FaultKind
from .blocks import MEBI
from .totals import SEGMENT, rounded_up


def hits(
    faults: Iterable[FaultChoice], kind: FaultKind, rank: int, steps: int
) -> Iterator[tuple[FaultChoice, int, int]]:
    """The faults of one kind that hit a rank, each with its first and its last captured step."""
    for fault in faults:
        if fault.kind != kind or (fault.ranks and rank not in fault.ranks):
            continue
        first, last = fault.steps or (0, steps - 1)
        if first < steps:
            yield fault, first, min(last, steps - 1)


def lost_bytes(fault: FaultChoice) -> int:
    """Byte that a leak or a fragmentation costs a step; the latter makes whole segments useless."""
    size = fault.megabytes * MEBI
    return rounded_up(size, SEGMENT) if fault.kind == "fragmentation" else size


def lost(faults: Iterable[FaultChoice], kind: FaultKind, rank: int, steps: int) -> Integers:
    """Byte that the faults of one kind cost a rank, per captured step."""
    cost = np.zeros(steps, np.int64)
    for fault, first, last in hits(faults, kind, rank, steps):
        cost[first : last + 1] += lost_bytes(fault)
    return cost
