"""The communication operators with their groups, devices and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import one_piece, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded
from ascend_ref.spill import Spill

from .device_work import DeviceWork
from .lookup import NONE, Columns, Lookup, Rows, combinations, filled, packed

TASKS = "COMMUNICATION_TASK_INFO"


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

    row: of TASK, for each small task; NONE without one. plane: of each small task, NONE without
    one. operator_group, task_group: places in ``groups``. ranks: how many are in the group of each
    operator.
    """

    def __init__(self, recorded: Recorded, work: DeviceWork, device: int) -> None:
        self._spill = spill = recorded.spill
        self.operators = operators = recorded.table("COMMUNICATION_OP")
        self.tasks = tasks = recorded.table(TASKS)
        of_operators, of_tasks = Columns(operators, spill), Columns(tasks, spill)
        self.start = of_operators.integers("startNs", 0)
        self.end = of_operators.integers("endNs", 0)
        self.connection = of_operators.integers("connectionId")
        (self._no_rank,) = recorded.absent(TASKS, "srcRank")
        (no_plane,) = recorded.absent(TASKS, "planeId")
        (no_model,) = recorded.absent("TASK", "modelId")
        # The threads of a group are numbered by its planes, which have 32 bits.
        self.plane = spill.made(
            lambda plane: np.where((plane < 0) | (plane >= no_plane), NONE, plane),
            of_tasks.integers("planeId"),
        )
        self.row = Lookup(work.identity, spill).rows(of_tasks.integers("globalTaskId"))
        first = self._first_rows(of_operators.integers("opId"), of_tasks.integers("opId"))
        models = Columns(work.tasks, spill).integers("modelId", no_model)
        self.model = _taken(spill, models, first, no_model)
        self.device = spill.made(
            _stated_or_seen,
            of_operators.integers("deviceId", NONE),
            _taken(spill, work.device, first, device),
        )
        groups = _Groups(spill)
        self.operator_group = groups.of(operators, self.device)
        self.task_group = groups.of(tasks, _taken(spill, work.device, self.row, device))
        self.groups = self._groups(list(groups.found))
        self.ranks = of_operators.integers("rankSize", NONE)
        if (self.ranks == NONE).any():
            seen = self._ranks_seen()
            self.ranks = spill.made(
                lambda ranks, group: np.where(ranks == NONE, seen[group], ranks),
                self.ranks,
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
        columns = Columns(self.tasks, self._spill)
        named: set[tuple[int, ...]] = set()
        for name in ("srcRank", "dstRank"):
            ranks = columns.integers(name, self._no_rank)
            named.update(combinations(self._spill, self.task_group, ranks))
        groups = [group for group, rank in named if rank != self._no_rank]
        return np.bincount(np.array(groups, np.int64), minlength=len(self.groups))

    def _groups(self, places: Sequence[tuple[int, str]]) -> list[Group]:
        used = combinations(self._spill, self.task_group, self.plane)
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
