"""``step_trace_raw`` and ``step_trace_point_info`` of a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ascend_ref.raw.damage import Damage
from ascend_spec.mindspore import TableColumn

from .framework import framework_of
from .operator import Framework, key_of
from .point_operators import PointOperators
from .point_tags import Tags
from .points import OneJob, Points, points_of
from .run import Run
from .step_rows import Reduction, StepRows
from .steps import Point, Segmentation, Step, steps_of
from .tables import write_document, write_rows

STEPS = "step_trace_raw"
POINTS = "step_trace_point_info"

INIT = "Default/InitDataSetQueue"
"""What an operator begins with that makes parsers leave out the first step (mindspore-profiler
3.3).
"""

TRAINING = "Gradients"
"""What an operator of a training begins with (run_mode)."""

MOST_SHOWN = 5
"""Tasks that are named of many."""

NameOf: TypeAlias = Callable[[Point], str]
"""The full name of the operator of a point; empty where it is not known."""


def write_steps(run: Run) -> None:
    """Write both files, of steps the one only where there is one."""
    points = points_of(run)
    if points is None:
        return
    framework = framework_of(run) or Framework({}, {}, ())
    operators = operators_at(run, points, framework)
    rows = rows_of(run, pairing_of(run, points, operators))
    skip = any(name.startswith(INIT) for name in framework.names.values())
    for number, step in enumerate(steps_in(run, points)):
        if number or not skip:
            rows.add(step)
    is_training = run.way("run_mode") == "training" or any(
        name.startswith(TRAINING) for name in framework.names.values()
    )
    save(run, rows, is_training)
    named = {} if run.way("point_names") == "unnamed" else operators.by_tag
    tags = points.tags.names
    names = [named.get(tags["FP_START"], ""), named.get(tags["BP_END"], "")]
    write_document(run, POINTS, point_info(run.columns(POINTS), names, is_training))


def steps_in(run: Run, points: Points) -> Iterator[Step]:
    """The steps of a device, without the points of other jobs, which are stated as damage."""
    ways = Segmentation(
        run.way("step_opening"), run.way("step_start"), run.way("reductions_across_slices")
    )
    job = OneJob()
    found = job.of(points.read(run.damage)) if "STEP_START" in points.tags.names else None
    yield from steps_of(found or points.read(run.damage), ways)
    _state_foreign(run, points, job)


def pairing_of(
    run: Run, points: Points, operators: PointOperators
) -> Callable[[Step], Iterator[Reduction]]:
    """How the reductions of a step are found."""
    pairs = run.way("reduction_pairs")
    return lambda step: reductions_of(step, pairs, points.tags, operators.name_of_reduction)


def rows_of(run: Run, reductions: Callable[[Step], Iterator[Reduction]]) -> StepRows:
    """Rows by the facts of the day, still none."""
    return StepRows(
        run.columns(STEPS), run.way("step_columns"), run.way("step_average"), reductions
    )


def reductions_of(step: Step, pairs: str, tags: Tags, name_of: NameOf) -> Iterator[Reduction]:
    """The reductions of a step. ``pairs``: the way of reduction_pairs."""
    for stream, points in step.reductions.items():
        if len(points) % 2:
            continue
        for index, (first, second) in enumerate(zip(points[::2], points[1::2], strict=True)):
            if pairs == "by-tags":
                is_pair = second.tag - first.tag == 1 and tags.is_begin(first.tag)
            else:
                is_pair = pairs == "all" or name_of(first) == name_of(second)
            if is_pair:
                yield Reduction(stream, index, name_of(first), first.time, second.time)


def save(run: Run, rows: StepRows, is_training: bool) -> None:
    """Write the rows, where there are any."""
    path = run.path(STEPS) if rows.header else None
    if path is not None:
        write_rows(run, path, rows.table(is_training))


def point_info(
    columns: Sequence[TableColumn], names: Sequence[str], is_training: bool
) -> Mapping[str, str]:
    """The operators of the points of a step by their columns."""
    found = zip(columns, names, strict=True)
    return {one.name: name for one, name in found if is_training or one.mode != "training"}


def operators_at(run: Run, points: Points, framework: Framework) -> PointOperators:
    """Which operators reach the points."""
    way = run.way("task_key")
    if run.way("point_operators") == "by-tag":
        names = framework.points
        if run.way("late_reduction_names") == "start-and-end":
            names = points.tags.early_names(names)
        return PointOperators(names, {}, lambda point: "")
    operators = PointOperators.of_tasks(
        points.read([]),
        framework.names,
        points.tags,
        lambda point: key_of(way, point.stream, point.task),
        by_task=run.way("reduction_pairs") == "by-operators",
    )
    if operators.unknown:
        path = run.capture.files[points.kind].slices[0].path
        shown = ", ".join(sorted(operators.unknown)[:MOST_SHOWN])
        text = f"{len(operators.unknown):,} tasks of points are in no task_desc_info: {shown}"
        run.damage.append(Damage(path, text, kind=points.kind))
    return operators


def _state_foreign(run: Run, points: Points, job: OneJob) -> None:
    for other, (first, count) in job.foreign.items():
        text = f"{count:,} records of steps of the job {other}, which is not {job.job}"
        path = points.paths[first.place]
        run.damage.append(Damage(path, text, max(first.offset, 0), points.kind))
