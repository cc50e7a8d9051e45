"""What the collector of the device logs: tasks, and the points of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.raw.records import DEVICE_MAGIC

from .graph import StepPoint
from .job import Job

HWTS, TRACE, TRACK = "hwts", "training_trace", "ts_track"

JOB_NUMBER = 10_010
"""Tag of the start of a step, as in a real capture."""

COUNTED = 16
"""Records are counted up to it."""
_POINT = 10
"""The rptType of points of steps (mindspore-profiler 2.3)."""
_NAMES = {
    "model_start": "MODEL_START",
    "fp": "FP_START",
    "bp": "BP_END",
    "end": "ITERATION_END",
    "model_end": "MODEL_END",
}


class Event(NamedTuple):
    """A point that was reached. ``time``: Unix ns."""

    tag: int
    point: StepPoint
    iteration: int
    time: int


def write_log(job: Job) -> None:
    """Write the log of tasks: two records of each, in order of time."""
    tasks, graph = job.capture.tasks, job.graph
    own = np.flatnonzero(tasks.device == job.device)
    row, is_end, time = in_order(tasks.start[own], tasks.end[own])
    rows = job.records(
        HWTS,
        "HWTS_TASK",
        {
            "type": is_end,
            "cnt": np.arange(len(row)) % COUNTED,
            "magic": np.full(len(row), DEVICE_MAGIC),
            "task_id": graph.number[own][row],
            "syscnt": job.ticks(time),
            "stream_id": graph.stream[own][row],
        },
    )
    job.write_rows(HWTS, rows)


def in_order(start: Integers, end: Integers) -> tuple[Integers, Integers, Integers]:
    """Starts and ends of tasks in order of time: row, whether it is an end (1), and ns.

    What ends at a time is logged before what starts then; a task without a length is logged start
    first, and between them.
    """
    count = len(start)
    row = np.concatenate([np.arange(count), np.arange(count)])
    is_end = np.concatenate([np.zeros(count, np.int64), np.ones(count, np.int64)])
    time = np.concatenate([start, end])
    is_empty = (start == end)[row]
    order = np.lexsort((is_end, row, np.where(is_empty, 1, 2 - 2 * is_end), time))
    return row[order], is_end[order], time[order]


def write_points(job: Job) -> list[str]:
    """Write the points of steps; what of them no file holds, a phrase each."""
    kind = TRACK if job.writes(TRACK) else TRACE
    events, lost = points_of(job, kind)
    if not events:
        return lost
    columns = {
        "tag": np.array([one.tag for one in events]),
        "task": np.array([one.point.task.number for one in events]),
        "stream": np.array([job.graph.device_stream(one.point.task.stream) for one in events]),
        "time": job.ticks(np.array([one.time for one in events])),
    }
    if kind == TRACE:
        names = {"tag": "tag_id", "task": "task_id", "stream": "stream_id", "time": "sys_count"}
        found = {names[name]: column for name, column in columns.items()}
        job.write_rows(TRACE, job.records(TRACE, "TRAINING_TRACE", found))
        return lost
    names = {"tag": "tagId", "task": "taskId", "stream": "streamId", "time": "timestamp"}
    rows = job.records(
        TRACK,
        "TS_TRACK",
        {
            **{names[name]: column for name, column in columns.items()},
            "mode": np.ones(len(events), np.int64),
            "rptType": np.full(len(events), _POINT),
            "bufSize": np.full(len(events), 40),
            "indexId": np.array([one.iteration + 1 for one in events]),
            "modelId": np.full(len(events), job.graph.model),
        },
    )
    job.write_rows(TRACK, rows)
    return lost


def points_of(job: Job, kind: str) -> tuple[list[Event], list[str]]:
    """The points of all iterations, each by time, and what tags cannot say."""
    tags = Tags(job, kind)
    steps, events = job.graph.iterations, []
    lost = tags.lost
    for place in range(len(steps)):
        found = list(_events(job, tags, place))
        # At one time what ends comes before what starts, and the end of the step is the last.
        found.sort(key=lambda one: (one.time, *_rank(one.point)))
        events += found
    return events, lost


class Tags:
    """The tags of points in a kind of file on the day of a job."""

    def __init__(self, job: Job, kind: str) -> None:
        members = mindspore_catalog().vocabularies[f"{kind}_tags"].members
        names = {str(one.name): one for one in members if DAYS.in_force(one, job.day)}
        self.values = {name: int(one.value) for name, one in names.items()}
        self.first = self.values.get("FIRST_REDUCTION", self.values["BP_END"] + 1)
        self.end = self.values["ITERATION_END"]
        self.start = JOB_NUMBER
        count = max((len(one) for one in job.graph.iterations.reductions), default=0)
        late = self.values.get("LATE_ITERATION_END")
        last = self.values.get("LAST_REDUCTION", self.end - 1)
        if self.first + 2 * count - 1 > last and late is not None:
            # A tag above the late end would start a step.
            self.end, self.start, last = late, self.values["STEP_START"], late - 1
        self.held = (last - self.first + 1) // 2
        over = count - self.held
        self.lost = [f"{over:,} sums of gradients of each step, for want of tags"] * (over > 0)

    def of(self, point: StepPoint) -> int | None:
        """The tag of a point; ``None`` where there is none."""
        if point.point in ("begin", "done"):
            tag = self.first + 2 * point.reduction + (point.point == "done")
            return tag if point.reduction < self.held else None
        if point.point == "end":
            return self.end
        if point.point == "model_start" and "STEP_START" in self.values:
            return self.start
        return self.values.get(_NAMES[point.point])


def _events(job: Job, tags: Tags, place: int) -> Iterator[Event]:
    steps = job.graph.iterations
    reductions = steps.reductions[place]
    times = {
        "model_start": int(steps.start[place]),
        "fp": int(steps.fp[place]),
        "bp": int(steps.bp[place]),
        "end": int(steps.end[place]),
        "model_end": int(steps.end[place]),
    }
    for point in job.graph.points:
        tag = tags.of(point)
        if tag is None or point.reduction >= len(reductions):
            continue
        if point.point in ("begin", "done"):
            one = reductions[point.reduction]
            time = one.start if point.point == "begin" else one.end
        else:
            time = times[point.point]
        yield Event(tag, point, place, time)


def _rank(point: StepPoint) -> tuple[int, int]:
    order = ("model_start", "fp", "bp", "done", "begin", "end", "model_end")
    return order.index(point.point), point.reduction
