"""The analyser of steps: the parts of one, or one part of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ascend_ref.cli.suggest import unknown
from ascend_ref.raw.damage import Damage
from ascend_spec.mindspore import REDUCTION_BEGIN, REDUCTION_END, TICKS

from .condition import Condition, WrongCondition
from .files import Folder
from .ranks import mapping

TABLE = "step_trace_raw"
POINTS = "step_trace_point_info"
NUMBER = "step_num"
PER_MS = TICKS * 1e3
HEADER_AND_AVERAGE = 2
"""Rows of the file that are no steps, the first and the last."""

DIGITS = 4
PERCENT_DIGITS = 2

Point: TypeAlias = "dict[str, str | float]"
Step: TypeAlias = "Mapping[str, float]"


def answer_steps(folder: Folder, condition: Condition) -> dict[str, Any]:
    """The size, what is asked for, the summary and the operators at points.

    Raises :class:`WrongCondition` for a step or a column that is not there.
    """
    rows = folder.rows(TABLE)
    header, steps = (rows[0], rows[1:]) if rows else ([], [])
    size = max(len(steps) - 1, 0)
    step, column = condition.switch("step_id"), condition.switch("proc_name")
    if step is not None and step > size:
        expected = f"step_id: the number of the step must be in [0, {size}], got {step}"
        raise WrongCondition(expected, "step")
    if header and column is not None and column not in header:
        raise WrongCondition(unknown("column", column, header), "argument-value")
    answer: dict[str, Any] = {"size": size}
    is_real = condition.switch("time_type") == "realtime"
    if condition.switch("mode") == "proc":
        if column is None:
            raise WrongCondition("proc_name is needed where mode is proc", "filter")
        asked = steps[:-1] if step is None else steps[step - 1 : step or None]
        values = [_times(folder, header, row, is_real).get(column, 0) for row in asked]
        answer["info"] = {column: values}
    else:
        row = steps[(step or 0) - 1] if steps else None
        times = None if row is None else _times(folder, header, row, is_real)
        answer["training_trace_graph"] = [] if times is None else list(_graph(header, times))
    answer["summary"] = _summary(folder, header, steps, size)
    answer["point_info"] = _points(folder, step)
    return answer


def _times(folder: Folder, header: Sequence[str], row: Sequence[str], is_real: bool) -> Step:
    """The times of a row by column, in ms or in 10 ns; a row may be shorter than the header."""
    found = {}
    for name, text in zip(header, row, strict=False):
        if name == NUMBER:
            continue
        try:
            found[name] = round(int(text) / PER_MS, DIGITS) if is_real else int(text)
        except (ValueError, OverflowError):
            path = folder.find(TABLE) or folder.path
            folder.damage.append(
                Damage(path, f"{name} of step {row[0]} is no number: {text!r:.60}")
            )
    return found


def _graph(header: Sequence[str], step: Step) -> Iterator[list[Point]]:
    start, first = step.get("start_point", 0), step.get("fp_point", 0)
    yield [_point("", 0, step.get("total", 0))]
    parts = [_point("iteration_interval", 0, step.get("iteration_interval", 0))]
    if "fp" in step:
        parts.append(_point("fp", first - start, step["fp"]))
    else:
        last = step.get("bp_point", 0)
        parts.append(_point("fp_and_bp", first - start, step.get("fp_and_bp", 0)))
        parts.append(_point("tail", last - start, step.get("tail", 0)))
    yield parts
    for reductions in _reductions(header, step).values():
        yield list(_reduction_line(reductions, start, first, step.get("end_point", 0)))


def _reductions(
    header: Sequence[str], step: Step
) -> dict[str, list[tuple[float, float, float, str]]]:
    """By stream: start, end, length and name of each, by end."""
    found: dict[str, list[tuple[float, float, float, str]]] = {}
    for name in header:
        if not name.startswith("stream_") or name.endswith("point"):
            continue
        times = [step.get(f"{name}{end}", 0) for end in (REDUCTION_BEGIN, REDUCTION_END, "")]
        if all(times):
            start, end, length = times
            found.setdefault(name.split("_", 2)[1], []).append((start, end, length, name))
    return {stream: sorted(ones, key=lambda one: one[1]) for stream, ones in found.items()}


def _reduction_line(
    reductions: Sequence[tuple[float, float, float, str]], start: float, first: float, end: float
) -> Iterator[Point]:
    """Gaps, which have no name, and reductions in turn, from the forward start to the end."""
    behind = first
    for begin, until, length, name in reductions:
        yield _point("", behind - start, begin - behind)
        yield _point(name, begin - start, length)
        behind = until
    yield _point("", behind - start, end - behind)


def _point(name: str, start: float, length: float) -> Point:
    if start < 0 or length < 0:
        return {}
    return {"name": name, "start": round(start, DIGITS), "duration": round(length, DIGITS)}


def _summary(
    folder: Folder, header: Sequence[str], steps: Sequence[Sequence[str]], size: int
) -> dict[str, Any]:
    """The average of the steps, and what part of the whole each of its parts is."""
    if not steps:
        return {}
    average = _times(folder, header, steps[-1], is_real=True)
    total = average.get("total", 0)
    parts = ("fp_and_bp", "tail") if "fp_and_bp" in header else ("fp",)
    summary: dict[str, Any] = {"total_time": total}
    for name in ("iteration_interval", *parts):
        time = average.get(name, 0)
        summary[name] = time
        share = round(time / total * 100, PERCENT_DIGITS) if total else 0
        summary[f"{name}_percent"] = f"{share}%"
    return {**summary, "total_steps": size}


def _points(folder: Folder, step: int | None) -> Any:
    """The operators at points; of a list with one for each step those of the step, or the last."""
    points = folder.document(POINTS)
    if isinstance(points, list):
        place = (step or 0) - 1
        points = points[place] if -len(points) <= place < len(points) else None
    return mapping(points)
