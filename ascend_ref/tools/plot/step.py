"""One step of a recording: what ran in it, and where its time went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import Overlap, hull, overlap

from .columns import pairs_of
from .errors import NotThere, chosen
from .kinds import COMPUTING_KINDS, Kind
from .recording import Bars, Recording

GAPS: Final = 5
OPERATORS: Final = 8


class Gap(NamedTuple):
    """Time in which a device neither computed nor communicated, between two operators; Unix ns."""

    start: int
    end: int
    after: str
    before: str


class Operator(NamedTuple):
    """One type of operator in a step. runs: how many. total: sum of their lengths, ns."""

    name: str
    kind: Kind
    runs: int
    total: int


@dataclass(frozen=True, slots=True)
class Step:
    """A step of one device. number: ``None`` for a whole capture without steps.

    start, end: from the first start to the last end of what computes or communicates, Unix ns, as
    the framework's exporter bounds a step (ascend_ref.derive.steps). prepared: how long before it
    the host began the step, ns. gaps, operators: the longest first.
    """

    number: int | None
    start: int
    end: int
    prepared: int | None
    bars: Bars
    overlap: Overlap
    gaps: tuple[Gap, ...]
    operators: tuple[Operator, ...]

    @property
    def length(self) -> int:
        """Computing, communication that is not overlapped and free time together, ns."""
        return self.end - self.start


def step_of(recording: Recording, number: int | None) -> Step:
    """The step of this number, or the only or first one; a task is of the step it starts in.

    Raises :class:`NotThere` for a step that the recording does not have or that is empty.
    """
    own = chosen("step", number, recording.step_numbers)
    step = next(one for one in recording.steps if one.number == own)
    bars = recording.bars.take(np.arange(len(recording.bars))[step.within(recording.bars.start)])
    computing = np.isin(bars.kind, COMPUTING_KINDS)
    communicating = bars.kind == Kind.OPERATION
    counted = bars.take(computing | communicating)
    extent = hull(counted.start, counted.end) or hull(bars.start, bars.end)
    if extent is None:
        which = "the capture" if step.number is None else f"step {step.number}"
        raise NotThere(f"no task in {which}; expected tasks of a device")
    parts = overlap(
        union(bars.start[computing], bars.end[computing]),
        union(bars.start[communicating], bars.end[communicating]),
        *extent,
    )
    known = step.begin is not None and computing.any()
    return Step(
        number=step.number,
        start=extent[0],
        end=extent[1],
        prepared=extent[0] - step.begin if known and step.begin is not None else None,
        bars=bars,
        overlap=parts,
        gaps=_gaps(recording, counted, parts),
        operators=_operators(recording, counted),
    )


def _gaps(recording: Recording, counted: Bars, parts: Overlap) -> tuple[Gap, ...]:
    length = parts.free.end - parts.free.start
    longest = np.lexsort((parts.free.start, -length))[:GAPS]
    found = []
    for start, end in zip(
        parts.free.start[longest].tolist(), parts.free.end[longest].tolist(), strict=True
    ):
        after = np.flatnonzero(counted.end == start)
        before = np.flatnonzero(counted.start == end)
        found.append(
            Gap(start, end, _name(recording, counted, after), _name(recording, counted, before))
        )
    return tuple(found)


def _name(recording: Recording, bars: Bars, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> str:
    """The name of the first of these bars that has one."""
    named = bars.name[rows]
    named = named[named >= 0]
    return recording.names[int(named[0])] if len(named) else ""


def _operators(recording: Recording, counted: Bars) -> tuple[Operator, ...]:
    named = counted.take(counted.name >= 0)
    keys, group = pairs_of(named.name, named.kind)
    count = np.bincount(group, minlength=len(keys))
    # Sums of hostile lengths may exceed 64 bits.
    total = np.bincount(group, named.end - named.start, minlength=len(keys))
    longest = np.argsort(-total, kind="stable")[:OPERATORS]
    return tuple(
        Operator(
            recording.names[keys[row][0]], Kind(keys[row][1]), int(count[row]), int(total[row])
        )
        for row in longest.tolist()
    )
