"""The communication operators with their groups, devices and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import one_piece, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded
from ascend_ref.spill import Spill

from .device_work import DeviceWork
from .lookup import NONE, Columns, Lookup, Rows, combinations, filled, packed

TASKS = "COMMUNICATION_TASK_INFO"
OPERATORS = (
    *("startNs", "endNs", "connectionId", "opId", "deviceId", "groupName", "rankSize"),
    *("opName", "opType"),
)


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
    """COMMUNICATION_OP and COMMUNICATION_TASK_INFO with what belongs to their rows; what is not
    asked for is not read.
    """

    def __init__(self, recorded: Recorded, work: DeviceWork, device: int) -> None:
        self._recorded = recorded
        self._spill = recorded.spill
        self._work = work
        self._device = device
        self.operators = recorded.table("COMMUNICATION_OP", OPERATORS)
        self._of_operators = Columns(self.operators, self._spill)
        self.start = self._of_operators.integers("startNs", 0)
        self.end = self._of_operators.integers("endNs", 0)
        self.connection = self._of_operators.integers("connectionId")

    @cached_property
    def tasks(self) -> pa.Table:
        """COMMUNICATION_TASK_INFO."""
        return self._recorded.table(TASKS)

    @cached_property
    def _of_tasks(self) -> Columns:
        return Columns(self.tasks, self._spill)

    @cached_property
    def plane(self) -> Integers:
        """The plane of each small task, NONE without one."""
        # The threads of a group are numbered by its planes, which have 32 bits.
        (no_plane,) = self._recorded.absent(TASKS, "planeId")
        return self._spill.made(
            lambda plane: np.where((plane < 0) | (plane >= no_plane), NONE, plane),
            self._of_tasks.integers("planeId"),
        )

    @cached_property
    def row(self) -> Integers:
        """The row of each small task in TASK, NONE without one."""
        tasks = Lookup(self._work.identity, self._spill)
        return tasks.rows(self._of_tasks.integers("globalTaskId"))

    @cached_property
    def model(self) -> Integers:
        """The model of each operator."""
        (no_model,) = self._recorded.absent("TASK", "modelId")
        models = Columns(self._work.tasks, self._spill).integers("modelId", no_model)
        return _taken(self._spill, models, self._first, no_model)

    @cached_property
    def device(self) -> Integers:
        """The device of each operator."""
        return self._spill.made(
            _stated_or_seen,
            self._of_operators.integers("deviceId", NONE),
            _taken(self._spill, self._work.device, self._first, self._device),
        )

    @cached_property
    def _first(self) -> Integers:
        operators = self._of_operators.integers("opId")
        return self._first_rows(operators, self._of_tasks.integers("opId"))

    @cached_property
    def _grouped(self) -> tuple[Integers, Integers, list[Group]]:
        """The groups of operators and of small tasks as their places among all."""
        groups = _Groups(self._spill)
        of_operators = groups.of(self.operators, self.device)
        seen = _taken(self._spill, self._work.device, self.row, self._device)
        of_tasks = groups.of(self.tasks, seen)
        return of_operators, of_tasks, self._groups(list(groups.found), of_tasks)

    @property
    def operator_group(self) -> Integers:
        """The place of each operator's group in :attr:`groups`."""
        return self._grouped[0]

    @property
    def task_group(self) -> Integers:
        """The place of each small task's group in :attr:`groups`."""
        return self._grouped[1]

    @property
    def groups(self) -> list[Group]:
        """The groups of all devices."""
        return self._grouped[2]

    @cached_property
    def ranks(self) -> Integers:
        """How many ranks are in the group of each operator."""
        stated = self._of_operators.integers("rankSize", NONE)
        if not (stated == NONE).any():
            return stated
        seen = self._ranks_seen()
        return self._spill.made(
            lambda ranks, group: np.where(ranks == NONE, seen[group], ranks),
            stated,
            self.operator_group,
        )

    def _first_rows(self, operators: Integers, tasks: Integers) -> Integers:
        """The first row of TASK of each operator, NONE without one. From numbers of operators."""
        owner = Lookup(operators, self._spill).rows(tasks)
        found = self._spill.changeable(len(operators), NONE)
        for batch in self._spill.batches(len(tasks)):
            own, row = owner[batch], self.row[batch]
            known = np.flatnonzero((own != NONE) & (row != NONE))
            known = known[found[own[known]] == NONE][::-1]
            found[own[known]] = row[known]
        return found

    def _ranks_seen(self) -> Integers:
        """How many ranks the tasks of each group name; older tables do not state the number."""
        (no_rank,) = self._recorded.absent(TASKS, "srcRank")
        named: set[tuple[int, ...]] = set()
        for name in ("srcRank", "dstRank"):
            ranks = self._of_tasks.integers(name, no_rank)
            named.update(combinations(self._spill, self.task_group, ranks))
        groups = [group for group, rank in named if rank != no_rank]
        return np.bincount(np.array(groups, np.int64), minlength=len(self.groups))

    def _groups(self, places: Sequence[tuple[int, str]], task_group: Integers) -> list[Group]:
        used = combinations(self._spill, task_group, self.plane)
        found: list[Group] = []
        numbers: dict[int, int] = {}
        free: dict[int, int] = {}
        for group, (device, name) in enumerate(places):
            planes = sorted({max(plane, 0) for own, plane in used if own == group})
            number, first = numbers.get(device, 0), free.get(device, 0)
            found.append(Group(device, name, number, first, tuple(planes)))
            numbers[device], free[device] = number + 1, first + max(planes, default=-1) + 2
        return found


def _stated_or_seen(stated: Integers, seen: Integers) -> Integers:
    return np.where(stated == NONE, seen, stated)


def _taken(spill: Spill, values: Integers, rows: Integers, missing: int) -> Integers:
    """The values in these rows, ``missing`` for row NONE."""

    def made(row: Integers) -> Integers:
        return np.where(row == NONE, missing, values[row] if len(values) else missing)

    return spill.made(made, rows)


class _Groups:
    """Numbers the groups of the devices. found: devices and names, in order of first use."""

    def __init__(self, spill: Spill) -> None:
        self.found: dict[tuple[int, str], int] = {}
        self._spill = spill

    def of(self, table: pa.Table, device: Integers) -> Integers:
        """The group of each row of a table."""
        names = filled(one_piece(table["groupName"]), "")
        texts = names.dictionary.to_pylist()

        def numbers(device: Integers, name: Rows) -> Integers:
            _, first, place = np.unique(
                packed(device, name), return_index=True, return_inverse=True
            )
            number = np.empty(len(first), np.int64)
            for one in np.argsort(first).tolist():
                group = int(device[first[one]]), texts[name[first[one]]]
                number[one] = self.found.setdefault(group, len(self.found))
            found: Integers = number[place]
            return found

        return self._spill.made(numbers, device, text_places(names))
