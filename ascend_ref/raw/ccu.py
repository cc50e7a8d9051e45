"""Records of the units for collective communication (raw-prof 4.4, 4.8).

A mission has a loop or a wait, or a wait with the loop before it. Of a wait it has how long each of
16 ranks took, in fours of ticks. A sample has 128 channels at uneven distances, each with the time
and the delays of its packages in ticks (upstream-msprof CCUMissionBean, CCUChannelBean).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers, Records, Tasks, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.ccu import (
    CHANNELS,
    GROUPS,
    MISSIONS,
    TASKS,
    WAITS,
    instructions,
    tasks_of,
)
from ascend_ref.derive.matching import values_at
from ascend_spec import catalog, raw_catalog
from ascend_spec.raw.records import CCU_RANKS

from .clocks import Clock
from .machine import chip_of
from .vocabulary import named

Columns = Mapping[str, npt.NDArray[Any]]

TABLE = "CCU"
MISSION_FILE, CHANNEL_FILE = "ccu_instr", "ccu_stat"
HALF_BITS, FULL_BITS = 16, 32
HALF, FULL = (1 << HALF_BITS) - 1, (1 << FULL_BITS) - 1
"""Numbers that stand for no stream and no channel, and for no rank."""
STEP = 4
"""Ticks that one unit of the end of a wait stands for."""
OF_LOOPS = ("instruction_id", "instruction_start_time", "instruction_duration")
OF_WAITS = ("notify_instruction_id", "wait_start")
STEPS = ([5] * 11 + [9]) * 10 + ([11] + [5] * 2 + [11]) * 2
"""Words from each channel to the next."""
BEHIND = {120: 6, 124: 6}
"""Words of no meaning before those of a channel."""
PARTS = ("avg_delay", "min_delay", "max_delay")
"""In the order of the words, behind the two of the time."""
SHARED = {"stream_id": "streamId", "task_id": "taskId", "die": "dieId", "mission": "missionId"}
FIELDS: Mapping[str, Mapping[str, str]] = {
    TASKS: {},
    GROUPS: {
        "data": "dataSize",
        "reduction": "reduceOpType",
        "input": "inputDataType",
        "output": "outputDataType",
    },
    WAITS: {"event": "ckeId", "mask": "mask"},
}
"""Fields by the columns that each of the records of the host has beyond those of all."""
COMMON = {**SHARED, "instruction": "instrId", "rank": "rankId", "size": "rankSize"}
NAMES = {"item": "itemId", "group": "groupName"}
ENDS = {"channel": ("channelId", HALF), "peer": ("remoteRankId", FULL)}
"""Fields of the two ends of each channel, and what stands for none."""


def channel_words() -> Integers:
    """The first word of each channel."""
    starts = np.cumsum([0, *STEPS[:-1]])
    return starts + [BEHIND.get(number, 0) for number in range(len(STEPS))]


class Missions(NamedTuple):
    """Records of missions by ticks; waits: in fours of ticks by rank, shape (records, ranks)."""

    die: Integers
    task: Integers
    loop: Integers
    loop_start: Integers
    loop_end: Integers
    wait: Integers
    wait_start: Integers
    waits: Integers


def missions_of(table: Columns, clock: Clock) -> Missions:
    """The records of one device from its rows, of a wait one for all ranks."""
    alike = [table[name] for name in ("die", "task_id", *OF_LOOPS, *OF_WAITS)]
    changes = np.append(True, np.any([np.diff(one) != 0 for one in alike], axis=0))
    waits = table["wait_start"] != NONE
    changes = changes[: len(waits)] | ~waits
    row = np.flatnonzero(changes)
    owner = np.cumsum(changes) - 1
    start = _ticks(clock, table["wait_start"])
    end = _ticks(clock, table["wait_start"] + table["notify_duration"])
    ends = np.zeros((len(row), CCU_RANKS), np.int64)
    rank = table["notify_rank_id"][waits] % CCU_RANKS
    took = np.clip((end - start) // STEP, 0, HALF)
    ends[owner[waits], rank] = took[waits]
    has_loop = table["instruction_start_time"] != NONE
    first = np.where(has_loop, _ticks(clock, table["instruction_start_time"]), 0)
    last = _ticks(clock, table["instruction_start_time"] + table["instruction_duration"])
    return Missions(
        die=table["die"][row],
        task=table["task_id"][row],
        loop=np.maximum(table["instruction_id"], 0)[row],
        loop_start=first[row],
        loop_end=np.where(has_loop, last, 0)[row],
        wait=np.maximum(table["notify_instruction_id"], 0)[row],
        wait_start=np.where(waits, start, 0)[row],
        waits=ends,
    )


def _ticks(clock: Clock, times: Integers) -> Integers:
    return clock.ticks(np.maximum(times, 0))


def mission_rows(found: Missions, tasks: Tasks, device: int, clock: Clock) -> dict[str, Integers]:
    """The rows of records of a device, but for the device; the streams are those of its tasks."""
    count = np.where(found.wait_start > 0, CCU_RANKS, 1)
    row = np.repeat(np.arange(len(count)), count)
    turn = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    waits = found.wait_start[row] > 0
    rank = CCU_RANKS - 1 - turn
    start = np.where(waits, clock.times(found.wait_start[row]), NONE)
    took = found.waits[row, np.where(waits, rank, 0)] * STEP
    end = clock.times(found.wait_start[row] + took)
    loops = found.loop_start[row] > 0
    begin, close = clock.times(found.loop_start[row]), clock.times(found.loop_end[row])
    of_task = values_at(tasks.stream, tasks_of(tasks, device, found.task))[row]
    return {
        "instruction_start_time": np.where(loops, begin, NONE),
        "wait_start": start,
        "instruction_duration": np.where(loops, close - begin, 0),
        "notify_duration": np.where(waits, end - start, NONE),
        "stream_id": np.where(of_task == NONE, HALF, of_task),
        "task_id": found.task[row],
        "die": found.die[row],
        "instruction_id": found.loop[row],
        "notify_instruction_id": np.where(waits, found.wait[row], NONE),
        "notify_rank_id": np.where(waits, rank, NONE),
    }


def ccu_table(records: Records, tasks: Tasks, texts: Texts, tick: float) -> Columns:
    """The table that exporters make of the records; nothing without missions. tick: ns."""
    if MISSIONS not in records:
        return {}
    types = {one.id: one.name for one in catalog().enums["ENUM_HCCL_DATA_TYPE"].members}
    return instructions(records, texts, tasks, named("hccl_op_types"), types, tick)


def held_of_ccu(capture: Capture, clock: Clock) -> Records:
    """The records as raw files hold them; ``clock``: that of the device."""
    if MISSIONS not in capture.records and CHANNELS not in capture.records:
        return {}
    if chip_of(capture.origin) not in raw_catalog().files[MISSION_FILE].chips:
        return {}
    found = {
        name: in_order_of_tasks(capture.records[name]) for name in FIELDS if name in capture.records
    }
    table = capture.records.get(MISSIONS)
    parts = []
    for device in capture.origin.devices if table is not None else ():
        own = of_device(table, device)
        if len(own["device"]):
            rows = mission_rows(missions_of(own, clock), capture.tasks, device, clock)
            parts.append({"device": np.full(len(rows["die"]), device), **rows})
    if parts:
        found[MISSIONS] = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
    if CHANNELS in capture.records:
        found[CHANNELS] = _held_channels(capture.records[CHANNELS], clock)
    return found


def in_order_of_tasks(reports: Columns) -> Columns:
    """Reports of the host by task and rank: files have them in the order of launches, which says
    nothing of them.
    """
    order = np.lexsort([reports[name] for name in ("instruction", "rank", "task_id")])
    return {name: column[order] for name, column in reports.items()}


def _held_channels(table: Columns, clock: Clock) -> Columns:
    step = clock.step
    ticks = {name: delay_ticks(table[name], clock) for name in PARTS}
    delays = {name: one * step.numerator // step.denominator for name, one in ticks.items()}
    return {**table, **delays, "time": clock.times(clock.ticks(table["time"]))}


def delay_ticks(delay: Integers, clock: Clock) -> Integers:
    """Delays in ticks, the nearest ones."""
    step = clock.step
    found: Integers = (2 * delay * step.denominator + step.numerator) // (2 * step.numerator)
    return np.clip(found, 0, FULL)


def of_device(table: Columns | None, device: int) -> dict[str, Integers]:
    """The rows of a record that are of a device."""
    if table is None:
        return {}
    own = table["device"] == device
    return {name: column[own] for name, column in table.items()}
