"""Runs of tasks and of AI CPUs, of raw files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.raw.damage import Damage, few
from ascend_ref.raw.moments import MICROSECOND
from ascend_ref.spill import Bytes, Spill, sorted_rows
from ascend_spec.mindspore import TASK_NUMBERS

from ..parse.aicpu import KIND, is_records
from ..parse.hwts import HwtsRecords, kind_number, read_hwts
from ..parse.operator import key_of
from ..parse.operators import STREAMS
from ..parse.pairing import Executions, Known, LastStart
from ..parse.run import Run
from ..raw.records import layout_of, read_records
from ..raw.strings import String, read_strings
from .clock import EXACT, TICK
from .found import CpuRun, Runs

_OF_KEY = (1 << STREAMS) - 1
"""Bits of a key that are the number of a task."""


def runs_of(
    run: Run, names: Mapping[str, str], numbers: Mapping[str, int], spill: Spill
) -> tuple[Runs, list[str]]:
    """Runs of all tasks in the log of the scheduler, and sentences on those that are left out.

    names: of operators by the keys of their tasks; numbers: of operators by name.
    """
    starts, ends = kind_number("START_OF_TASK"), kind_number("END_OF_TASK")
    columns = [Bytes() for _ in range(3)]
    pair, opened, found, late = LastStart(), 0, 0, 0
    for records in read_hwts(run, run.damage):
        block, beyond = _tasks(records, starts, ends)
        late += beyond
        opened += int(np.sum(block.is_start))
        done = pair(block)
        found += len(done)
        for column, values in zip(columns, _cells(done), strict=True):
            column.write(values)
        spill.release()
    start, end, key = (np.frombuffer(spill.hold(one), np.int64) for one in columns)
    order = sorted_rows(spill, start)
    start, end, key = (spill.taken(one, order) for one in (start, end, key))
    stream = spill.made(lambda one: one >> STREAMS, key)
    task = spill.made(lambda one: (one & _OF_KEY) % TASK_NUMBERS, key)
    runs = Runs(start, end, stream, task, _operators(run, key, names, numbers, spill))
    unknown = spill.where(lambda one: one == NONE, runs.operator)
    lost = []
    if len(unknown):
        lost.append(
            f"hwts: {len(unknown):,} runs are of tasks that the framework does not describe; what "
            "they compute, if anything, is not known"
        )
    if opened > found:
        lost.append(f"hwts: {opened - found:,} tasks start and never end")
    if late:
        lost.append(f"hwts: {late:,} records have a time that no device shows")
    return runs, lost


def _tasks(records: HwtsRecords, starts: int, ends: int) -> tuple[Known, int]:
    """Starts and ends of all tasks, which the key and no operator holds together; and how many have
    a time that no device shows.
    """
    is_task = (records.kind == starts) | (records.kind == ends)
    is_time = records.tick < EXACT
    rows = np.flatnonzero(is_task & is_time)
    stream = records.stream[rows]
    key = (stream << STREAMS) | records.task[rows]
    known = Known(
        key, records.kind[rows] == starts, key, stream, records.tick[rows].astype(np.float64)
    )
    return known, int(np.sum(is_task & ~is_time))


def _cells(done: Executions) -> tuple[Integers, Integers, Integers]:
    start, end = done.start.tick, done.end.tick
    return start.astype(np.int64) * TICK, end.astype(np.int64) * TICK, done.start.key


def _operators(
    run: Run,
    keys: Integers,
    names: Mapping[str, str],
    numbers: Mapping[str, int],
    spill: Spill,
) -> Integers:
    """The number of the operator of each task, NONE where the framework does not describe it."""
    way = run.way("task_key")

    def of_key(key: int) -> int:
        name = names.get(key_of(way, key >> STREAMS, key & _OF_KEY))
        return NONE if name is None else numbers.get(name, NONE)

    def found(some: Integers) -> Integers:
        distinct, place = np.unique(some, return_inverse=True)
        return np.array([of_key(one) for one in distinct.tolist()], np.int64)[place]

    return spill.made(found, keys)


def cpu_runs_of(run: Run, names: Mapping[str, str]) -> list[CpuRun]:
    """Runs of kernels of AI CPUs. names: of operators by the keys of their tasks."""
    slices = run.slices(KIND)
    if slices is None:
        return []
    if not is_records(slices):
        return list(_of_texts(read_strings(slices, KIND, run.damage)))
    if run.holds_records(KIND):
        return list(_of_records(run, names))
    run.damage.append(Damage(slices[0].path, f"records, which were not written on {run.day}"))
    return []


def _of_records(run: Run, names: Mapping[str, str]) -> Iterator[CpuRun]:
    slices = run.slices(KIND) or ()
    layout = layout_of(KIND, run.day)
    fields = (
        *("streamId", "taskId", "run_start_counter", "run_end_counter", "compute_start"),
        *("memcpy_start", "memcpy_end", "dispatch_time", "total_time"),
    )
    for block in read_records(slices, KIND, run.day, run.damage):
        rows = layout.view(0, block.rows)
        right = np.logical_and.reduce([rows[one] < EXACT for one in fields])
        right &= rows["run_start_counter"] <= rows["run_end_counter"]
        with few(run.damage) as stated:
            for place in np.flatnonzero(~right).tolist():
                offset = max(block.offset + place * layout.size, 0)
                stated.append(Damage(block.path, "times that a kernel cannot have", offset))
        columns = (rows[one][right].tolist() for one in fields)
        for stream, task, start, end, computed, copied, finished, dispatch, total in zip(
            *columns, strict=True
        ):
            key = key_of("stream-task", stream, task)
            compute, memcpy = _lengths(computed, copied, finished)
            yield CpuRun(
                names.get(key, key),
                *(start * TICK, end * TICK, stream, task, compute, memcpy),
                *(dispatch * MICROSECOND, total * MICROSECOND),
            )


def _lengths(computed: int, copied: int, finished: int) -> tuple[int, int]:
    """Computing and copying, where their times are known."""
    if not 0 < computed <= copied <= finished:
        return NONE, NONE
    return (copied - computed) * MICROSECOND, (finished - copied) * MICROSECOND


def _of_texts(strings: Iterator[String]) -> Iterator[CpuRun]:
    """A kernel and the thread that directly follows it."""
    kernel: String | None = None
    for one in strings:
        if one.line == "thread" and kernel is not None:
            found = _of_text(kernel, one)
            if found is not None:
                yield found
        kernel = one if one.line not in (None, "thread") else None


def _of_text(kernel: String, thread: String) -> CpuRun | None:
    """``None`` for numbers that no kernel has; without its own counter the thread's is taken."""
    parts = {
        name: int(text)
        for name, text in {**thread.parts, **kernel.parts}.items()
        if text.isascii() and text.isdecimal()
    }
    if max(parts.values(), default=0) >= EXACT:
        return None
    start = parts.get("run_start_counter", parts.get("tick_before_run", NONE))
    end = parts.get("run_end_counter", parts.get("tick_after_run", NONE))
    if not 0 <= start <= end:
        return None
    times = (parts.get(one, 0) for one in ("compute_start", "memcpy_start", "memcpy_end"))
    compute, memcpy = _lengths(*times)
    name = kernel.parts["name"].rpartition(":")[2]
    return CpuRun(
        *(name, start * TICK, end * TICK, NONE, NONE, compute, memcpy),
        *(parts["dispatch_time"] * MICROSECOND, parts["total_time"] * MICROSECOND),
    )
