"""What the units for collective communication (CCU) of 950 do for the tasks that move data.

A task that moves data to another device of the host is a mission of the unit of a die: a loop that
moves them, and a wait until the other device has confirmed them (inferred; formats: raw-prof 4.8).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ascend_ref.capture import Batch, Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.ccu import PACKAGE, RESERVED
from ascend_ref.derive.transit import task_rows
from ascend_ref.raw.ccu import TABLE, ccu_table
from ascend_ref.raw.moments import MOMENTS
from ascend_spec.raw.records import CCU_RANKS

from ..samples.scene import Columns
from ..samples.traffic import UNIFIED_BUS, Curve, Flow
from ..scenario.collected import frequency
from ..world.small_tasks import MOTIONS, enum_ids
from .scene import RecordScene

FIRST_INSTRUCTION, INSTRUCTIONS, WAIT_BEHIND = 100, 16, 8
"""Number of the loop of the first lane, how many a lane has, and how far its wait is behind."""
MISSIONS = 16
"""A unit runs so many at a time (raw-prof 4.7)."""
FIRST_EVENT = 200
TICK = int(1_000 / MOMENTS.device_frequency)
"""ns of the counter by which the units measure."""
SUM = 0


@dataclass(frozen=True, slots=True)
class Motions(Batch):
    """Tasks that move data over the bus, in order of dies and times.

    until: end of the loop, the wait follows until ``end``. target: place in the group; peer: number
    of its device. reduces: whether the target adds the data up.
    """

    start: Integers
    until: Integers
    end: Integers
    stream: Integers
    number: Integers
    plane: Integers
    target: Integers
    peer: Integers
    die: Integers
    size: Integers
    reduces: Integers
    data_type: Integers
    group: Integers
    kind: Integers


class Units:
    """The motions of a rank; ``scene``: what it recorded of them."""

    def __init__(self, scene: RecordScene) -> None:
        self.scene = scene

    @cached_property
    def motions(self) -> Motions:
        """All of the session."""
        scene, capture = self.scene, self.scene.capture
        every, machine = capture.transfers, scene.machine
        kinds = scene.texts.numbers(MOTIONS.values())
        link = enum_ids("ENUM_HCCL_LINK_TYPE")[UNIFIED_BUS]
        own = (every.link == link) & (every.size > 0) & np.isin(every.kind, kinds)
        moved = every.take(own)
        tasks = capture.tasks.take(task_rows(capture.tasks)[moved.task])
        group = capture.collectives.group[moved.collective]
        rank = capture.group_ranks[capture.groups.first[group] + moved.target]
        peer = rank % machine.devices_per_host
        wait = np.minimum(machine.inside.latency, (tasks.end - tasks.start) // 2)
        found = Motions(
            start=tasks.start,
            until=tasks.end - wait,
            end=tasks.end,
            stream=tasks.stream,
            number=tasks.number,
            plane=moved.plane,
            target=moved.target,
            peer=peer,
            die=peer % max(len(machine.chip.dies), 1),
            size=moved.size,
            reduces=(moved.kind == scene.texts.number(MOTIONS["reduce"])).astype(np.int64),
            data_type=moved.data_type,
            group=group,
            kind=moved.kind,
        )
        return found.take(np.lexsort((found.number, found.start, found.die)))

    @property
    def loop(self) -> Integers:
        """The instruction of each loop."""
        return FIRST_INSTRUCTION + INSTRUCTIONS * self.motions.plane

    @property
    def reported(self) -> Columns:
        """What every report of the host has."""
        motions, groups = self.motions, self.scene.capture.groups
        return {
            "item": motions.kind,
            "group": groups.name[motions.group],
            "stream_id": motions.stream,
            "task_id": motions.number,
            "die": motions.die,
            "mission": motions.plane % MISSIONS,
            "instruction": self.loop,
            "rank": groups.rank[motions.group],
            "size": groups.size[motions.group],
        }


def ccu_mission(scene: RecordScene) -> Columns:
    """Each loop, and the wait behind it, of which only the target has to be waited for."""
    units = Units(scene)
    motions = units.motions
    rows = np.repeat(np.arange(len(motions)), 1 + CCU_RANKS)
    turn = np.tile(np.arange(1 + CCU_RANKS), len(motions))
    waits = turn > 0
    rank = CCU_RANKS - turn
    waited = waits & (rank == motions.target[rows] % CCU_RANKS)
    loop = units.loop[rows]
    return {
        "instruction_start_time": motions.start[rows],
        "wait_start": np.where(waits, motions.until[rows], NONE),
        "instruction_duration": (motions.until - motions.start)[rows],
        "notify_duration": np.where(
            waits, np.where(waited, (motions.end - motions.until)[rows], 0), NONE
        ),
        "stream_id": motions.stream[rows],
        "task_id": motions.number[rows],
        "die": motions.die[rows],
        "instruction_id": loop,
        "notify_instruction_id": np.where(waits, loop + WAIT_BEHIND, NONE),
        "notify_rank_id": np.where(waits, rank, NONE),
    }


def ccu_channel(scene: RecordScene) -> Columns:
    """How long packages took in each channel since the sample before, by the motions then.

    A channel leads to each device that data are moved to.
    """
    motions = Units(scene).motions
    grid = scene.sampled(TABLE, frequency(scene.scenario.capture, ("ccu",)))
    parts: dict[str, list[Integers]] = {}
    for peer in np.unique(motions.peer).tolist():
        own = motions.take(motions.peer == peer)
        for name, column in _delays(own, grid).items():
            parts.setdefault(name, []).append(column)
        count = len(grid) - 1
        parts.setdefault("time", []).append(grid[1:])
        parts.setdefault("die", []).append(np.full(count, own.die[0]))
        parts.setdefault("channel_id", []).append(np.full(count, peer))
    found = {name: np.concatenate(columns) for name, columns in parts.items()}
    if not found:
        return {}
    order = np.lexsort((found["channel_id"], found["time"], found["die"]))
    return {name: column[order] for name, column in found.items()}


def _delays(own: Motions, grid: Integers) -> Columns:
    """Least, mean and greatest delay between the moments of a grid; whole ticks."""
    length = np.maximum(own.until - own.start, 1)
    curve = Curve(Flow(own.start, own.start + length, own.size, length), grid)
    moved, took = np.diff(curve.read(grid)), np.diff(curve.written(grid))
    each = _whole(length * PACKAGE // own.size)
    first = np.maximum(np.searchsorted(grid, own.start, side="right") - 1, 0)
    last = np.searchsorted(grid, own.start + length, side="left")
    count = np.maximum(last - first, 0)
    motion = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(motion)) - np.repeat(np.cumsum(count) - count - first, count)
    inside = place < len(moved)
    motion, place = motion[inside], place[inside]
    least = np.full(len(moved), np.iinfo(np.int64).max)
    most = np.zeros(len(moved), np.int64)
    np.minimum.at(least, place, each[motion])
    np.maximum.at(most, place, each[motion])
    busy = (moved > 0) & (most > 0)
    mean = _whole(took * PACKAGE // np.maximum(moved, 1))
    return {
        "min_delay": np.where(busy, least, 0),
        "max_delay": np.where(busy, most, 0),
        "avg_delay": np.where(busy, np.clip(mean, least, np.maximum(most, least)), 0),
    }


def _whole(length: Integers) -> Integers:
    """Whole ticks, at least one."""
    found: Integers = np.maximum(length // TICK, 1) * TICK
    return found


def ccu_task_info(scene: RecordScene) -> Columns:
    """A report for each mission."""
    return Units(scene).reported


def ccu_group_info(scene: RecordScene) -> Columns:
    """A report for each loop, which has one channel."""
    units = Units(scene)
    motions = units.motions
    reduces = motions.reduces == 1
    types = np.where(reduces, motions.data_type, RESERVED)
    return {
        **units.reported,
        "data": motions.size,
        "reduction": np.where(reduces, SUM, RESERVED),
        "input": types,
        "output": types,
        "channel": motions.peer,
        "peer": motions.target,
    }


def ccu_wait_signal_info(scene: RecordScene) -> Columns:
    """A report for each wait."""
    units = Units(scene)
    motions = units.motions
    return {
        **units.reported,
        "instruction": units.loop + WAIT_BEHIND,
        "event": FIRST_EVENT + motions.plane,
        "mask": np.left_shift(1, motions.target % CCU_RANKS),
        "channel": motions.peer,
        "peer": motions.target,
    }


def with_units(capture: Capture) -> Capture:
    """The capture with the table that exporters make of these records."""
    units = ccu_table(capture.records, capture.tasks, capture.texts, float(TICK))
    return replace(capture, samples={**capture.samples, **({TABLE: units} if units else {})})
