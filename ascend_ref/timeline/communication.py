"""The communication operators with their groups, devices and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded

from .device_work import DeviceWork
from .lookup import NONE, Lookup, array_of, distinct, filled, integers, packed, places

NO_PLANE = 4294967295
NO_RANK = 4294967295
NO_MODEL = 4294967295

OF_OPERATORS = ["opName", "opType", "dataType", "algType", "count", "relay", "retry"]
OF_TASKS = ["taskType", "transportType", "dataType", "linkType", "notifyId", "size"]
OF_TASKS += ["srcRank", "dstRank"]
"""Columns that are kept for the layer; what else the tables have is not held in memory."""


@dataclass(frozen=True, slots=True)
class Group:
    """A communication group on a device.

    number: among the groups of the device, in order of first use. first: the tid of its operators;
    those of its planes, which ascend, follow.
    """

    device: int
    name: str
    number: int
    first: int
    planes: tuple[int, ...]


class Communication:
    """COMMUNICATION_OP and COMMUNICATION_TASK_INFO with what belongs to their rows.

    row: of TASK, for each small task; NONE without one. operator_group, task_group: places in
    ``groups``. ranks: how many each operator's group has.
    """

    def __init__(self, recorded: Recorded, work: DeviceWork, device: int) -> None:
        operators = recorded.table("COMMUNICATION_OP")
        tasks = recorded.table("COMMUNICATION_TASK_INFO")
        self.operators, self.tasks = operators.select(OF_OPERATORS), tasks.select(OF_TASKS)
        self.start = integers(operators, "startNs", 0)
        self.end = integers(operators, "endNs", 0)
        self.connection = integers(operators, "connectionId")
        plane = integers(tasks, "planeId", NO_PLANE)
        # The threads of a group are numbered by its planes, which have 32 bits.
        self.plane = np.where((plane < 0) | (plane > NO_PLANE), NO_PLANE, plane)
        self.row = Lookup(work.identity).rows(integers(tasks, "globalTaskId"))
        first = self._first_rows(operators, tasks)
        self.model = _taken(integers(work.tasks, "modelId", NO_MODEL), first, NO_MODEL)
        told = integers(operators, "deviceId", NONE)
        self.device = np.where(told == NONE, _taken(work.device, first, device), told)
        names, numbers = _numbered([operators, tasks])
        homes = np.concatenate([self.device, _taken(work.device, self.row, device)])
        place = packed(homes, numbers)
        _, sample, group = np.unique(place, return_index=True, return_inverse=True)
        turn = np.argsort(np.argsort(sample))
        group = turn[group]
        self.operator_group, self.task_group = np.split(group, [len(self.start)])
        sample = np.sort(sample)
        self.groups = self._groups(homes[sample].tolist(), [names[one] for one in numbers[sample]])
        self.ranks = integers(operators, "rankSize", NONE)
        if (self.ranks == NONE).any():
            seen = self._ranks_seen()[self.operator_group]
            self.ranks = np.where(self.ranks == NONE, seen, self.ranks)

    def _first_rows(self, operators: pa.Table, tasks: pa.Table) -> Integers:
        """The first row of TASK of each operator, NONE without one."""
        owner = Lookup(integers(operators, "opId")).rows(integers(tasks, "opId"))
        known = np.flatnonzero((owner != NONE) & (self.row != NONE))[::-1]
        first = np.full(len(self.start), NONE)
        first[owner[known]] = self.row[known]
        return first

    def _ranks_seen(self) -> Integers:
        """How many ranks the tasks of each group name, which older tables do not tell."""
        group = np.concatenate([self.task_group, self.task_group])
        ends = [integers(self.tasks, name, NO_RANK) for name in ("srcRank", "dstRank")]
        rank = np.concatenate(ends)
        seen, _ = distinct(group[rank != NO_RANK], rank[rank != NO_RANK])
        return np.bincount(seen, minlength=len(self.groups))

    def _groups(self, devices: Sequence[int], names: Sequence[str]) -> list[Group]:
        plane = np.where(self.plane == NO_PLANE, 0, self.plane)
        used = distinct(self.task_group, plane)
        found: list[Group] = []
        numbers: dict[int, int] = {}
        free: dict[int, int] = {}
        for group, (device, name) in enumerate(zip(devices, names, strict=True)):
            planes = tuple(used[1][used[0] == group].tolist())
            number, first = numbers.get(device, 0), free.get(device, 0)
            found.append(Group(device, name, number, first, planes))
            numbers[device], free[device] = number + 1, first + max(planes, default=-1) + 2
        return found


def _taken(values: Integers, rows: Integers, missing: int) -> Integers:
    """The values in these rows, ``missing`` for row NONE."""
    if not len(values):
        return np.full(len(rows), missing)
    return np.where(rows == NONE, missing, values[rows])


def _numbered(tables: Sequence[pa.Table]) -> tuple[list[str], Integers]:
    """The names of the groups of all rows, and a number for each row; equal names have one."""
    number_of: dict[str, int] = {}
    numbers = []
    for table in tables:
        column = filled(array_of(table["groupName"]), "")
        texts = column.dictionary.to_pylist()
        own = np.array([number_of.setdefault(text, len(number_of)) for text in texts], np.int64)
        numbers.append(own[places(column)])
    return list(number_of), np.concatenate(numbers)
