"""What AI CPUs note about their kernels, and about the data that they fetch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from ascend_ref.capture.model import NONE
from ascend_ref.raw.lines import Entry
from ascend_ref.raw.moments import MICROSECOND
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.mindspore import TICKS
from ascend_spec.mindspore.records import TICK

from .graph import Operator
from .job import Job

KIND = "aicpu"

_TAG = 60
_THREAD = 3
_OWN = ("GetNext", "InitData", "InitDataSetQueue")
"""Types of MindSpore's own kernels, whose lines are shorter."""


Key: TypeAlias = tuple[int, ...]


class Run(NamedTuple):
    """A run of a kernel, in ticks but for the lengths of computing and copying (us)."""

    operator: Operator
    start: int
    end: int
    submitted: int
    before: int
    after: int
    compute: int
    memcpy: int

    @property
    def dispatch(self) -> int:
        """us until it ran."""
        return (self.before - self.submitted) // TICKS

    @property
    def total(self) -> int:
        """us in all."""
        return (self.after - self.submitted) // TICKS


def write_aicpu(job: Job) -> None:
    """Write the kernels, where the capture has any: as text, or as records from their day on."""
    runs = list(runs_of(job))
    if not runs:
        return
    members = mindspore_catalog().files[KIND].members
    if any(DAYS.in_force(one, job.day) for one in members):
        _write_records(job, runs)
    else:
        job.write_lines(KIND, [entry for one in runs for entry in _lines(job, one)])


def runs_of(job: Job) -> Iterator[Run]:
    """The runs of kernels on the device's AI CPUs, in order."""
    table = job.capture.records.get("aicpu")
    if table is None:
        return
    starts, operators = _tasks(job)
    own = np.flatnonzero(table["device"] == job.device)
    names = ("time", "task", "dispatch", "total", "compute", "memcpy", "stream", "number")
    for row in zip(*(table[name][own].tolist() for name in names), strict=True):
        time, task, dispatch, total, compute, memcpy, *key = row
        place = bisect_right(starts.get(tuple(key), []), time) - 1
        if place < 0:
            continue
        start = job.tick(time)
        submitted = start - dispatch // TICK
        yield Run(
            operators[tuple(key)][place],
            start,
            job.tick(time + task),
            submitted,
            start,
            submitted + total // TICK,
            compute // MICROSECOND,
            memcpy // MICROSECOND,
        )


def _tasks(job: Job) -> tuple[dict[Key, list[int]], dict[Key, list[Operator]]]:
    """Starts of tasks that run operators, and these, by the capture's stream and number."""
    tasks, graph = job.capture.tasks, job.graph
    starts: dict[Key, list[int]] = {}
    operators: dict[Key, list[Operator]] = {}
    rows = np.flatnonzero(graph.operator != NONE)
    columns = (tasks.stream, tasks.number, tasks.start, graph.operator)
    for stream, number, start, place in zip(*(one[rows].tolist() for one in columns), strict=True):
        starts.setdefault((stream, number), []).append(start)
        operators.setdefault((stream, number), []).append(graph.operators[place])
    return starts, operators


def _write_records(job: Job, runs: list[Run]) -> None:
    end = np.array([one.end for one in runs]) // TICKS
    copied = end - np.array([one.memcpy for one in runs])
    start = np.array([one.start for one in runs])
    rows = job.records(
        KIND,
        "AICPU",
        {
            "dataTag": np.full(len(runs), _TAG),
            "streamId": np.array([job.graph.device_stream(one.operator.stream) for one in runs]),
            "taskId": np.array([one.operator.number for one in runs]),
            "run_start": start // TICKS,
            "run_start_counter": start,
            "compute_start": copied - np.array([one.compute for one in runs]),
            "memcpy_start": copied,
            "memcpy_end": end,
            "run_end": end,
            "run_end_counter": np.array([one.end for one in runs]),
            "thread": np.full(len(runs), _THREAD),
            "device": np.full(len(runs), job.device),
            "submit_tick": np.array([one.submitted for one in runs]),
            "schedule_tick": np.array([one.submitted for one in runs]),
            "tick_before_run": np.array([one.before for one in runs]),
            "tick_after_run": np.array([one.after for one in runs]),
            "dispatch_time": np.array([one.dispatch for one in runs]),
            "total_time": np.array([one.total for one in runs]),
        },
    )
    job.write_rows(KIND, rows)


def _lines(job: Job, run: Run) -> Iterator[Entry]:
    """The line of a kernel and that of its thread."""
    is_own = run.operator.op_type in _OWN
    line = "kernel" if is_own else "other_kernel"
    every = mindspore_catalog().grammars[KIND].lines
    if not DAYS.in_force(every[line], job.day):
        line = f"counted_{line}"
    end = run.end // TICKS
    copied = end - run.memcpy
    parts: dict[str, object] = {
        "tick": run.start // TICKS,
        "name": run.operator.op_type if is_own else run.operator.name,
        "verb": "tart",
        "run_start": run.start // TICKS,
        "run_end": end,
    }
    if not is_own:
        parts |= {"compute_start": copied - run.compute, "memcpy_start": copied, "memcpy_end": end}
    if line.startswith("counted_"):
        parts |= {"run_start_counter": run.start, "run_end_counter": run.end}
    yield Entry(line, parts, end=b"\0")
    thread = {
        "thread": f"{_THREAD:2d}",
        "device": str(job.device),
        "aicpu": " 0",
        "submit_tick": run.submitted,
        "schedule_tick": run.submitted,
        "tick_before_run": run.before,
        "tick_after_run": run.after,
        "dispatch_time": run.dispatch,
        "total_time": run.total,
        "rest": ".",
    }
    yield Entry("thread", thread, end=b"\0")


def write_fetches(job: Job) -> None:
    """Write how long each batch of prepared data was waited for, where it was recorded."""
    table = job.capture.records.get("aicpu_mi")
    if table is None:
        return
    own = np.flatnonzero(table["device"] == job.device)
    columns = (
        table["name"][own],
        job.ticks(table["start"][own]) // TICKS,
        job.ticks(table["end"][own]) // TICKS,
        table["size"][own],
    )
    job.write_lines(
        "minddata_aicpu",
        [
            Entry(
                "times_first",
                {"name": job.text(name), "start": start, "end": end, "size": size},
                end=b"\0",
            )
            for name, start, end, size in zip(*(one.tolist() for one in columns), strict=True)
        ],
    )
