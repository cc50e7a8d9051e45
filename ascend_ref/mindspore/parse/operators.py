"""When operators were executed: the log of the scheduler joined with the tasks of the framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.spill import Bytes, Spill, sorted_rows
from ascend_spec.mindspore import TASK_NUMBERS, TICKS

from .drawn import Cell, drawn
from .framework import framework_of
from .hwts import HWTS, HwtsRecords, is_alone, kind_number, read_hwts
from .pairing import Executions, Integers, Known, executions
from .run import Run
from .text import lines_of, names_in, shortest, whole_numbers

TIMES = "output_op_compute_time"
TIMELINE = "output_timeline_data"
FIRST = "min_cycle_counter"

PER_MS = TICKS * 1e3
"""Ticks of a millisecond."""

STREAMS = 32
"""Bits of a task in a key; those above are its stream."""

UNCOUNTED = "assign"
"""What operators begin with that do not count for the first start."""

Floats = npt.NDArray[np.float64]


def write_operators(run: Run) -> None:
    """Write ``output_op_compute_time``, ``output_timeline_data`` and ``min_cycle_counter``."""
    framework = framework_of(run)
    if run.slices(HWTS) is None or framework is None or not framework.names:
        return
    tasks = TaskTable(framework.names, run.way("task_key"))
    spill = Spill()
    times = OperatorTimes(len(tasks.operators), run.way("executions"))
    columns = [Bytes(), Bytes(), Bytes()]
    known = (tasks.known(records) for records in read_hwts(run, []))
    counted = np.array([not one.startswith(UNCOUNTED) for one in tasks.operators], np.bool_)
    first = np.inf
    for found in executions(known, run.way("execution")):
        durations = times.add(found)
        own = found.start.tick[counted[found.start.operator]]
        first = min(first, float(own.min(initial=np.inf)))
        for column, values in zip(
            columns, (found.start.operator, found.start.tick, durations), strict=True
        ):
            column.write(values)
        spill.release()
    _write_times(run, tasks.operators, times)
    operator = np.frombuffer(spill.hold(columns[0]), np.int64)
    start, duration = (np.frombuffer(spill.hold(one), np.float64) for one in columns[1:])
    zero = first if run.way("timeline_zero") == "first-start" else 0.0
    Timeline(spill, operator, start, duration).write(run, tasks.operators, times, zero)
    path = run.path(FIRST)
    if path is not None:
        path.write_text(repr(first), encoding="utf-8")


class TaskTable:
    """Finds the operators of tasks. ``operators``: their names, by number. way: of their keys."""

    def __init__(self, names: Mapping[str, str], way: str) -> None:
        self._way = way
        self.operators = list(dict.fromkeys(names.values()))
        numbers = {name: number for number, name in enumerate(self.operators)}
        keys = {
            key: numbers[name]
            for text, name in names.items()
            if (key := _number_of(text)) is not None
        }
        self._keys = np.array(sorted(keys), np.int64)
        self._operators = np.array([keys[one] for one in sorted(keys)], np.int64)
        self._is_task = np.zeros(TASK_NUMBERS, np.bool_)
        self._is_task[self._keys % TASK_NUMBERS] = True
        self._starts, self._ends = kind_number("START_OF_TASK"), kind_number("END_OF_TASK")

    def known(self, every: HwtsRecords) -> Known:
        """Of records the starts and ends of tasks with an operator."""
        records = every.at(np.flatnonzero(self._is_task[every.view["task_id"]]))
        stream = np.where(is_alone(records.task, self._way), -1, records.stream)
        key = (stream << STREAMS) | records.task
        place = np.searchsorted(self._keys, key)
        place[place == len(self._keys)] = 0
        found = (self._keys[place] == key) & (records.task >> STREAMS == 0)
        found &= (records.kind == self._starts) | (records.kind == self._ends)
        rows = np.flatnonzero(found)
        return Known(
            self._operators[place[rows]],
            records.kind[rows] == self._starts,
            key[rows],
            records.stream[rows],
            records.tick[rows].astype(np.float64),
        )


def _number_of(key: str) -> int | None:
    """The key as a number; ``None`` for one that no record of the log can have."""
    stream, between, task = key.rpartition("_")
    numbers = [stream, task] if between else [task]
    if not all(one.isdecimal() and str(int(one)) == one for one in numbers):
        return None
    if any(int(one) >> STREAMS for one in numbers):
        return None
    number = (int(stream) if between else -1) << STREAMS | int(task)
    # Streams have 32 bits, so that the greater ones are negative here, as in columns.
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


class OperatorTimes:
    """Sums of the durations of operators, in the order in which they are executed."""

    def __init__(self, count: int, way: str) -> None:
        self._is_all = way == "all"
        self._sums = np.zeros(count)
        self._counts = np.zeros(count, np.int64)
        self._key = np.zeros(count, np.int64)
        self._stream = np.zeros(count, np.int64)
        self.order: list[int] = []
        """Operators in the order of their first execution."""

    def add(self, found: Executions) -> Floats:
        """The durations of executions in ms, which are added one after the other."""
        operator, start = found.start.operator, found.start
        durations = (found.end.tick - start.tick) / PER_MS
        unseen = np.flatnonzero(self._counts[operator] == 0)
        if len(unseen):
            _, first = np.unique(operator[unseen], return_index=True)
            fresh = unseen[np.sort(first)]
            self.order += operator[fresh].tolist()
            self._key[operator[fresh]] = start.key[fresh]
            self._stream[operator[fresh]] = start.stream[fresh]
        np.add.at(self._sums, operator, durations)
        counted = operator if self._is_all else operator[start.key == self._key[operator]]
        self._counts += np.bincount(counted, minlength=len(self._counts))
        return durations

    @property
    def averages(self) -> list[float]:
        """In the order of :attr:`order`."""
        averages: list[float] = (self._sums[self.order] / self._counts[self.order]).tolist()
        return averages

    @property
    def counts(self) -> Integers:
        """Executions that are counted, in the order of :attr:`order`."""
        return self._counts[self.order]

    @property
    def streams(self) -> Integers:
        """Streams of first executions, by operator."""
        return self._stream


def _write_times(run: Run, operators: Sequence[str], times: OperatorTimes) -> None:
    path = run.path(TIMES)
    if path is None:
        return
    averages = times.averages
    if run.way("tables") == "drawn":
        _draw_times(run, path, [operators[one] for one in times.order], times)
        return
    cells = {
        "op_name": pa.array([operators[one] for one in times.order], pa.string()),
        "compute_time(ms)": shortest(averages),
        "stream_id": whole_numbers(times.streams[times.order]),
        "execution_times": whole_numbers(times.counts),
    }
    total: float = 0
    for one in averages:  # sum() of Python 3.12 rounds once
        total += one
    with path.open("wb") as file:
        file.write(run.lines(TIMES, ("title", "header", "ruler")))
        file.write(lines_of(run.form(TIMES, "row"), cells))
        file.write(
            lines_of(run.form(TIMES, "total"), {"compute_time(ms)": pa.array([repr(total)])})
        )


def _draw_times(run: Run, path: Path, names: Sequence[str], times: OperatorTimes) -> None:
    """The same as a drawn table in order of names, which ends with the total."""
    streams = times.streams[times.order].tolist()
    rows: list[list[Cell]] = sorted(map(list, zip(names, times.averages, streams, strict=True)))
    total: float = 0
    for row in rows:
        total += float(row[1])
    rows.append(["total op", total, 0])
    _draw(run, TIMES, path, rows)


def _draw(run: Run, table: str, path: Path, rows: Sequence[Sequence[Cell]]) -> None:
    lines = drawn(names_in(run.form(table, "row")), rows)
    text = "".join(f"{line}\n" for line in lines)
    path.write_bytes(run.lines(table, ("title",)) + text.encode("utf-8", "backslashreplace"))


@dataclass(frozen=True)
class Timeline:
    """Executions as columns: the number of the operator, the start in ticks, the duration in ms."""

    spill: Spill
    operator: Integers
    start: Floats
    duration: Floats

    def write(self, run: Run, names: Sequence[str], times: OperatorTimes, zero: float) -> None:
        """Write ``output_timeline_data``. zero: the tick from which starts count."""
        path = run.path(TIMELINE)
        if path is None:
            return
        rank = np.zeros(len(names), np.int64)
        rank[times.order] = np.arange(len(times.order))
        key = self.spill.made(lambda start: _ordered(start / PER_MS), self.start)
        rows = sorted_rows(self.spill, key, self.spill.made(lambda one: rank[one], self.operator))
        if run.way("tables") == "drawn":
            _draw(run, TIMELINE, path, list(self._cells(rows, names, times, zero)))
            return
        shown = pa.array(names, pa.string())
        streams = whole_numbers(times.streams)
        with path.open("wb") as file:
            file.write(run.lines(TIMELINE, ("header",)))
            for batch in self.spill.batches(len(rows)):
                own = rows[batch]
                operator = pa.array(self.spill.gathered(self.operator, own))
                start = self.spill.gathered(self.start, own)
                cells = {
                    "op_name": shown.take(operator),
                    "stream_id": streams.take(operator),
                    "start_time(ms)": shortest(((start - zero) / PER_MS).tolist()),
                    "duration(ms)": shortest(self.spill.gathered(self.duration, own).tolist()),
                }
                file.write(lines_of(run.form(TIMELINE, "row"), cells))

    def _cells(
        self, rows: Integers, names: Sequence[str], times: OperatorTimes, zero: float
    ) -> Iterator[list[Cell]]:
        for row in rows.tolist():
            operator, start = int(self.operator[row]), float(self.start[row])
            stream, duration = int(times.streams[operator]), float(self.duration[row])
            yield [names[operator], stream, (start - zero) / PER_MS, duration]


def _ordered(values: Floats) -> Integers:
    """Numbers of no sign as whole ones in the same order."""
    return values.view(np.int64)
