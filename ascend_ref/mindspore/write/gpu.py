"""What MindSpore's profiler leaves of the steps of a GPU (mindspore-profiler 2.7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.raw.lines import Entry
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.mindspore.records import TICK

from .graph import Operator, StepPoint
from .iterations import Reduction
from .job import Job

KIND, FETCHES = "gpu_step_trace", "gpu_getnext"

FIRST_NS = 387_530_000_000_000
"""What the clock of a GPU shows as the collection starts, in ns."""


def write_gpu_steps(job: Job) -> None:
    """Write the points of steps: a line of each step, or before 2021-06-08 one of each operator.

    Raises ``ValueError`` for a day before there was such a file.
    """
    if not job.writes(KIND):
        since = mindspore_catalog().files[KIND].since
        raise ValueError(f"no GPU was profiled on {job.day}; expected a day from {since} on")
    if not job.graph.points:
        return
    step = mindspore_catalog().grammars[KIND].lines["step"]
    lines = _steps(job) if DAYS.in_force(step, job.day) else _operators(job)
    job.write_lines(KIND, lines)


def write_gpu_fetches(job: Job) -> None:
    """Write how long each batch of prepared data was waited for, where it was recorded."""
    table = job.capture.records.get("aicpu_mi")
    if table is None:
        return
    own = np.flatnonzero(table["device"] == job.device)
    columns = (table[name][own].tolist() for name in ("name", "start", "end", "size"))
    job.write_lines(
        FETCHES,
        [
            Entry("fetch", {"name": job.text(name), "start": start, "end": end, "size": size})
            for name, start, end, size in zip(*columns, strict=True)
        ],
    )


def _steps(job: Job) -> Iterator[Entry]:
    steps, points = job.graph.iterations, _points(job)
    sums = [one.of for one in job.graph.points if one.point == "begin"]
    for place in range(len(steps)):
        times = (steps.start, steps.fp, steps.bp, steps.end)
        parts: dict[str, object] = {
            key: value
            for name, column in zip(("start", "fp", "bp", "end"), times, strict=True)
            for key, value in (
                (name, points[name].of),
                (f"{name}_time", gpu_ns(job, int(column[place]))),
            )
        }
        parts["reductions"] = "".join(
            f" {name},{gpu_ns(job, one.start)},{gpu_ns(job, one.end)}"
            for name, one in zip(sums, steps.reductions[place], strict=False)
        )
        yield Entry("step", parts)


def _operators(job: Job) -> Iterator[Entry]:
    steps, graph = job.graph.iterations, job.graph
    times = {"start": steps.start, "fp": steps.fp, "bp": steps.bp, "end": steps.end}
    own = {one.name: one for one in graph.operators}
    for name, point in _points(job).items():
        if name == "start" and job.way("gpu_first_line") != "step-start":
            continue
        runs = _runs(job, own[point.of])
        pairs = [_pair(name, runs.get(n), one) for n, one in enumerate(times[name].tolist())]
        yield _line(job, point.of, pairs)
    sums = [one.of for one in graph.points if one.point == "begin"]
    for number, operator in enumerate(sums):
        found: list[Reduction] = [some[number] for some in steps.reductions if number < len(some)]
        yield _line(job, operator, [(one.start, one.end) for one in found])


def _pair(point: str, run: tuple[int, int] | None, time: int) -> tuple[int, int]:
    """Start and end of the operator at a point that is reached at its start, or at its end."""
    start, end = run or (time, time)
    return (time, end) if point in ("start", "fp") else (start, time)


def _line(job: Job, operator: str, pairs: list[tuple[int, int]]) -> Entry:
    text = "".join(f"{gpu_ns(job, a) // TICK},{gpu_ns(job, b) // TICK} " for a, b in pairs)
    return Entry("operator", {"operator": operator, "pairs": text})


def _points(job: Job) -> dict[str, StepPoint]:
    """The points of steps by the parts of a line."""
    names = {"model_start": "start", "fp": "fp", "bp": "bp", "end": "end"}
    return {names[one.point]: one for one in job.graph.points if one.point in names}


def _runs(job: Job, operator: Operator) -> dict[int, tuple[int, int]]:
    """When an operator ran in each iteration: start and end, Unix ns."""
    tasks, graph = job.capture.tasks, job.graph
    rows = np.flatnonzero(graph.operator == graph.operators.index(operator))
    iteration = graph.iterations.of(tasks.start[rows]).tolist()
    times = zip(tasks.start[rows].tolist(), tasks.end[rows].tolist(), strict=True)
    return dict(zip(iteration, times, strict=True))


def gpu_ns(job: Job, time: int) -> int:
    """What the clock of a GPU shows at a Unix time, ns."""
    return time - job.capture.origin.start + FIRST_NS
