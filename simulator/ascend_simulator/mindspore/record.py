"""What the device recorded of a job, record by record, computed from the capture alone.

Faults take records away, or change them; :mod:`.expected` says what is left to be found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ascend_ref.capture.model import NONE
from ascend_ref.mindspore.write.device import TRACE, TRACK, Tags
from ascend_ref.mindspore.write.job import Job


class LogRecord(NamedTuple):
    """A start or an end of a task. ``operator``: its full name, ``None`` for a task of none."""

    operator: str | None
    is_end: bool
    tick: int


class PointRecord(NamedTuple):
    """A point of a step. ``tag``: as the file has it. ``place``: number of the slice."""

    tag: int
    stream: int
    tick: int
    iteration: int
    place: int = 0


@dataclass
class JobRecord:
    """The records of a job in the order of their files, and which of its files are gone."""

    job: Job
    log: list[LogRecord]
    points: list[PointRecord]
    tags: Tags
    kind: str
    gone: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, job: Job) -> JobRecord:
        """What is recorded of a job without any fault."""
        kind = TRACK if job.writes(TRACK) else TRACE
        tags = Tags(job, kind)
        return cls(job, _log(job), _points(job, tags), tags, kind)


def _log(job: Job) -> list[LogRecord]:
    """Starts and ends by time; ends first, and a task without a length between them."""
    tasks, graph = job.capture.tasks, job.graph
    found: list[tuple[tuple[int, int, int, bool], LogRecord]] = []
    for row in np.flatnonzero(tasks.device == job.device).tolist():
        start, end, place = int(tasks.start[row]), int(tasks.end[row]), int(graph.operator[row])
        name = None if place == NONE else graph.operators[place].name
        for time, is_end in ((start, False), (end, True)):
            rank = 1 if start == end else 0 if is_end else 2
            record = LogRecord(name, is_end, job.tick(time))
            found.append(((time, rank, row, is_end), record))
    return [record for _, record in sorted(found, key=lambda one: one[0])]


def _points(job: Job, tags: Tags) -> list[PointRecord]:
    """The points of each step by time; at one time what ends comes first, the step's end last."""
    steps, above = job.graph.iterations, job.graph.above
    found: list[PointRecord] = []
    if not job.graph.points:
        return found
    stream = job.graph.operators[0].stream + above
    for number in range(len(steps)):
        times = (steps.start, steps.fp, steps.bp, steps.end)
        start, fp, bp, end = (int(one[number]) for one in times)
        values = tags.values
        opening = tags.start if "STEP_START" in values else values["MODEL_START"]
        own = [(start, 0, opening), (fp, 1, values["FP_START"]), (bp, 2, values["BP_END"])]
        own.append((end, 5, tags.end))
        every = [(time, rank, 0, tag, stream) for time, rank, tag in own]
        if "MODEL_END" in values:
            every.append((end, 6, 0, values["MODEL_END"], stream))
        for at, one in enumerate(steps.reductions[number][: tags.held]):
            first = tags.first + 2 * at
            every.append((one.start, 4, at, first, one.stream + above))
            every.append((one.end, 3, at, first + 1, one.stream + above))
        found += [
            PointRecord(tag, on, job.tick(time), number)
            for time, _, _, tag, on in sorted(every, key=lambda one: one[:3])
        ]
    return found
