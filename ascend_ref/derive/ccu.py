"""What exporters make of the units for collective communication (CCU).

Facts: upstream-msprof CCUMissionViewer, CCUMissionProcessor and CCUChannelViewer; db-schema.md 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.capture.model import NONE, Tasks
from ascend_ref.capture.records import Records
from ascend_ref.capture.texts import Texts

from .matching import counterparts, groups, values_at

MISSIONS, CHANNELS = "ccu_mission", "ccu_channel"
TASKS, GROUPS, WAITS = "ccu_task_info", "ccu_group_info", "ccu_wait_signal_info"
"""Records of the units, and of what the host reports of them."""
REPORTS = (TASKS, GROUPS, WAITS)
LOOP, WAIT = "LoopGroup", "Wait"
"""Kinds of instructions."""
PACKAGE = 4_096
"""Byte whose way through a channel is measured."""
RESERVED = 255
"""No reduction."""
SECOND = 1_000_000_000

Names = Mapping[int, str]
Columns = dict[str, npt.NDArray[Any]]


def channel_rates(delay: Integers) -> Reals:
    """Byte per second of a channel in which a package takes so many ns; 0 where it takes none."""
    return np.where(delay > 0, PACKAGE * SECOND / np.maximum(delay, 1), 0.0)


def instructions(
    records: Records,
    texts: Texts,
    tasks: Tasks,
    reductions: Names,
    data_types: Names,
    tick: float,
) -> Columns:
    """The rows of CCU, of each device the loops and then the waits; nothing without missions.

    Of several loops of one instruction the last counts, of the ranks of a wait the one that is
    waited for longest. reductions, data_types: what their
    numbers are called. tick: ns of the counter by which delays are shown.
    """
    table = records.get(MISSIONS)
    if table is None:
        return {}
    known = int(tasks.identity.max(initial=NONE)) + 1
    unknown: dict[tuple[int, int], int] = {}
    found: list[tuple[int, int, int, int, int, int]] = []
    for device in np.unique(table["device"]).tolist():
        own = np.flatnonzero(table["device"] == device)
        numbers = tasks_of(tasks, device, table["task_id"][own])
        identity = dict(zip(own.tolist(), values_at(tasks.identity, numbers).tolist(), strict=True))
        shown = _Shown(records, texts, reductions, data_types, tick, device)
        for name, start, end, row, arguments in (
            *_loops(table, own, shown),
            *_waits(table, own, shown),
        ):
            number = identity[row]
            if number == NONE:
                key = (device, int(table["task_id"][row]))
                number = unknown.setdefault(key, known + len(unknown))
            text = json.dumps(arguments, separators=(",", ":"))
            found.append((device, number, texts.number(name), start, end, texts.number(text)))
    columns = ("deviceId", "globalTaskId", "name", "startNs", "endNs", "args")
    every = np.array(found, np.int64).reshape(-1, len(columns))
    return {name: np.ascontiguousarray(every[:, at]) for at, name in enumerate(columns)}


def tasks_of(tasks: Tasks, device: int, numbers: Integers) -> Integers:
    """The rows of the tasks of a device that have these numbers, NONE for others."""
    own = np.flatnonzero(tasks.device == device)
    return values_at(own, counterparts(numbers, 0, tasks.number[own]))


Instruction = tuple[str, int, int, int, list[object]]
"""Kind, start and end, the row of the mission, and the arguments."""


def _loops(
    table: Columns | Mapping[str, Any], own: Integers, shown: _Shown
) -> Iterator[Instruction]:
    rows = own[(table["wait_start"][own] == NONE) & (table["instruction_start_time"][own] != NONE)]
    keys = (table["task_id"][rows], table["instruction_id"][rows])
    first, owner = groups(*keys)
    last = np.zeros(len(first), np.int64)
    last[owner] = np.arange(len(rows))
    for row in rows[last].tolist():
        start = int(table["instruction_start_time"][row])
        length = max(int(table["instruction_duration"][row]), 0)
        key = (int(table["task_id"][row]), int(table["instruction_id"][row]))
        pairs = [*_task(table, row), "Instruction ID", key[1], *shown.of_group(key, length)]
        yield LOOP, start, start + length, row, pairs


def _waits(
    table: Columns | Mapping[str, Any], own: Integers, shown: _Shown
) -> Iterator[Instruction]:
    rows = own[table["wait_start"][own] != NONE]
    _, owner = groups(table["task_id"][rows], table["notify_instruction_id"][rows])
    end = table["wait_start"][rows] + table["notify_duration"][rows]
    order = np.lexsort((-np.arange(len(rows)), end, owner))
    last = np.append(np.diff(owner[order]) != 0, True)[: len(order)]
    for place in order[last].tolist():
        row = int(rows[place])
        start = int(table["wait_start"][row])
        key = (int(table["task_id"][row]), int(table["notify_instruction_id"][row]))
        close = max(int(end[place]), start)
        rank = int(table["notify_rank_id"][row])
        pairs = ["Notify Instruction ID", key[1], "Notify Rank ID", rank]
        yield WAIT, start, close, row, [*_task(table, row), *pairs, *shown.of_wait(key, close)]


def _task(table: Columns | Mapping[str, Any], row: int) -> list[object]:
    return ["Physic Stream Id", int(table["stream_id"][row]), "Task Id", int(table["task_id"][row])]


class _Shown:
    """What else is known of the instructions of a device."""

    def __init__(
        self,
        records: Records,
        texts: Texts,
        reductions: Names,
        data_types: Names,
        tick: float,
        device: int,
    ) -> None:
        self._names = reductions, data_types
        self._tick = tick
        self._group = records.get(GROUPS, {})
        self._wait = records.get(WAITS, {})
        self._groups = _first_rows(self._group)
        self._waits = _first_rows(self._wait)
        self._channels: dict[tuple[int, int], set[int]] = {}
        keys = zip(*(self._wait[one].tolist() for one in _KEY), strict=True) if self._wait else ()
        for row, key in enumerate(keys):
            self._channels.setdefault(key, set()).add(int(self._wait["channel"][row]))
        channels = records.get(CHANNELS)
        self._samples: dict[int, tuple[Integers, Integers]] = {}
        if channels is not None:
            mine = channels["device"] == device
            for one in np.unique(channels["channel_id"][mine]).tolist():
                rows = np.flatnonzero(mine & (channels["channel_id"] == one))
                rows = rows[np.argsort(channels["time"][rows], kind="stable")]
                highest = np.maximum.accumulate(channels["avg_delay"][rows])
                self._samples[one] = channels["time"][rows], highest

    def of_group(self, key: tuple[int, int], length: int) -> list[object]:
        """Die, amount and rate of a loop of so many ns, and how it reduces."""
        row = self._groups.get(key)
        if row is None:
            return []
        group, (reductions, types) = self._group, self._names
        size, reduction = int(group["data"][row]), int(group["reduction"][row])
        found: list[object] = ["Die Id", int(group["die"][row]), "Data Size", size]
        if length:
            found += ["Bandwidth (B/s)", size * SECOND // length]
        if reduction != RESERVED:
            found += ["Reduce Op Type", reductions.get(reduction, str(reduction))]
            for name, column in (("Input", "input"), ("Output", "output")):
                value = int(group[column][row])
                found += [f"{name} Data Type", types.get(value, str(value))]
        return found

    def of_wait(self, key: tuple[int, int], end: int) -> list[object]:
        """Die and mask of a wait, and the slowest of its channels until it ended."""
        row = self._waits.get(key)
        if row is None:
            return []
        found: list[object] = ["Die Id", int(self._wait["die"][row])]
        found += ["Mask", int(self._wait["mask"][row])]
        slowest = max(
            ((self._delay(one, end), -one) for one in self._channels[key]), default=(0, 0)
        )
        if slowest[0]:
            found += ["Maximum Delay Channel", -slowest[1], "Maximum Channel Delay", slowest[0]]
        return found

    def _delay(self, channel: int, end: int) -> int:
        """The greatest mean delay of a channel before a moment, in ticks."""
        if channel not in self._samples:
            return 0
        time, highest = self._samples[channel]
        place = int(np.searchsorted(time, end, side="left"))
        return round(int(highest[place - 1]) / self._tick) if place else 0


_KEY = ("task_id", "instruction")


def _first_rows(table: Mapping[str, Any]) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    keys = zip(*(table[one].tolist() for one in _KEY), strict=True) if table else ()
    for row, key in enumerate(keys):
        found.setdefault(key, row)
    return found
