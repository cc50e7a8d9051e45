"""The small tasks of a communication operator in time, for any number of its runs at once.

The distances between small tasks are those of real operators on 910B (db-schema.md 7.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ascend_ref.capture import Integers

from .exchange import Plan, Round

OPENING_NS = 800
"""Length of the reductions of 4 Byte that open and close an operator."""
LOCAL_START_NS = 2_000
AFTER_LOCAL_NS = 1_240
STAGGER_NS = 280
"""Lanes are started one after the other."""
BEFORE_WAIT_NS = 2_400
BEFORE_MOVE_NS = 620
AFTER_MOVE_NS = 900
CLOSING_NS = 540

Hear = Callable[[int, Integers], Integers]
"""Given a round and the ends of the records, when each lane hears the one that it waits for, or 0
where it waits for none."""


@dataclass(frozen=True, slots=True)
class Part:
    """What ranks do on the lanes of a round before data move; arrays have the shape (lanes, …).

    sends: 1 where a rank sends a record, 0 where not; None where all do. pause: from the end of the
    record (or the start of the lane) until the wait begins.
    """

    sends: Integers | None
    pause: Integers

    @classmethod
    def of(cls, turn: Round) -> Part:
        """Of all ranks, shape (lanes, 1, 1, ranks)."""
        sends, hears = turn.notifies >= 0, turn.heard >= 0
        if sends.all() and hears.all():
            return cls(None, np.array(BEFORE_WAIT_NS, np.int64))
        shape = len(turn.notifies), 1, 1, -1
        both = BEFORE_WAIT_NS * (sends & hears)
        return cls(sends.astype(np.int64).reshape(shape), both.reshape(shape))

    def at(self, place: int) -> Part:
        """Of one rank, shape (lanes, 1, 1)."""
        if self.sends is None:
            return self
        return Part(self.sends[..., place], self.pause[..., place])


@dataclass(slots=True)
class Beats:
    """Moments of the small tasks; begin, end: of the operator.

    Lists have one entry per round, arrays the shape (lanes, …).
    """

    record_start: list[Integers] = field(default_factory=list)
    record_end: list[Integers] = field(default_factory=list)
    wait_start: list[Integers] = field(default_factory=list)
    wait_end: list[Integers] = field(default_factory=list)
    move_start: list[Integers] = field(default_factory=list)
    move_end: list[Integers] = field(default_factory=list)
    local: list[tuple[Integers, Integers]] = field(default_factory=list)
    begin: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    end: Integers = field(default_factory=lambda: np.empty(0, np.int64))


def beats(
    plan: Plan,
    ready: Integers,
    record_ns: Integers,
    local: Integers,
    parts: list[Part],
    moves: Integers,
    after: Integers,
    hear: Hear,
) -> Beats:
    """Play an operator.

    ready: when it may begin; record_ns: length of a record; local: length of copying the own
    piece; all of shape (…). moves: lengths of the motions, after: of the time from there until a
    lane goes on, shape (rounds, lanes, …), 0 where nothing moves.
    """
    out = Beats(begin=ready)
    start = ready + OPENING_NS
    if plan.before:
        begin = ready + LOCAL_START_NS
        out.local.append((begin, begin + local))
        start = begin + local + AFTER_LOCAL_NS
    stagger = STAGGER_NS * np.arange(plan.lanes, dtype=np.int64)
    stagger = stagger.reshape(-1, *([1] * ready.ndim))
    before_move = stagger + BEFORE_MOVE_NS
    lanes = start + stagger
    joined = start
    for turn, part in enumerate(parts):
        if turn == plan.middle:
            begin = joined + BEFORE_MOVE_NS
            out.local.append((begin, begin + local))
            lanes = begin + local + AFTER_LOCAL_NS + stagger
        record_end = lanes + (record_ns if part.sends is None else record_ns * part.sends)
        wait_start = record_end + part.pause
        wait_end = np.maximum(wait_start, hear(turn, record_end))
        joined = np.maximum(joined, np.maximum.reduce(wait_end, axis=0))
        move_start = joined + before_move
        move_end = move_start + moves[turn]
        out.record_start.append(lanes)
        out.record_end.append(record_end)
        out.wait_start.append(wait_start)
        out.wait_end.append(wait_end)
        out.move_start.append(move_start)
        out.move_end.append(move_end)
        lanes = move_end + after[turn]
    out.end = joined + (CLOSING_NS + OPENING_NS)
    return out
