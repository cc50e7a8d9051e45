"""The allocator's events that a capture's blocks and totals of memory come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Activities, Capture, Integers, MemoryBlocks, MemoryTotals
from ascend_ref.capture.kinds import QUEUE
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, groups, ranks, values_at
from ascend_ref.derive.memory_operators import MemoryOperators

from ..clocks import Clock
from ..view import nearest
from .allocator import (
    CACHING,
    FRAMEWORK,
    GIVEN_BACK,
    INACTIVE,
    INNER,
    OF_WORKSPACES,
    OTHER,
    TAKEN,
    WORKSPACE,
    Events,
    with_memory,
    write_events,
)
from .operators import is_operator
from .order import enclosing_first

FIRST_ADDRESS = 0x12C0_4000_0000
PAGE = 512
"""A capture does not know addresses: each of its blocks gets one of its own."""


def write_memory(capture: Capture, folder: Path, clock: Clock) -> None:
    """Write what the allocators did, of which :func:`memory_view` states what it holds.

    Raises ``OSError``.
    """
    write_events(events_of(capture, clock), capture.origin.pid, folder, clock)


def memory_view(capture: Capture, held: Capture, clock: Clock) -> tuple[Capture, list[str]]:
    """``held`` with the blocks and totals that the files of ``capture`` hold, and a phrase for each
    kind of thing that they do not.

    ``held`` has the operators of the files, and the events of the graph engine.
    """
    found = with_memory(held, events_of(capture, clock))
    return found, _lost(capture, found)


def _lost(before: Capture, after: Capture) -> list[str]:
    had, has = before.memory_blocks, after.memory_blocks
    had = had.take(np.argsort(had.allocated, kind="stable"))
    counts = {"blocks of memory": len(had) - len(has)}
    if len(had) == len(has):
        missing = had.name != has.name
        counts["names of blocks of memory, which no operator explains"] = int(np.sum(missing))
        ends = [(had.released, has.released), (had.inactive, has.inactive)]
        gone = sum(int(np.sum((one != NONE) & (other == NONE))) for one, other in ends)
        counts["ends of blocks of memory"] = gone
    fewer = len(before.memory_totals) - len(after.memory_totals)
    counts["totals of memory"] = fewer
    return [f"{count:,} {what}" for what, count in counts.items() if count > 0]


def events_of(capture: Capture, clock: Clock) -> Events:
    """Each total of the framework is one event; blocks say what happened at it.

    What no block explains goes back of blocks that were taken before, or is of workspaces that the
    capture does not hold as blocks. What is taken then is written as of another allocator, whose
    blocks readers do not show; without operators they show none at all.
    """
    names = capture.texts.copy().numbers((FRAMEWORK, WORKSPACE))
    totals = capture.memory_totals
    totals = totals.take(np.isin(totals.component, names))
    totals = totals.take(np.argsort(totals.time, kind="stable"))
    component = np.where(totals.component == names[1], OF_WORKSPACES, CACHING)
    blocks = capture.memory_blocks
    shown = _shown(capture, clock)
    operators = MemoryOperators(shown, capture.texts)
    thread = _threads(blocks, capture, operators, shown, nearest(clock, blocks.allocated))
    block, kind = _explained(blocks, totals)
    strange = block == NONE
    unknown = _Strangers.of(totals, component, strange)
    kind = np.where(strange, unknown.kind, kind)
    sign = np.where(kind == TAKEN, 1, -1)
    other = strange & (kind == TAKEN) & (len(operators.rows) > 0)
    return Events(
        time=nearest(clock, totals.time),
        component=component,
        kind=kind,
        allocator=np.where(other, OTHER, INNER),
        address=FIRST_ADDRESS + PAGE * np.where(strange, len(blocks) + unknown.number, block),
        size=np.where(strange, unknown.size, values_at(blocks.size, block) * sign),
        allocated=totals.allocated,
        reserved=totals.reserved,
        active=totals.active,
        stream=totals.stream,
        device=totals.device,
        thread=np.where(strange, capture.origin.pid, values_at(thread, block)),
    )


def _explained(blocks: MemoryBlocks, totals: MemoryTotals) -> tuple[Integers, Integers]:
    """For each total the block that it is an event of, NONE for none, and which event."""
    block, kind = np.full(len(totals), NONE), np.full(len(totals), NONE)
    columns = ("allocated", "reserved", "active")
    own = [totals.time, *(getattr(totals, name) for name in columns)]
    for event, moment, prefix in (
        (TAKEN, blocks.allocated, "total_"),
        (GIVEN_BACK, blocks.released, "release_total_"),
        (INACTIVE, blocks.inactive, ""),
    ):
        rows = np.flatnonzero(moment != NONE)
        # Of the return to the pool only the moment is known.
        of_blocks = [getattr(blocks, prefix + name)[rows] for name in columns] if prefix else []
        of_totals = own[: 1 + len(of_blocks)]
        both = zip((moment[rows], *of_blocks), of_totals, strict=True)
        _, key = groups(*(np.concatenate(pair) for pair in both))
        wanted, having = key[: len(rows)], np.where(block == NONE, key[len(rows) :], NONE)
        found = counterparts(wanted, ranks(wanted), having)
        known = found != NONE
        block[found[known]], kind[found[known]] = rows[known], event
    return block, kind


class _Strangers(NamedTuple):
    """What happened at the totals that no block explains, as far as they show it.

    number: equal for the events of one block.
    """

    kind: Integers
    size: Integers
    number: Integers

    @classmethod
    def of(
        cls, totals: MemoryTotals, component: Integers, strange: npt.NDArray[np.bool_]
    ) -> _Strangers:
        allocated, active = np.zeros((2, len(totals)), np.int64)
        for one in (CACHING, OF_WORKSPACES):
            rows = np.flatnonzero(component == one)
            allocated[rows[1:]] = np.diff(totals.allocated[rows])
            active[rows[1:]] = np.diff(totals.active[rows])
        pooled = (component == CACHING) & (active < 0)
        # What was taken before the first total goes back to the pool first.
        pooled[np.flatnonzero(component == CACHING)[:1]] = True
        kind = np.where(allocated > 0, TAKEN, np.where(pooled, INACTIVE, GIVEN_BACK))
        size = np.where(pooled, active, allocated)
        number: Integers = np.cumsum(strange, dtype=np.int64)
        # A block on one stream is back in the pool before it is reported as given back.
        fallen = np.flatnonzero(strange & (kind == INACTIVE))
        quiet = np.flatnonzero(strange & (kind == GIVEN_BACK) & (allocated == 0))
        count = min(len(fallen), len(quiet))
        size[quiet[:count]], number[quiet[:count]] = size[fallen[:count]], number[fallen[:count]]
        return cls(kind, size, number)


def _shown(capture: Capture, clock: Clock) -> Activities:
    """Operators and entries of the queue as readers of the files see them."""
    activities = capture.activities
    kept = activities.take(
        np.append(is_operator(activities), np.flatnonzero(activities.kind == QUEUE))
    )
    start, end = nearest(clock, kept.start), nearest(clock, kept.end)
    kept = replace(kept, start=start, end=end)
    return kept.take(enclosing_first(start, end, np.arange(len(kept))))


def _threads(
    blocks: MemoryBlocks,
    capture: Capture,
    operators: MemoryOperators,
    shown: Activities,
    moments: Integers,
) -> Integers:
    """The thread on which each block is taken: the first on which it gets its name.

    The main thread where there is none.
    """
    thread = np.full(len(blocks), NONE)
    nameless = capture.texts.copy().number("")
    for one in operators.threads().tolist():
        missing = np.flatnonzero(thread == NONE)
        row = operators.at(moments[missing], np.full(len(missing), one))
        name = np.where(row == NONE, nameless, values_at(shown.name, row))
        thread[missing[name == blocks.name[missing]]] = one
    return np.where(thread == NONE, capture.origin.pid, thread)
