"""Memory that operators take only while they launch: of the graph engine, and of the framework.

An operator that is compiled and executed in one call gets it from the graph engine, on the thread
that launches; one called in two phases from the framework, before it is handed to the task queue.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Batch, Integers, MemoryTotals, Texts, WorkspaceEvents
from ascend_ref.capture.model import NONE

from ..program.model import Copy, Item, Launch
from ..world.timeline import RankTimeline
from .blocks import SHARE, Course, rounded
from .totals import SEGMENT, rounded_up

GRAIN = 65_536
"""The graph engine hands out multiples of this, and keeps one for itself (db-schema.md 7.7)."""
POOL = 78_381_056
"""What the graph engine reserves, unless an operator needs more (db-schema.md 7.7)."""
RELEASE, ALLOCATE = 0, 1
RELEASED_NS = 1_000
"""From handing an operator to the task queue until the framework gives its workspace back."""


@dataclass(frozen=True, slots=True)
class EngineBlocks(Batch):
    """Blocks that one step takes from the graph engine.

    item: whose launch needs it. last: the operator's last item, after which it is given back.
    turn, turns: the block is number ``turn`` of those that the operator gives back. name: row of
    the item's first variant in the list of names. offset: Byte from the begin of the pool.
    """

    item: Integers
    last: Integers
    turn: Integers
    turns: Integers
    name: Integers
    size: Integers
    offset: Integers


@dataclass(frozen=True, slots=True)
class Engine:
    """The graph engine's blocks of one step, their names, and what its pool reserves."""

    blocks: EngineBlocks
    names: tuple[str, ...]
    reserved: int


def engine(timeline: RankTimeline) -> Engine:
    """Which blocks a step of a rank takes from the graph engine."""
    found = _engine_operators(timeline)
    needed = max((sum(sizes) for _, _, sizes in found), default=0)
    reserved = max(POOL, rounded_up(needed + GRAIN, SEGMENT))
    rows: list[tuple[int, ...]] = []
    names: list[str] = []
    cursor = GRAIN
    for items, last, sizes in found:
        if cursor + sum(sizes) > reserved:
            cursor = GRAIN
        for turn, (place, size) in enumerate(zip(items, sizes, strict=True)):
            rows.append((place, last, turn, len(items), len(names), size, cursor))
            cursor += size
            item = timeline.program.items[place]
            if isinstance(item, Launch):
                names.extend(kernel.name for kernel in item.variants)
            else:
                names.append(timeline.program.operators[item.operator].api)
    columns = np.array(rows, np.int64).reshape(len(rows), 7).T
    return Engine(EngineBlocks(*columns), tuple(names), reserved)


def engine_events(
    timeline: RankTimeline, taken: Engine, texts: Texts, thread: int, address: int
) -> WorkspaceEvents:
    """NPU_OP_MEM: each block is taken just before its launch, all of an operator go back together.

    A total holds the block of its own row, be it taken or given back (fixtures-2025-01 NPU_OP_MEM).
    thread: which launches. address: begin of the pool.
    """
    blocks, host, steps = taken.blocks, timeline.host, timeline.steps
    begin = host.taken[:, blocks.item]
    allocated = begin + (host.done[:, blocks.item] - begin) // 4
    end = host.done[:, blocks.last]
    closing = (end - host.taken[:, blocks.last]) // 8
    released = end - closing * (blocks.turns - 1 - blocks.turn) // blocks.turns
    released = np.maximum(released, allocated + 1)
    names = texts.numbers(taken.names)[blocks.name + timeline.variant[:, blocks.item]]
    time = np.concatenate([released.reshape(-1), allocated.reshape(-1)])
    order = np.argsort(time, kind="stable")
    kind = np.repeat(np.array([RELEASE, ALLOCATE]), steps * len(blocks))[order]
    block = np.tile(np.arange(len(blocks)), 2 * steps)[order]
    size = blocks.size[block]
    held = GRAIN + np.cumsum(np.where(kind == ALLOCATE, size, -size))
    return WorkspaceEvents(
        np.tile(names.reshape(-1), 2)[order],
        address + blocks.offset[block],
        kind,
        size,
        time[order],
        np.full(len(order), thread, np.int64),
        np.where(kind == ALLOCATE, held, held + size),
        np.full(len(order), taken.reserved, np.int64),
        np.full(len(order), timeline.device, np.int64),
    )


def engine_totals(events: WorkspaceEvents, texts: Texts) -> MemoryTotals:
    """Component GE: the same events; the engine knows neither streams nor active memory."""
    return MemoryTotals(
        np.full(len(events), texts.number("GE"), np.int64),
        events.time,
        events.total_allocated,
        events.total_reserved,
        np.zeros(len(events), np.int64),
        np.full(len(events), NONE, np.int64),
        events.device,
    )


def framework_workspaces(timeline: RankTimeline, texts: Texts, stream: int) -> MemoryTotals:
    """Component WORKSPACE: one block that grows to what the largest operator needed so far."""
    operators = timeline.program.operators
    users = np.array(
        [place for place, each in enumerate(operators) if each.two_phase and each.workspace],
        np.int64,
    )
    if not len(users):
        return MemoryTotals.empty()
    course = Course(timeline)
    size = rounded(np.array([operators[place].workspace for place in users], np.int64))
    taken = course.within(users, np.full(len(users), SHARE * 3 // 4, np.int64))
    whole = course.within(users, np.full(len(users), SHARE, np.int64))
    following = np.append(taken.reshape(-1)[1:], timeline.session[1]).reshape(taken.shape)
    given = np.minimum(whole + RELEASED_NS, np.maximum(following, taken))
    time = np.stack([taken, given], axis=-1).reshape(-1)
    held = np.stack(np.broadcast_arrays(size, np.int64(0)), axis=-1)
    allocated = np.tile(held.reshape(-1), timeline.steps)
    return MemoryTotals(
        np.full(len(time), texts.number("WORKSPACE"), np.int64),
        time,
        allocated,
        rounded_up(np.maximum.accumulate(allocated), SEGMENT),
        allocated,
        np.full(len(time), stream, np.int64),
        np.full(len(time), timeline.device, np.int64),
    )


def _engine_operators(timeline: RankTimeline) -> list[tuple[list[int], int, list[int]]]:
    """For each operator that takes memory: items that get a block, last item, size of each block.

    Kernels that write to memory of their own get a block, and so do copies of the same operator;
    where no kernel does, all kernels share the operator's workspace.
    """
    program = timeline.program
    course = Course(timeline)
    queued = (timeline.plan.occupied > 0).tolist()
    found = []
    for place, operator in enumerate(program.operators):
        span = range(int(course.first[place]), int(course.stop[place]))
        waiting = [item for item in span if queued[item]]
        if operator.two_phase or not waiting:
            continue
        launches = [item for item in waiting if isinstance(program.items[item], Launch)]
        own = [(item, _own_block(program.items[item])) for item in waiting]
        if any(_own_block(program.items[item]) for item in launches):
            items = [item for item, size in own if size]
            found.append((items, waiting[-1], [size for _, size in own if size]))
        elif operator.workspace:
            items = launches or waiting[:1]
            size = rounded_up(-(-operator.workspace // len(items)), GRAIN)
            found.append((items, waiting[-1], [size] * len(items)))
    return found


def _own_block(item: Item) -> int:
    """Byte of the block that a kernel writes to inside its operator, or a copy fills, or 0."""
    needed = item.workspace if isinstance(item, Launch) else 0
    if isinstance(item, Copy):
        needed = item.size
    return int(rounded_up(rounded(np.array([needed])), GRAIN)[0]) if needed else 0
