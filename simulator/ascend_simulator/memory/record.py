"""What a profiler records of a rank's memory, and how much of it the device holds over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ascend_ref.capture import (
    Integers,
    MemoryBlocks,
    MemoryTotals,
    Texts,
    WorkspaceEvents,
)
from ascend_ref.capture.model import NONE

from ..choices import FaultKind
from ..draws import Draws
from ..host import Allocation
from ..world.timeline import RankTimeline, Scene
from .blocks import Blocks, blocks
from .totals import History, history, lost_bytes
from .workspaces import engine, engine_events, engine_totals, framework_workspaces

ADDRESS_STEP = 16
NOWHERE: Mapping[int, Allocation] = MappingProxyType({})
MOMENTS = ("allocated", "released", "inactive")


@dataclass(frozen=True, slots=True)
class Footprint:
    """Memory that the process keeps reserved on its device, Byte.

    framework: of the framework's allocator, from each moment in ``time`` (ascending; the first is
    the start of the session) until the next one. engine: of the graph engine, throughout.
    """

    time: Integers
    framework: Integers
    engine: int

    @property
    def highest(self) -> int:
        """The most that is reserved at once."""
        return int(self.framework.max()) + self.engine

    def at(self, moments: Integers) -> Integers:
        """What the framework reserves at these moments of the session."""
        place = np.searchsorted(self.time, moments, "right") - 1
        return self.framework[np.maximum(place, 0)]


@dataclass(frozen=True, slots=True)
class Memory:
    """OP_MEMORY, MEMORY_RECORD and NPU_OP_MEM of one rank; the footprint is there in any case."""

    blocks: MemoryBlocks
    totals: MemoryTotals
    workspaces: WorkspaceEvents
    footprint: Footprint


def record_memory(
    scene: Scene, launcher: int, allocations: Mapping[int, Allocation] = NOWHERE
) -> Memory:
    """Play the memory of one rank.

    launcher: number of the thread that takes operators from the task queue and launches them.
    allocations: when operators of a step take memory, by the operator.
    Blocks need the activity ``cpu`` (they carry the names of the framework's calls), workspaces of
    the graph engine the activity ``npu``; what the framework holds in all is recorded without.
    """
    timeline, switches, texts = scene.timeline, scene.scenario.capture, scene.texts
    draws = scene.draws("memory")
    streams = _streams(draws)
    address = (1 << 44) + draws.one(0, 1 << 40, 1 << 21)
    named = switches.memory and switches.cpu
    leaks = _lost(scene, "memory-leak")
    held = blocks(timeline, allocations, leaks, texts if named else Texts(), draws)
    warm = timeline.step_starts[1] if timeline.steps > 1 else timeline.session[1]
    warm_until = int(warm) if timeline.step_numbers[0] else 0
    fragments = _lost(scene, "fragmentation")
    persistent = timeline.program.persistent
    played = history(held, persistent, warm_until, fragments, timeline.step_starts)
    taken = engine(timeline)
    parts = []
    opened, events = MemoryBlocks.empty(), WorkspaceEvents.empty()
    if named:
        opened = _opened(held, played, streams, timeline.device)
    if switches.memory:
        parts.append(_framework_totals(held, played, streams, timeline.device, texts))
        parts.append(framework_workspaces(timeline, texts, int(streams[0])))
    if switches.memory and switches.npu:
        events = engine_events(timeline, taken, texts, launcher, address)
        parts.append(engine_totals(events, texts))
    totals = MemoryTotals.joined(parts)
    # At one moment torch_npu writes its own rows before those of the graph engine.
    totals = totals.take(np.argsort(totals.time, kind="stable"))
    return Memory(opened, totals, events, _footprint(timeline, played, taken.reserved))


def _lost(scene: Scene, kind: FaultKind) -> Integers:
    """Byte that the faults of one kind cost the rank, per captured step."""
    rank = scene.timeline.rank
    return scene.disturbances.per_step(kind, rank, 0, lambda one, by: one + lost_bytes(by))


def _streams(draws: Draws) -> Integers:
    """Addresses of the objects of the compute stream and of the other one."""
    first = draws.one(1 << 28, 1 << 30, ADDRESS_STEP)
    return np.array([first, first + draws.one(1 << 10, 1 << 24, ADDRESS_STEP)], np.int64)


def _opened(held: Blocks, played: History, streams: Integers, device: int) -> MemoryBlocks:
    """The blocks that the profiler saw being taken."""
    seen = np.flatnonzero(held.allocated != NONE)
    held = held.take(seen)
    of_allocation, of_release = played.of_allocation[seen], played.of_release[seen]
    released = of_release != NONE

    def after_release(totals: Integers) -> Integers:
        return np.where(released, totals[of_release], NONE)

    totals = {name: getattr(played, name) for name in ("allocated", "reserved", "active")}
    return MemoryBlocks.filled(
        len(held),
        **{name: getattr(held, name) for name in ("name", "size", *MOMENTS)},
        **{f"total_{name}": then[of_allocation] for name, then in totals.items()},
        **{f"release_total_{name}": after_release(then) for name, then in totals.items()},
        stream=streams[held.other],
        device=device,
    )


def _framework_totals(
    held: Blocks, played: History, streams: Integers, device: int, texts: Texts
) -> MemoryTotals:
    return MemoryTotals.filled(
        len(played.time),
        component=texts.number("PTA"),
        time=played.time,
        allocated=played.allocated,
        reserved=played.reserved,
        active=played.active,
        stream=streams[held.other[played.block]],
        device=device,
    )


def _footprint(timeline: RankTimeline, played: History, engine: int) -> Footprint:
    """The moments at which the framework's reserved memory changes."""
    reserved = np.append(played.before, played.reserved)
    time = np.append(timeline.session[0], played.time)
    changed = np.diff(reserved, prepend=-1) != 0
    return Footprint(time[changed], reserved[changed], engine)
