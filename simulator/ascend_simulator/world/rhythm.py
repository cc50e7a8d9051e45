"""The small tasks of a communication operator in time, for any number of its runs at once.

The distances between small tasks are those of real operators on 910B (db-schema.md 7.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ascend_ref.capture import Integers

from .exchange import Plan

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
"""Given a round and the ends of the records, when each lane's wait may end (or earlier)."""


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
    tell: Integers,
    moves: list[Integers],
    local: Integers,
    takes_part: list[Integers],
    hear: Hear,
) -> Beats:
    """Play an operator.

    ready: when it may begin, shape (…). tell: length of a record, shape (…). moves: length of the
    motion of each round, shape (lanes, …), 0 where nothing moves. local: length of copying the own
    piece, shape (…). takes_part: shape (lanes, …) of each round: 1 for a record, 2 for a wait,
    3 for both, 0 for none.
    """
    out = Beats(begin=ready)
    start = ready + OPENING_NS
    if plan.before:
        begin = ready + LOCAL_START_NS
        out.local.append((begin, begin + local))
        start = begin + local + AFTER_LOCAL_NS
    stagger = STAGGER_NS * np.arange(plan.lanes, dtype=np.int64)
    stagger = stagger.reshape(-1, *([1] * ready.ndim))
    lanes = start + stagger
    joined = start
    for turn, item in enumerate(plan.rounds):
        if turn == plan.middle:
            begin = joined + BEFORE_MOVE_NS
            out.local.append((begin, begin + local))
            lanes = begin + local + AFTER_LOCAL_NS + stagger
        lanes = lanes[: len(item.peer)]
        part = takes_part[turn]
        record_end = np.where(part & 1, lanes + tell, lanes)
        wait_start = np.where(part & 1, record_end + BEFORE_WAIT_NS, lanes)
        heard = np.maximum(wait_start, hear(turn, record_end))
        wait_end = np.where(part & 2, heard, record_end)
        joined = np.maximum(joined, wait_end.max(axis=0))
        move_start = joined + BEFORE_MOVE_NS + stagger[: len(item.peer)]
        move_end = move_start + moves[turn]
        out.record_start.append(lanes)
        out.record_end.append(record_end)
        out.wait_start.append(wait_start)
        out.wait_end.append(wait_end)
        out.move_start.append(move_start)
        out.move_end.append(move_end)
        lanes = np.where(moves[turn] > 0, move_end + AFTER_MOVE_NS, move_start)
        if len(lanes) < plan.lanes:
            lanes = joined + BEFORE_MOVE_NS + stagger
    out.end = joined + CLOSING_NS + OPENING_NS
    return out
