"""What the parsers of a day have to find in a job, from what the device recorded of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_ref.mindspore.write.aicpu import runs_of
from ascend_ref.mindspore.write.device import TRACE
from ascend_ref.mindspore.write.framework import framework_kinds
from ascend_ref.mindspore.write.gpu import gpu_ns
from ascend_ref.mindspore.write.job import Job
from ascend_ref.mindspore.write.minddata import DataPipeline
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.mindspore.records import TICK

from .record import JobRecord, LogRecord, PointRecord

Element = dict[str, Any]


def expected_of_job(record: JobRecord, pipeline: DataPipeline) -> Element:
    """Operators, steps and AI CPU kernels that a job shows, and its queues. Times are ticks."""
    job = record.job
    return {
        "operators": [] if _lacks_tasks(record) else list(_operators(record)),
        "steps": list(_steps(record)),
        "ai_cpu": [] if "aicpu" in record.gone else _ai_cpu(job),
        **_of_pipeline(job, pipeline),
    }


def expected_of_gpu(job: Job, pipeline: DataPipeline) -> Element:
    """Steps of a GPU and queues. Times are in units of 10 ns."""
    steps = job.graph.iterations
    names = [one.of for one in job.graph.points if one.point == "begin"]
    found = []
    # Without any operator there is none that reaches a point.
    starts = _gpu_starts(job) if job.graph.points else []
    for number in range(len(starts)):
        columns = (steps.fp, steps.bp, steps.end)
        start = gpu_ns(job, starts[number]) // TICK
        fp, bp, end = (gpu_ns(job, int(one[number])) // TICK for one in columns)
        reductions = [
            {
                "stream": "ops",
                "operator": name,
                "start": gpu_ns(job, one.start) // TICK,
                "end": gpu_ns(job, one.end) // TICK,
            }
            for name, one in zip(names, steps.reductions[number], strict=False)
        ]
        found.append(
            {
                "step": number + 1,
                "start": start,
                "fp": fp,
                "bp": bp,
                "end": end,
                "reductions": reductions,
            }
        )
    return {"operators": [], "steps": found, "ai_cpu": [], **_of_pipeline(job, pipeline)}


def _gpu_starts(job: Job) -> list[int]:
    """When the steps of a GPU start. Lines of operators do not state it: the first starts at its
    forward start, the others where the operator at the end of the one before them does.
    """
    steps, tasks, graph = job.graph.iterations, job.capture.tasks, job.graph
    every: list[int] = steps.start.tolist()
    step = mindspore_catalog().grammars["gpu_step_trace"].lines["step"]
    if DAYS.in_force(step, job.day) or job.way("gpu_first_line") == "step-start":
        return every
    names = [one.name for one in graph.operators]
    last = names.index(next(one.of for one in graph.points if one.point == "end"))
    runs = tasks.start[graph.operator == last]
    started = dict(zip(steps.of(runs).tolist(), runs.tolist(), strict=True))
    return [int(steps.fp[0]), *(started[number] for number in range(len(every) - 1))]


# --- operators ------------------------------------------------------------------------------------


def _lacks_tasks(record: JobRecord) -> bool:
    tasks = framework_kinds(record.job.day)[0]
    return "hwts" in record.gone or tasks in record.gone


def _operators(record: JobRecord) -> Iterator[Element]:
    """Operators in the order of their first execution."""
    job = record.job
    known = [one for one in record.log if one.operator is not None]
    pairs = _adjacent if job.way("execution") == "adjacent" else _last_start
    found: dict[str, list[int]] = {}
    for name, ticks in pairs(known):
        found.setdefault(name, []).append(ticks)
    types = {one.name: one.op_type for one in job.graph.operators}
    for name, lengths in found.items():
        yield {
            "name": name,
            "type": types[name],
            "executions": len(lengths),
            "ticks": sum(lengths),
        }


def _adjacent(known: Sequence[LogRecord]) -> Iterator[tuple[str, int]]:
    place = 0
    while place + 1 < len(known):
        one, following = known[place], known[place + 1]
        is_pair = not one.is_end and following.is_end and one.operator == following.operator
        if is_pair:
            yield str(one.operator), following.tick - one.tick
        place += 2 if is_pair else 1


def _last_start(known: Sequence[LogRecord]) -> Iterator[tuple[str, int]]:
    starts: dict[str, int] = {}
    for one in known:
        name = str(one.operator)
        if not one.is_end:
            starts[name] = one.tick
        elif name in starts:
            yield name, one.tick - starts.pop(name)


# --- steps ----------------------------------------------------------------------------------------


def _steps(record: JobRecord) -> Iterator[Element]:
    """Steps that have a start, a forward start, a backward end and an end."""
    if record.kind in record.gone:
        return
    job = record.job
    resets = job.way("step_opening") == "behind-end"
    start_way, lost = job.way("step_start"), job.way("reductions_across_slices") == "lost"
    number, place = 0, None
    step = _Step(is_open=resets)
    for one in _of_first_job(record):
        is_first, place = place != one.place, one.place
        if is_first and lost:
            step.reductions = []
        if start_way == "forward-start" or (is_first and start_way == "end-before-in-slice"):
            step.start = step.end
        if _is_start(record, one) and not resets:
            step = _Step(is_open=True, start=step.end)
        step.reach(record, one)
        # Behind an end each record gives the row once more, until the next step starts.
        if step.end is not None:
            number += 1
            if step.is_open and step.fp is not None and step.bp is not None:
                yield {
                    "step": number,
                    "start": step.fp if step.start is None else step.start,
                    "fp": step.fp,
                    "bp": step.bp,
                    "end": step.end,
                    "reductions": list(_reductions(record, step.reductions)),
                }
            if resets:
                step = _Step(is_open=True, start=step.end)


@dataclass
class _Step:
    """A step so far; without a start it begins at its forward start."""

    is_open: bool
    start: int | None = None
    fp: int | None = None
    bp: int | None = None
    end: int | None = None
    reductions: list[PointRecord] = field(default_factory=list)

    def reach(self, record: JobRecord, one: PointRecord) -> None:
        """Take a point that is no start."""
        tags = record.tags
        if one.tag == tags.values["FP_START"]:
            self.fp = one.tick
        elif one.tag == tags.values["BP_END"]:
            self.bp = one.tick
        elif one.tag == tags.end:
            self.end = one.tick
        elif _is_reduction(record, one):
            self.reductions.append(one)


def _of_first_job(record: JobRecord) -> Iterator[PointRecord]:
    """The points without those between the start of a step of another job and the next start."""
    own: int | None = None
    is_own = True
    for one in record.points:
        if record.kind == TRACE and _is_start(record, one):
            own = own or one.tag
            is_own = one.tag == own
        if is_own:
            yield one


def _is_start(record: JobRecord, one: PointRecord) -> bool:
    tags = record.tags
    return record.kind == TRACE and (one.tag == tags.values["STEP_START"] or one.tag > tags.end)


def _is_reduction(record: JobRecord, one: PointRecord) -> bool:
    tags = record.tags
    if record.kind == TRACE:
        return not _is_start(record, one)
    return tags.values["FIRST_REDUCTION"] <= one.tag <= tags.values["LAST_REDUCTION"]


def _reductions(record: JobRecord, points: Sequence[PointRecord]) -> Iterator[Element]:
    """Pairs on a stream, where it has an even number of points, by stream."""
    names = [one.of for one in record.job.graph.points if one.point == "begin"]
    by_stream: dict[int, list[PointRecord]] = {}
    for one in points:
        by_stream.setdefault(one.stream, []).append(one)
    for stream, own in by_stream.items():
        for begin, done in zip(own[::2], own[1::2], strict=False):
            at = (begin.tag - record.tags.first) // 2
            if len(own) % 2 == 0 and done.tag - begin.tag == 1:
                yield {
                    "stream": stream,
                    "operator": names[at],
                    "start": begin.tick,
                    "end": done.tick,
                }


# --- AI CPUs and the data pipeline ----------------------------------------------------------------


def _ai_cpu(job: Job) -> list[Element]:
    return [
        {
            "name": one.operator.name,
            "total_us": one.total,
            "dispatch_us": one.dispatch,
            "start": one.start,
            "end": one.end,
        }
        for one in runs_of(job)
    ]


def _of_pipeline(job: Job, pipeline: DataPipeline) -> Element:
    sizes = [one.size for one in pipeline.queue]
    table = job.capture.records.get("aicpu_mi")
    fetched = [] if table is None else table["size"][table["device"] == job.device].tolist()
    queue = {"steps": len(sizes), "empty": sizes.count(0), "full": sizes.count(pipeline.capacity)}
    return {
        "fetches": {"steps": len(fetched), "empty": fetched.count(0)},
        "queue": queue,
        "pipeline": [
            {
                "operator": one.number,
                "type": one.op_type,
                "average": sum(one.sizes) / len(one.sizes) if one.sizes else None,
                "length": one.length or None,
            }
            for one in pipeline.operators
        ],
    }
