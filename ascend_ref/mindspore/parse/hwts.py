"""The log of the scheduler: its records as columns, and ``output_format_data_hwts``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.fields import numbers
from ascend_ref.raw.layout import Bytes, Layout
from ascend_ref.raw.slices import Block
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import ALONE_FROM, LAST_BEFORE_FLIP, TASK_NUMBERS

from ..raw.lines import BITS
from ..raw.records import are_among, layout_of, read_records
from .drawn import BETWEEN, ROOM
from .run import Run
from .text import Cells, lines_of, names_in, whole_numbers

HWTS = "hwts"
FORMAT_DATA = "output_format_data_hwts"

NEVER = (1 << BITS) - 1

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class HwtsRecords:
    """Records of the log, whose columns are made as they are asked for.

    ``kind``: by ``hwts_types``. ``added``: to the number of each task, for beginning again.
    """

    rows: Bytes
    kind: Integers
    layout: Layout
    added: Integers | int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, places: Integers) -> HwtsRecords:
        """Those at these places."""
        added = self.added if isinstance(self.added, int) else self.added[places]
        return HwtsRecords(self.rows[places], self.kind[places], self.layout, added)

    @cached_property
    def view(self) -> npt.NDArray[Any]:
        """The fields that all kinds have at the same places."""
        return self.layout.view(0, self.rows)

    def number(self, name: str) -> Integers:
        """A field that all kinds have at the same place."""
        return numbers(self.layout.declaration(self.layout.members[0]), name, self.view)

    @cached_property
    def task(self) -> Integers:
        """The numbers of tasks."""
        return self.number("task_id") + self.added

    @cached_property
    def stream(self) -> Integers:
        """Streams of the device."""
        return self._column("stream_id").astype(np.int64)

    @cached_property
    def tick(self) -> npt.NDArray[np.uint64]:
        """Times."""
        return self._column("syscnt")

    @property
    def has_tick(self) -> npt.NDArray[np.bool_]:
        """Which have a time."""
        is_pmu = self.kind == kind_number("BLOCK_PMU")
        found: npt.NDArray[np.bool_] = ~is_pmu | (self.number("is_warn_res0_ov") == 0)
        return found

    @cached_property
    def _others(self) -> list[tuple[Integers, npt.NDArray[Any]]]:
        """Places and fields of the records of kinds that have fields at other places."""
        first, *others = self.layout.members
        if are_among(self.kind, first.values).all():
            return []
        masks = [np.flatnonzero(are_among(self.kind, one.values)) for one in others]
        return [
            (places, self.layout.view(number, self.rows[places]))
            for number, places in enumerate(masks, 1)
        ]

    def _column(self, name: str) -> npt.NDArray[Any]:
        column = self.view[name].copy()
        for places, fields in self._others:
            column[places] = fields[name]
        return column


def read_hwts(run: Run, damage: list[Damage]) -> Iterator[HwtsRecords]:
    """The records of the log; nothing where there is none."""
    slices = run.slices(HWTS)
    if slices is None:
        return
    flips = Flips() if run.way("task_key") == "stream-flipped-task" else None
    layout = layout_of(HWTS, run.day)
    with few(damage) as stated:
        for block in read_records(slices, HWTS, run.day, damage):
            found = HwtsRecords(block.rows, block.kinds, layout)
            if flips is not None:
                added = flips.added(found.task, found.stream)
                found = HwtsRecords(block.rows, block.kinds, layout, added)
            _state_times(block, found, stated)
            yield found


def _state_times(block: Block, records: HwtsRecords, damage: Damaged) -> None:
    if not int(records.tick.max()) >> BITS:
        return
    for place in np.flatnonzero(records.tick >> np.uint64(BITS)).tolist():
        text = f"a time of {records.tick[place]:,}, 2^63 or more"
        offset = block.offset + place * records.layout.size
        damage.append(Damage(block.path, text, max(offset, 0)))


def write_hwts(run: Run) -> None:
    """Write ``output_format_data_hwts``."""
    if run.slices(HWTS) is None:
        return
    path = run.path(FORMAT_DATA)
    if path is None:
        return
    if run.way("tables") == "drawn":
        _draw(run, path)
        return
    form, way = run.form(FORMAT_DATA, "row"), run.way("task_key")
    with path.open("wb") as file:
        file.write(run.lines(FORMAT_DATA, ("title", "header")))
        for records in read_hwts(run, run.damage):
            file.write(lines_of(form, _cells(records, way)))
        file.write(b"\n")


def _draw(run: Run, path: Path) -> None:
    """Write the rows as a drawn table, of which the first reading finds the widths."""
    way = run.way("task_key")
    names = {one.replace(" ", "_"): one for one in names_in(run.form(FORMAT_DATA, "row"))}
    widths = {one: len(name) + ROOM for one, name in names.items()}
    is_number = False
    for records in read_hwts(run, run.damage):
        is_number = True
        for one, column in _cells(records, way).items():
            widths[one] = max(widths[one], pc.max(pc.utf8_length(column)).as_py())
    fills = {
        one: f"{'>' if is_number and one != 'Type' else '<'}{width}"
        for one, width in widths.items()
    }
    header = BETWEEN.join(format(names[one], fill) for one, fill in fills.items()).rstrip()
    ruler = BETWEEN.join("-" * width for width in widths.values())
    form = BETWEEN.join(f"{{{one}:{fill}}}" for one, fill in fills.items())
    with path.open("wb") as file:
        file.write(run.lines(FORMAT_DATA, ("title",)) + f"{header}\n{ruler}\n".encode())
        for records in read_hwts(run, []):
            file.write(lines_of(form, _cells(records, way)))


class Flips:
    """Counts how often the numbers of tasks began again, in the order of the log."""

    def __init__(self) -> None:
        self._flips = 0
        self._high: dict[int, int] = {}

    def added(self, task: Integers, stream: Integers) -> Integers | int:
        """What is added to the numbers of tasks."""
        if not self._high and (task <= LAST_BEFORE_FLIP).all():
            return self._flips * TASK_NUMBERS
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
        return counted * TASK_NUMBERS


def is_alone(task: Integers, way: str) -> npt.NDArray[np.bool_]:
    """Which tasks are known by their number alone (task_key)."""
    first = {"task": 0, "task-from-25000": ALONE_FROM}.get(way, NEVER)
    alone: npt.NDArray[np.bool_] = task >= first
    return alone


def kind_number(name: str) -> int:
    """The number of a kind of record by its name in ``hwts_types``."""
    members = mindspore_catalog().vocabularies["hwts_types"].members
    return next(int(one.value) for one in members if one.name == name)


def _cells(records: HwtsRecords, way: str) -> dict[str, Cells]:
    members = mindspore_catalog().vocabularies["hwts_types"].members
    labels = {int(one.value): one.label for one in members}
    names = pa.array([labels.get(number) for number in range(max(labels) + 1)])
    task, stream = whole_numbers(records.task), whole_numbers(records.stream)
    key = pc.binary_join_element_wise(stream, task, "_")
    tick, has_tick = whole_numbers(records.tick), records.has_tick
    return {
        "Type": names.take(pa.array(records.kind)),
        "cnt": whole_numbers(records.number("cnt")),
        "Core_ID": whole_numbers(records.number("core_id")),
        "Block_ID": whole_numbers(records.number("block_id")),
        "Task_ID": pc.if_else(pa.array(is_alone(records.task, way)), task, key),
        "Cycle_counter": tick if has_tick.all() else pc.if_else(pa.array(has_tick), tick, "None"),
        "Stream_ID": stream,
    }
