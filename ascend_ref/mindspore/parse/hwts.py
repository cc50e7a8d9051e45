"""The log of the scheduler: its records as columns, and ``output_format_data_hwts``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.raw.damage import Damage, few
from ascend_ref.raw.fields import bits_of, numbers
from ascend_ref.raw.layout import Layout
from ascend_ref.raw.slices import Block
from ascend_spec import mindspore_catalog

from ..raw.records import layout_of, read_records
from .operator import ALONE_FROM
from .run import Run
from .text import lines_of, whole_numbers

HWTS = "hwts"
FORMAT_DATA = "output_format_data_hwts"

NUMBERS = 1 << 16
"""Of tasks, before they begin again."""
LAST_BEFORE_FLIP = 65_000
"""A task behind a greater number than this begins again (task_key)."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HwtsRecords:
    """Records of the log as columns. ``task``: their number, with what was added for beginning
    again; ``is_alone``: which of them are known by it alone.
    """

    kind: Integers
    count: Integers
    core: Integers
    block: Integers
    task: Integers
    stream: Integers
    tick: npt.NDArray[np.uint64]
    has_tick: npt.NDArray[np.bool_]
    is_alone: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kind)


def read_hwts(run: Run, damage: list[Damage]) -> Iterator[HwtsRecords]:
    """The records of the log; nothing where there is none."""
    slices = run.slices(HWTS)
    if slices is None:
        return
    keys = TaskKeys(run.way("task_key"))
    layout = layout_of(HWTS, run.day)
    with few(damage) as stated:
        for block in read_records(slices, HWTS, run.day, damage):
            found = _columns(block, layout, keys)
            for place in np.flatnonzero(found.tick >> np.uint64(63)).tolist():
                text = f"a time of {found.tick[place]:,}, 2^63 or more"
                stated.append(Damage(block.path, text, block.offset + place * layout.size))
            yield found


def write_hwts(run: Run) -> None:
    """Write ``output_format_data_hwts``."""
    if run.slices(HWTS) is None:
        return
    path = run.path(FORMAT_DATA)
    if path is None:
        return
    form = run.form(FORMAT_DATA, "row")
    with path.open("wb") as file:
        file.write(run.lines(FORMAT_DATA, ("title", "header")))
        for records in read_hwts(run, run.damage):
            file.write(lines_of(form, _cells(records)))
        file.write(b"\n")


class TaskKeys:
    """The keys of tasks in the order of the log."""

    def __init__(self, way: str) -> None:
        self.way = way
        self._flips = 0
        self._high: dict[int, int] = {}

    def is_alone(self, task: Integers) -> npt.NDArray[np.bool_]:
        """Which tasks are known by their numbers alone."""
        if self.way == "task":
            return np.ones(len(task), np.bool_)
        if self.way == "task-from-25000":
            return task >= ALONE_FROM
        return np.zeros(len(task), np.bool_)

    def added(self, task: Integers, stream: Integers) -> Integers | int:
        """What is added to the numbers of tasks that began again."""
        if self.way != "stream-flipped-task":
            return 0
        if not self._high and (task <= LAST_BEFORE_FLIP).all():
            return self._flips * NUMBERS
        order = np.argsort(stream, kind="stable")
        before = np.empty(len(task), np.int64)
        sorted_stream, sorted_task = stream[order], task[order]
        first = np.flatnonzero(np.diff(sorted_stream, prepend=sorted_stream[0] - 1))
        before[1:] = sorted_task[:-1]
        before[first] = [self._high.get(one, 0) for one in sorted_stream[first].tolist()]
        flips = np.zeros(len(task), np.int64)
        flips[order] = (before > LAST_BEFORE_FLIP) & (sorted_task < before)
        last = np.append(first[1:], len(task)) - 1
        for name, number in zip(
            sorted_stream[last].tolist(), sorted_task[last].tolist(), strict=True
        ):
            if number > LAST_BEFORE_FLIP:
                self._high[name] = number
            else:
                self._high.pop(name, None)
        counted = np.cumsum(flips) + self._flips
        self._flips = int(counted[-1])
        return counted * NUMBERS


def _columns(block: Block, layout: Layout, keys: TaskKeys) -> HwtsRecords:
    declaration = layout.declaration(layout.members[0])
    rows = layout.view(0, block.rows)
    head = rows["head"]
    shifts = bits_of(declaration.head)

    def part(name: str) -> Integers:
        shift, mask = shifts[name]
        return (head >> np.uint8(shift) & np.uint8(mask)).astype(np.int64)

    task = numbers(declaration, "task_id", rows)
    tick, stream = _ticks(block, layout)
    kind = part("type")
    has_tick = np.ones(len(rows), np.bool_)
    pmu = kind == kind_number("BLOCK_PMU")
    if pmu.any():
        has_tick = ~pmu | (part("is_warn_res0_ov") == 0)
    return HwtsRecords(
        kind,
        part("cnt"),
        numbers(declaration, "core_id", rows),
        numbers(declaration, "block_id", rows),
        task + keys.added(task, stream),
        stream,
        tick,
        has_tick,
        keys.is_alone(task),
    )


def _ticks(block: Block, layout: Layout) -> tuple[npt.NDArray[np.uint64], Integers]:
    """Times and streams, which stand at other places in other kinds of records."""
    views: list[npt.NDArray[Any]] = [
        layout.view(number, block.rows) for number in range(len(layout.members))
    ]
    tick = np.ascontiguousarray(views[0]["syscnt"])
    stream = views[0]["stream_id"].astype(np.int64)
    for view, mask in zip(views[1:], layout.split(block.rows)[1:], strict=True):
        if mask.any():
            tick[mask] = view["syscnt"][mask]
            stream[mask] = view["stream_id"][mask]
    return tick, stream


def kind_number(name: str) -> int:
    """The number of a kind of record by its name in ``hwts_types``."""
    members = mindspore_catalog().vocabularies["hwts_types"].members
    return next(int(one.value) for one in members if one.name == name)


def _cells(records: HwtsRecords) -> dict[str, pa.Array]:
    labels = {
        int(one.value): one.label for one in mindspore_catalog().vocabularies["hwts_types"].members
    }
    names = pa.array([labels.get(number) for number in range(max(labels) + 1)])
    task, stream = whole_numbers(records.task), whole_numbers(records.stream)
    key = pc.binary_join_element_wise(stream, task, "_")
    tick = whole_numbers(records.tick)
    if not records.has_tick.all():
        tick = pc.if_else(pa.array(records.has_tick), tick, "None")
    return {
        "Type": names.take(pa.array(records.kind)),
        "cnt": whole_numbers(records.count),
        "Core_ID": whole_numbers(records.core),
        "Block_ID": whole_numbers(records.block),
        "Task_ID": pc.if_else(pa.array(records.is_alone), task, key),
        "Cycle_counter": tick,
        "Stream_ID": stream,
    }
