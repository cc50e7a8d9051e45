"""Moments of a step as the script knows them, turned into times of every run.

A moment is an offset from an anchor of an item. Offsets in the planned length of what the anchor
begins are stretched as the run was: multiplied by ``actual / planned``, a 44.20 fixed-point number,
and rounded down. That keeps their order, so what encloses in the plan encloses in every run.

An operator spends ``before`` until its items are handed over and ``after`` once they are. Both are
divided into 1024 parts; the constants say in which part something begins or ends. Frames of the
Python trace lie outermost, then the backward node, the operator, its outputs and its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers

from ..program.model import Prepare, Synchronize
from ..world.timeline import RankTimeline
from .script import HostScript, Run

WHOLE = 1 << 16
"""Offsets from HANDED where the plan has no ``after``, and from TAIL, are parts of so much."""
TAIL_NS = 60_000
"""The tail of a wait, in which the host fetches what it waited for, is no longer than this."""
SHIFT = 20


class Anchor(IntEnum):
    """What a moment is measured from. LEFT, DONE and the step's bounds do not stretch, nor does
    BEGIN of what takes no time of the plan.

    TAIL: the last part of the framework thread's time between ``handed`` and ``left``.
    """

    BEGIN = 0
    HANDED = 1
    LEFT = 2
    TAKEN = 3
    DONE = 4
    TAIL = 5
    STEP_START = 6
    STEP_END = 7


class Moment(NamedTuple):
    """``offset`` ns (or parts) after the anchor of an item; the step's bounds have item 0."""

    anchor: Anchor
    item: int
    offset: int = 0


class Moments:
    """Columns of moments of one step."""

    def __init__(self, moments: Sequence[Moment], items: int) -> None:
        """``items``: number of items of the program."""
        table = np.array(moments, np.int64).reshape(-1, 3)
        self.column: Integers = np.where(
            table[:, 0] < Anchor.STEP_START,
            table[:, 0] * items + table[:, 1],
            table[:, 0] + (Anchor.STEP_START * items - Anchor.STEP_START),
        )
        self.offset: Integers = table[:, 2]

    def __len__(self) -> int:
        return len(self.offset)

    def take(self, rows: Integers) -> Moments:
        """The moments at these places."""
        chosen = Moments((), 0)
        chosen.column, chosen.offset = self.column[rows], self.offset[rows]
        return chosen


class Clock:
    """The times of one rank's runs."""

    def __init__(self, timeline: RankTimeline) -> None:
        host, plan = timeline.host, timeline.plan
        waited = host.left - host.handed
        tail = np.minimum(waited >> 1, TAIL_NS)
        unit = np.full(waited.shape, 1 << SHIFT, np.int64)
        before = _scale(host.handed - host.begin, plan.before)
        after = np.where(plan.after > 0, plan.after, WHOLE)
        parts = (
            (host.begin, np.where(plan.before > 0, before, unit)),
            (host.handed, _scale(waited, after)),
            (host.left, unit),
            (host.taken, _scale(host.done - host.taken, plan.occupied)),
            (host.done, unit),
            (host.left - tail, tail << SHIFT >> 16),
            (timeline.step_starts[:, None], unit[:, :1]),
            (timeline.step_ends[:, None], unit[:, :1]),
        )
        self._origin = np.concatenate([origin for origin, _ in parts], axis=1)
        self._scale = np.concatenate([scale for _, scale in parts], axis=1)

    def read(self, moments: Moments, out: Integers) -> None:
        """Write the times of the moments into ``out``, shape (steps, moments)."""
        for step, row in enumerate(out):
            stretched = self._scale[step].take(moments.column)
            stretched *= moments.offset
            stretched >>= SHIFT
            np.add(self._origin[step].take(moments.column), stretched, out=row)

    def times(self, moments: Moments) -> Integers:
        """The times of the moments in every step, one step after the other."""
        out = np.empty((len(self._origin), len(moments)), np.int64)
        self.read(moments, out)
        return out.reshape(-1)


def _scale(actual: Integers, planned: Integers) -> Integers:
    result: Integers = (actual << SHIFT) // np.maximum(planned, 1)
    return result


PARTS = 1024
FRAME_PARTS = 4
DEEPEST_FRAME = 45
"""Frame number k begins 4 k parts after the run's begin and ends 4 k parts before its end."""
NODE_CALL, NODE, OPERATOR = 184, 187, 192
MARKED_NODE_CALL = 40
"""Where a mark is the first of a node, whose time is too short for the others to lie apart."""
FUNCTION, TEST, TEST_END, BUILT_IN = 182, 183, 186, 189
NODE_CALL_END, NODE_END, FUNCTION_END, BUILT_IN_END = 840, 832, 824, 816
OPERATOR_END, LEAF_END = 800, 256
OUTPUTS, OUTPUTS_END = 320, 600
LEAVES = 640
CREATION, CREATION_END = 602, 638
"""The event of a collective."""
SIZING, SIZING_END = 690, 780
"""GetWorkspaceSize, or the descriptions of the operands of a compiled graph."""
FETCH, FETCH_END = 60, 600
"""The copy to the host at the end of a wait."""
SCALAR, SCALAR_END = 400, 700


def beginning(run: Run, part: int) -> Moment:
    """A part of the run's time before its items are handed over."""
    return Moment(Anchor.BEGIN, run.first, (run.share - run.after) * part // PARTS)


def preparing(run: Run, item: Prepare, part: int) -> Moment:
    """A part of the usual time of a Prepare, of an operator that costs no other time."""
    return Moment(Anchor.BEGIN, run.first, item.duration * part // PARTS)


def ending(script: HostScript, run: Run, part: int) -> Moment:
    """A part of the run's time after that; at the end of the wait of a Synchronize."""
    if isinstance(script.program.items[run.last], Synchronize):
        return Moment(Anchor.TAIL, run.last, WHOLE * part // PARTS)
    return Moment(Anchor.HANDED, run.last, (run.after or WHOLE) * part // PARTS)


def slots(count: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each of so many leaves, in parts before the run is handed over."""
    for place in range(count):
        yield (
            LEAVES + (PARTS - LEAVES) * place // count,
            LEAVES + (PARTS - LEAVES) * (place + 1) // count,
        )
