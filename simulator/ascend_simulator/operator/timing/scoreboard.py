"""The scoreboard: a scalar unit issues in order to pipes that run in order and await each other.

Nothing that happens later changes what was before: each step is placed once, by the latest of what
it waits for. All blocks of a tape are placed together, as columns.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from ..program.tape import FlagKey, Quantity, Step

SCALAR = "SCALAR"
QUEUE_DEPTH = 16
"""Instructions that wait before a pipe at most; with more the scalar unit stops."""
ISSUE_CYCLES = 1
ICACHE_MISS_CYCLES = 120


@dataclass(frozen=True, slots=True)
class Timing:
    """Cycles from the start of the block, steps by blocks.

    fetched: the instruction was there; issued: it went to its pipe; start, end: it ran.
    """

    fetched: Integers
    issued: Integers
    start: Integers
    end: Integers


def schedule(steps: Sequence[Step], cycles: Sequence[Quantity], width: int) -> Timing:
    """Place the steps of ``width`` blocks; ``cycles``: how long each runs.

    Raises ``ValueError`` for a wait before whose place nobody sets the flag.
    """
    shape = (len(steps), width)
    timing = Timing(*(np.zeros(shape, np.int64) for _ in range(4)))
    clock: defaultdict[int, Integers] = defaultdict(lambda: np.zeros(width, np.int64))
    free: defaultdict[tuple[int, str], Integers] = defaultdict(lambda: np.zeros(width, np.int64))
    queue: defaultdict[tuple[int, str], deque[Integers]] = defaultdict(
        lambda: deque(maxlen=QUEUE_DEPTH)
    )
    flags: defaultdict[FlagKey, deque[Integers]] = defaultdict(deque)
    busy: defaultdict[int, set[str]] = defaultdict(set)
    for number, step in enumerate(steps):
        unit, pipe = step.unit, step.instruction.pipe
        lane = (unit, pipe)
        now: Integers = clock[unit] + (ICACHE_MISS_CYCLES if step.cold else 0)
        timing.fetched[number] = now
        now = now + ISSUE_CYCLES
        waiting = queue[lane]
        if pipe != SCALAR and len(waiting) == QUEUE_DEPTH:
            now = np.maximum(now, waiting[0])
        timing.issued[number] = now
        start: Integers = np.maximum(now, free[lane])
        if step.barrier:
            for other in busy[unit]:
                start = np.maximum(start, free[unit, other])
        end: Integers = start + np.asarray(cycles[number], np.int64)
        if step.waits is not None:
            if not flags[step.waits]:
                raise ValueError(f"step {number} waits for a flag that nobody sets: {step.waits}")
            end = np.maximum(end, flags[step.waits].popleft() + 1)
        timing.start[number], timing.end[number] = start, end
        if step.sets is not None:
            flags[step.sets].append(end)
        free[lane] = end
        busy[unit].add(pipe)
        waiting.append(start)
        # The scalar unit runs its own instructions before it issues the next one.
        clock[unit] = end if pipe == SCALAR or step.barrier else now
    return timing
