"""Raw files of the device as facts: its log, points of steps, kernels of AI CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.mindspore.parse.aicpu import KIND as AICPU
from ascend_ref.mindspore.parse.aicpu import is_records
from ascend_ref.mindspore.parse.flops import KIND as AICORE
from ascend_ref.mindspore.parse.flops import operations
from ascend_ref.mindspore.parse.hwts import HWTS, HwtsRecords, kind_number
from ascend_ref.mindspore.parse.points import points_of
from ascend_ref.mindspore.parse.run import Run
from ascend_ref.mindspore.parse.steps import Point
from ascend_ref.mindspore.raw.records import layout_of, read_records
from ascend_ref.mindspore.raw.strings import String, read_strings
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.fields import numbers

from ...engine.sqlite_facts import SqliteFacts, SqlValue

Integers = npt.NDArray[np.int64]
Rows = Iterator[Sequence[SqlValue]]

MOST = (1 << 63) - 1
NONE = -1


@dataclass
class Source:
    """The files of one device: the facts that they fill, and what of them cannot be read.

    ``numbers``: of files by path, which are added as they come.
    """

    facts: SqliteFacts
    run: Run
    numbers: dict[Path, int]
    damage: list[Damage] = field(default_factory=list)

    def number(self, path: Path) -> int:
        """The number of a file."""
        return self.numbers.setdefault(path, len(self.numbers))


def gather_device(source: Source) -> None:
    """Every raw file of the device."""
    _gather_hwts(source)
    _gather_points(source)
    source.facts.add("kernel", _kernels(source))
    source.facts.add("counted", _counted(source))


# --- counters of AI cores ------------------------------------------------------------------------


def _counted(source: Source) -> Rows:
    slices = source.run.slices(AICORE)
    if slices is None or not source.run.reads(AICORE):
        return
    layout = layout_of(AICORE, source.run.day)
    before: int | None = None
    for block in read_records(slices, AICORE, source.run.day, source.damage):
        number, rows = source.number(block.path), layout.view(0, block.rows)
        columns = zip(
            numbers(layout.declaration(layout.members[0]), "cnt", rows).tolist(),
            rows["taskId"].tolist(),
            rows["streamId"].tolist(),
            rows["totalCycle"].tolist(),
            operations(rows["pmuList"]).tolist(),
            strict=True,
        )
        for place, (cnt, *own) in enumerate(columns):
            offset = max(block.offset + place * layout.size, 0)
            yield number, None, offset, cnt, before, *own
            before = cnt


# --- the log of the scheduler ---------------------------------------------------------------------


def _gather_hwts(source: Source) -> None:
    slices = source.run.slices(HWTS)
    if slices is None:
        return
    starts, ends = kind_number("START_OF_TASK"), kind_number("END_OF_TASK")
    layout = layout_of(HWTS, source.run.day)
    log = _Log()
    for block in read_records(slices, HWTS, source.run.day, source.damage):
        records = HwtsRecords(block.rows, block.kinds, layout)
        number = source.number(block.path)
        offsets = np.maximum(block.offset + np.arange(len(records)) * layout.size, 0)
        task, stream = records.number("task_id"), records.stream
        is_start, is_end = records.kind == starts, records.kind == ends
        tick = np.minimum(records.tick, MOST).astype(np.int64)
        has_tick = records.has_tick
        key = stream << 16 | task
        open_, is_first = log.followed(key, is_start, is_end, number, offsets)
        types = log.types_before(key, records.kind)
        before = log.before(records.number("cnt"), tick)
        ticks = tick.tolist() if has_tick.all() else _without(tick, has_tick)
        columns = (
            *(records.kind.tolist(), records.number("cnt").tolist(), before[0]),
            *(task.tolist(), stream.tolist(), ticks, before[1]),
            *(open_.tolist(), is_first.tolist(), _without(types, types != NONE)),
        )
        places = (repeat(number), repeat(None), offsets.tolist())
        source.facts.add("hwts", zip(*places, *columns, strict=False))
    source.facts.add("hwts_task", log.tasks())


def _without(values: Integers, known: npt.NDArray[np.bool_]) -> list[int | None]:
    pairs = zip(values.tolist(), known.tolist(), strict=True)
    return [one if is_known else None for one, is_known in pairs]


@dataclass
class _Log:
    """What of the records before is needed to judge the next ones.

    ``counts``: by task the first record, starts, ends, and starts that are still open.
    """

    counts: dict[int, list[int]] = field(default_factory=dict)
    types: dict[int, int] = field(default_factory=dict)
    last: tuple[int, int] | None = None

    def types_before(self, key: Integers, kind: Integers) -> Integers:
        """The kind of the record before of the task of each; :data:`NONE` for the first."""
        order = np.argsort(key, kind="stable")
        edges = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
        keys = key[order][edges].tolist()
        before = np.append(0, kind[order][:-1])
        before[edges] = [self.types.get(one, NONE) for one in keys]
        ends = np.append(edges[1:], len(key)) - 1
        self.types |= zip(keys, kind[order][ends].tolist(), strict=True)
        found = np.empty(len(key), np.int64)
        found[order] = before
        return found

    def before(self, cnt: Integers, tick: Integers) -> tuple[list[int | None], list[int | None]]:
        """Count and time of the record in front of each."""
        first = self.last or (None, None)
        self.last = int(cnt[-1]), int(tick[-1])
        return [first[0], *cnt[:-1].tolist()], [first[1], *tick[:-1].tolist()]

    def followed(
        self,
        key: Integers,
        is_start: npt.NDArray[np.bool_],
        is_end: npt.NDArray[np.bool_],
        number: int,
        offsets: Integers,
    ) -> tuple[Integers, npt.NDArray[np.int64]]:
        """How many starts of its task are open at each record, and whether it is the first of it.

        An end without a start leaves none open.
        """
        order = np.argsort(key, kind="stable")
        change = (is_start.astype(np.int64) - is_end)[order]
        edges = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
        sizes = np.diff(np.append(edges, len(key)))
        keys = key[order][edges].tolist()
        known = [self.counts.get(one) for one in keys]
        carried = np.array([0 if one is None else one[4] for one in known], np.int64)
        before = np.cumsum(change) - change
        sums = before - np.repeat(before[edges] - carried, sizes)
        # Each task has a range of its own, so that one pass finds the least sum so far of each.
        apart = np.repeat(np.arange(len(edges), 0, -1) * (4 * len(key) + 4 * (1 << 40)), sizes)
        least = np.minimum.accumulate(np.minimum(sums, 0) + apart) - apart
        open_ = sums - np.minimum(least, 0)
        after = np.maximum(open_ + change, 0)
        is_first = np.zeros(len(key), np.int64)
        is_first[order[edges]] = [one is None for one in known]
        ends = edges + sizes - 1
        added = zip(
            keys,
            np.add.reduceat(is_start[order].astype(np.int64), edges).tolist(),
            np.add.reduceat(is_end[order].astype(np.int64), edges).tolist(),
            after[ends].tolist(),
            offsets[order[edges]].tolist(),
            strict=True,
        )
        for name, starts, stops, left, offset in added:
            found = self.counts.setdefault(name, [number, offset, 0, 0, 0])
            found[2] += starts
            found[3] += stops
            found[4] = left
        found_open = np.empty(len(key), np.int64)
        found_open[order] = open_
        return found_open, is_first

    def tasks(self) -> Rows:
        """Tasks with the numbers of their starts and ends."""
        for key, (number, offset, starts, ends, _) in self.counts.items():
            yield number, None, offset, key & 0xFFFF, key >> 16, starts, ends, None


# --- points of steps ------------------------------------------------------------------------------


def _gather_points(source: Source) -> None:
    points = points_of(source.run)
    if points is None:
        return
    steps = _Steps(points.tags.is_begin)
    source.facts.add("point", _points(source, points.read(source.damage), points, steps))
    source.facts.add("raw_step", steps.steps)
    source.facts.add("raw_reduction", steps.reductions)


def _points(source: Source, found: Iterator[Point], points: Any, steps: _Steps) -> Rows:
    is_early = "STEP_START" in points.tags.names
    others = {value for name, value in points.tags.names.items()}
    before: int | None = None
    for one in found:
        point = one._replace(tag=min(one.tag, MOST))
        place = (source.number(points.paths[point.place]), None, max(point.offset, 0))
        meaning: str | None = point.kind
        if meaning is None and point.tag in others:
            meaning = "other"
        step = steps.take(place, point, is_early)
        yield *place, point.tag, meaning, point.task, point.stream, point.time, before, step
        before = point.time


@dataclass
class _Steps:
    """Cuts points into steps, as parsers do: from a start on, or from behind an end."""

    is_begin: Any
    number: int = 1
    times: dict[str, int] = field(default_factory=dict)
    open: dict[int, tuple[Any, Point]] = field(default_factory=dict)
    steps: list[Sequence[SqlValue]] = field(default_factory=list)
    reductions: list[Sequence[SqlValue]] = field(default_factory=list)
    previous: int | None = None

    def take(self, place: tuple[int, None, int], point: Point, is_early: bool) -> int:
        """Take a point; the number of its step."""
        number = self.number
        match point.kind:
            case "reduction":
                self._reduction(place, point)
            case "start" | "fp" | "bp":
                self.times[point.kind] = point.time
            case "end":
                times = self.times
                start = times.get("start") if is_early else self.previous
                row = (number, start, times.get("fp"), times.get("bp"), point.time)
                self.steps.append((*place, *row))
                self._close(place)
                self.times, self.previous, self.number = {}, point.time, number + 1
        return number

    def _reduction(self, place: tuple[int, None, int], point: Point) -> None:
        first = self.open.pop(point.stream, None)
        if first is None:
            self.open[point.stream] = place, point
            return
        where, begin = first
        own = (self.number, point.stream, begin.tag, begin.time, point.tag, point.time)
        self.reductions.append((*where, *own))

    def _close(self, place: tuple[int, None, int]) -> None:
        for stream, (where, begin) in self.open.items():
            self.reductions.append((*where, self.number, stream, begin.tag, begin.time, None, None))
        self.open = {}


# --- kernels of AI CPUs ---------------------------------------------------------------------------

_TEXT_FIELDS = (
    *("run_start", "run_end", "run_start_counter", "run_end_counter"),
    *("submit_tick", "schedule_tick", "tick_before_run", "tick_after_run"),
    *("dispatch_time", "total_time", "memcpy_start", "memcpy_end"),
)
"""Of a kernel and its thread, as text and as a record."""


def _kernels(source: Source) -> Rows:
    slices = source.run.slices(AICPU)
    if slices is None:
        return
    try:
        is_binary = is_records(slices)
    except OSError as error:
        source.damage.append(Damage(slices[0].path, error.strerror or str(error)))
        return
    if not is_binary:
        yield from _kernels_of_text(source, read_strings(slices, AICPU, source.damage))
    elif source.run.holds_records(AICPU):
        yield from _kernels_of_records(source, slices)


def _kernels_of_text(source: Source, strings: Iterator[String]) -> Rows:
    kernel: String | None = None
    ends: dict[str, int] = {}
    for one in strings:
        if one.line == "thread" and kernel is not None:
            parts = {**kernel.parts, **one.parts}
            values = [whole(parts.get(name)) for name in _TEXT_FIELDS]
            thread = one.parts["thread"].strip()
            place = (source.number(kernel.path), None, kernel.offset)
            name = kernel.parts["name"]
            yield *place, name, None, None, thread, *values, None, ends.get(thread)
            if isinstance(values[1], int):
                ends[thread] = values[1]
        kernel = one if one.line not in (None, "thread") else None


def _kernels_of_records(source: Source, slices: Any) -> Rows:
    layout = layout_of(AICPU, source.run.day)
    ends: dict[int, int] = {}
    for block in read_records(slices, AICPU, source.run.day, source.damage):
        rows = layout.view(0, block.rows)
        number = source.number(block.path)
        names = ("streamId", "taskId", "thread", *_TEXT_FIELDS, "dataTag")
        columns = (rows[name].tolist() for name in names)
        for at, (stream, task, thread, *values, tag) in enumerate(zip(*columns, strict=True)):
            place = (number, None, max(block.offset + at * layout.size, 0))
            some = [min(one, MOST) for one in values]
            key = f"{stream}_{task}"
            yield *place, key, stream, task, thread, *some, tag, ends.get(thread)
            ends[thread] = some[1]


def whole(text: str | None) -> int | None:
    """A number of a line, at most :data:`MOST`; ``None`` for what is none."""
    return min(int(text), MOST) if text is not None and text.isdecimal() else None
