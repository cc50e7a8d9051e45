"""``step_trace_raw`` and ``step_trace_point_info`` of a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from ascend_ref.raw.damage import Damaged, few

from ..raw.lines import Line, read_slices
from .operator import last_part
from .run import Run
from .step_rows import Reduction
from .step_trace import POINTS, point_info, rows_of, save
from .steps import Step
from .tables import write_document

KIND = "gpu_step_trace"
STREAM = "ops"
"""In place of a stream, of which nothing is said."""

ALL_REDUCE = "AllReduce"
PER_TICK = 10
"""Nanoseconds of a unit of times in intermediate files."""

Pair: TypeAlias = tuple[int, int]

_PAIR = re.compile(r"([0-9]{1,20}),([0-9]{1,20})")
_REDUCTION = re.compile(r"(\S+),([0-9]{1,20}),([0-9]{1,20})")


class Collective(NamedTuple):
    """An operator that communicates at a step. ``name``: nothing where only its times count."""

    name: str
    times: Pair


class GpuStep(NamedTuple):
    """A step with what communicates in it."""

    step: Step
    collectives: Sequence[Collective]


class Operator(NamedTuple):
    """A line of an operator: its times at each step."""

    line: Line
    name: str
    times: Sequence[Pair]


def write_gpu_steps(run: Run) -> None:
    """Write both files, of steps the one only where there is one."""
    slices = run.slices(KIND)
    if slices is None or not run.reads(KIND):
        return
    operators: list[Operator] = []
    steps: list[GpuStep] = []
    info: list[object] = []
    with few(run.damage) as stated:
        for line in read_slices(slices, KIND, run.damage):
            if line.line == "step":
                steps.append(_step_of(line, stated))
                names = [line.parts["fp"], line.parts["bp"]]
                info.append(point_info(run.columns(POINTS), names, True))
            else:
                operators.append(_operator(line, stated))
        if operators and steps:
            text = "an operator between steps; only steps are taken"
            stated.append(operators[0].line.damaged(text))
        elif operators:
            steps = list(steps_of_operators(operators, run.way("gpu_first_line"), stated))
    _write(run, steps)
    if info:
        write_document(run, POINTS, info)
    elif len(operators) > 2:
        first = int(run.way("gpu_first_line") == "step-start")
        names = [one.name for one in operators[first : first + 2]]
        write_document(run, POINTS, point_info(run.columns(POINTS), names, True))


def steps_of_operators(
    operators: Sequence[Operator], first_line: str, damage: Damaged
) -> Iterator[GpuStep]:
    """Steps of lines of operators: that of the forward start, of the backward end, of the end, and
    those that communicate. ``first_line``: the way of gpu_first_line.
    """
    needed = 4 if first_line == "step-start" else 3
    if len(operators) < needed:
        text = f"{len(operators)} operators, where steps need {needed}"
        damage.append(operators[-1].line.damaged(text))
        return
    lines = _of_equal_length(operators, needed, damage)
    if first_line == "step-start":
        starts = [start for start, _ in lines[0]]
        lines = lines[1:]
    else:
        starts = [start for start, _ in chain(lines[0][:1], lines[2])]
    forward, backward, end, *others = lines
    for number, start in enumerate(starts[: len(forward)]):
        step = Step(start, forward[number][0], backward[number][1], end[number][1])
        yield GpuStep(step, [Collective("", times[number]) for times in others])


def _of_equal_length(
    operators: Sequence[Operator], needed: int, damage: Damaged
) -> list[Sequence[Pair]]:
    """The times of the last steps that all of the needed operators have; others that lack some are
    left out.
    """
    count = min(len(one.times) for one in operators[:needed])
    found = []
    for number, one in enumerate(operators):
        if len(one.times) != count:
            text = f"{len(one.times)} pairs of times, where others have {count}"
            damage.append(one.line.damaged(text))
        if number < needed or len(one.times) >= count:
            found.append(one.times[len(one.times) - count :])
    return found


def _write(run: Run, steps: Sequence[GpuStep]) -> None:
    names: list[str] = []
    named = run.way("gpu_reduction_names") == "operators"
    current: Sequence[Collective] = ()

    def reductions(step: Step) -> Iterator[Reduction]:
        for index, one in enumerate(current):
            # Parsers look the name up among those of all steps so far.
            name = names[index] if named and one.name else ALL_REDUCE
            yield Reduction(STREAM, index, name, *one.times)

    rows = rows_of(run, reductions)
    for step, current in steps:
        names += [one.name for one in current]
        rows.add(step)
    save(run, rows, True)


def _operator(line: Line, damage: Damaged) -> Operator:
    times = []
    for text in line.parts["pairs"].split():
        found = _PAIR.fullmatch(text)
        if found is None:
            damage.append(line.damaged(f"no pair of times: {text[:60]!r}"))
        else:
            times.append((int(found[1]), int(found[2])))
    return Operator(line, line.parts["operator"], times)


def _step_of(line: Line, damage: Damaged) -> GpuStep:
    start, forward, backward, end = (
        int(line.parts[f"{name}_time"]) // PER_TICK for name in ("start", "fp", "bp", "end")
    )
    collectives = []
    for text in line.parts["reductions"].split():
        found = _REDUCTION.fullmatch(text)
        if found is None:
            damage.append(line.damaged(f"no operator that communicates: {text[:60]!r}"))
        else:
            times = int(found[2]) // PER_TICK, int(found[3]) // PER_TICK
            collectives.append(Collective(last_part(found[1]), times))
    return GpuStep(Step(start, forward, backward, end), collectives)
