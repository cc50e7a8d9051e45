"""The graph of a capture: its operators, each with the task that runs it in every iteration.

The scheduler numbers the tasks of a graph once, so that each iteration has the same numbers; a
capture numbers tasks as they are launched. Operators are those that ran: kernels of one name on a
stream, the first of each iteration being the same one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.transit import task_rows
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.mindspore import ALONE_FROM, LAST_BEFORE_FLIP

from .iterations import Iterations
from .names import PROFILING, Part, collective_type, differentiates, full_name

MOST_OPERATORS = 20_000
"""Of a graph; numbers from ALONE_FROM on mean tasks of any stream on some days."""

FIRST_UNIQUE = 30_001
"""The first number of a task where numbers are unique among all streams, as in a real capture of
2020 (mindspore-profiler 7).
"""
STREAMS_ABOVE = 516
"""By how much the streams of the device are above those of the framework there."""


What = Literal["kernel", "collective", "point"]
PointName = Literal["model_start", "fp", "bp", "end", "model_end", "begin", "done"]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a graph. ``kind``: row of KernelKinds, NONE for what is no kernel.

    ``stream``, ``number``: by which the framework knows its task. ``core``: where a kernel runs.
    """

    name: str
    op_type: str
    what: What
    stream: int
    kind: int = NONE
    core: str = ""
    blocks: int = 0
    number: int = NONE


@dataclass(frozen=True, slots=True)
class StepPoint:
    """A point of an iteration. ``task``: the operator that reaches it; ``of``: the full name of the
    operator that it is at. ``reduction``: number of the sum of gradients, NONE for other points.
    """

    point: PointName
    task: Operator
    of: str
    reduction: int = NONE


@dataclass(frozen=True)
class Graph:
    """``operators`` in the order of the framework, ``points`` in that of an iteration.

    ``operator``: place in ``operators`` of each row of Tasks, NONE for tasks of none; ``number``:
    of its task, as the device logs it, ``stream`` likewise, which is ``above`` that of the
    framework.
    """

    operators: tuple[Operator, ...]
    points: tuple[StepPoint, ...]
    iterations: Iterations
    operator: Integers = field(repr=False)
    number: Integers = field(repr=False)
    stream: Integers = field(repr=False)
    above: int

    @property
    def kernels(self) -> list[Operator]:
        """The operators that are kernels."""
        return [one for one in self.operators if one.what == "kernel"]

    @property
    def model(self) -> int:
        """Number of the graph, NONE without one."""
        return int(self.iterations.capture.tasks.model.max(initial=NONE))

    def device_stream(self, stream: int) -> int:
        """What the device calls a stream of the framework."""
        return stream + self.above

    @classmethod
    def of(cls, capture: Capture, device: int, day: str) -> Graph:
        """The graph that a device ran, with numbers as on a day.

        Raises ``ValueError`` for one of more than :data:`MOST_OPERATORS`.
        """
        iterations = Iterations.read(capture, device)
        runs = _Runs.read(capture, device, iterations)
        operators, points = _laid_out(runs, iterations)
        if len(operators) > MOST_OPERATORS:
            raise ValueError(
                f"a graph of {len(operators):,} operators; expected at most {MOST_OPERATORS:,}"
            )
        numbered = _numbered(operators, is_unique(day))
        place = {one.name: at for at, one in enumerate(numbered)}
        points = [replace(one, task=numbered[place[one.task.name]]) for one in points]
        at_key = np.array([place[one.name] for one in runs.operators] or [0], np.int64)
        operator = np.where(runs.key == NONE, NONE, at_key[runs.key])
        numbers = _numbers(capture, numbered, operator, is_unique(day))
        above = STREAMS_ABOVE if is_unique(day) else 0
        streams = capture.tasks.stream + above
        return cls(tuple(numbered), tuple(points), iterations, operator, numbers, streams, above)


def is_unique(day: str) -> bool:
    """Whether numbers of tasks are unique among all streams, as those of the text files are."""
    return DAYS.in_force(mindspore_catalog().files["task_desc_info"], day)


@dataclass(frozen=True)
class _Runs:
    """Which operator each row of Tasks runs.

    ``operators``: kernels in order of their first run. ``key``: the place there, NONE for others.
    """

    operators: list[Operator]
    key: Integers
    first: list[int]

    @classmethod
    def read(cls, capture: Capture, device: int, iterations: Iterations) -> _Runs:
        tasks, texts, kinds = capture.tasks, capture.texts.all, capture.kernel_kinds
        rows = task_rows(tasks)[capture.kernels.task]
        own = tasks.device[rows] == device
        rows, kind = rows[own], capture.kernels.kind[own]
        order = np.argsort(rows, kind="stable")  # tasks stand in order of start
        rows, kind = rows[order], kind[order]
        key = np.full(len(tasks), NONE)
        known: dict[tuple[int, int, int], int] = {}
        counted: Counter[tuple[int, int, int]] = Counter()
        found: list[Operator] = []
        first: list[int] = []
        for row, one, stream, name, iteration in zip(
            rows.tolist(),
            kind.tolist(),
            tasks.stream[rows].tolist(),
            kinds.name[kind].tolist(),
            iterations.of(tasks.start[rows]).tolist(),
            strict=True,
        ):
            counted[stream, name, iteration] += 1
            same = stream, name, counted[stream, name, iteration]
            if same not in known:
                known[same] = len(found)
                op_type, core = texts[int(kinds.op_type[one])], texts[int(kinds.core[one])]
                blocks = int(kinds.blocks[one])
                found.append(Operator("", op_type, "kernel", stream, one, core, blocks))
                first.append(row)
            key[row] = known[same]
        found = _named(found, first, capture, iterations)
        return cls(found, key, first)


def _named(
    operators: Sequence[Operator], first: Sequence[int], capture: Capture, iterations: Iterations
) -> list[Operator]:
    tasks, texts = capture.tasks, capture.texts.all
    bounds: tuple[int, int] | None = None
    if iterations.is_training:
        bp = int(iterations.bp[0])
        forward = [
            int(tasks.start[row])
            for one, row in zip(operators, first, strict=True)
            if tasks.end[row] <= bp and differentiates(one.op_type)
        ]
        last = max((int(one) for one in tasks.start[first] if one < bp), default=bp)
        bounds = min(forward, default=last), bp
    found = []
    for number, (one, row) in enumerate(zip(operators, first, strict=True), 1):
        part: Part = "inference"
        if bounds is not None:
            start = int(tasks.start[row])
            part = "forward" if start < bounds[0] else "backward"
            part = "update" if start >= bounds[1] else part
        cell = texts[int(capture.kernel_kinds.name[one.kind])]
        found.append(replace(one, name=full_name(part, one.op_type, number, cell)))
    return found


def _laid_out(runs: _Runs, iterations: Iterations) -> tuple[list[Operator], list[StepPoint]]:
    """The operators with those that communicate and those that reach points, which stand next to
    what they are at.
    """
    operators = list(runs.operators)
    if not len(iterations) or not operators:
        return operators, []
    tasks = iterations.capture.tasks
    numbers = iter(range(len(operators) + 1, 1 << 31))
    start = tasks.start[runs.first]
    end = tasks.end[runs.first]
    stream = operators[0].stream

    def point(point: PointName, at: str, stream: int, reduction: int = NONE) -> StepPoint:
        name = full_name("point", PROFILING, next(numbers))
        return StepPoint(point, Operator(name, PROFILING, "point", stream), at, reduction)

    fp = operators[_nearest(start, int(iterations.fp[0]))].name
    bp = operators[_nearest(end, int(iterations.bp[0]))].name
    points = [point("model_start", operators[0].name, stream), point("fp", fp, stream)]
    sums = []
    for number, one in enumerate(iterations.reductions[0]):
        op_type = collective_type(_kind(iterations.capture, one.collective))
        name = full_name("reduction", op_type, next(numbers))
        summing = Operator(name, op_type, "collective", one.stream)
        both = [point(which, name, one.stream, number) for which in ("begin", "done")]
        sums.append((one.start, [both[0].task, summing, both[1].task]))
        points += both
    last = operators[-1].name
    points += [point("bp", bp, stream), point("end", last, stream)]
    points.append(point("model_end", last, stream))
    placed = {one.point: one for one in points if one.reduction == NONE}
    found = [placed["model_start"].task]
    for operator, begun in zip(operators, start.tolist(), strict=True):
        while sums and sums[0][0] <= begun:
            found += sums.pop(0)[1]
        found += [placed["fp"].task] * (operator.name == fp)
        found.append(operator)
        found += [placed["bp"].task] * (operator.name == bp)
    # Those at the end are directly behind the last operator that they name.
    found += [placed["end"].task, placed["model_end"].task]
    for _, some in sums:
        found += some
    return found, points


def _kind(capture: Capture, collective: int) -> str:
    return capture.texts[int(capture.collectives.kind[collective])]


def _nearest(times: Integers, time: int) -> int:
    return int(np.argmin(np.abs(times - time)))


def _numbered(operators: Sequence[Operator], unique: bool) -> list[Operator]:
    found = []
    counted: Counter[int] = Counter()
    for place, one in enumerate(operators):
        counted[one.stream] += 1
        number = FIRST_UNIQUE + place if unique else counted[one.stream]
        found.append(replace(one, number=number))
    return found


def _numbers(
    capture: Capture, operators: Sequence[Operator], operator: Integers, unique: bool
) -> Integers:
    """The number of each row of Tasks, as the device logs it."""
    tasks = capture.tasks
    counted = Counter(one.stream for one in operators)
    number = np.empty(len(tasks), np.int64)
    for stream in np.unique(tasks.stream).tolist():
        others = np.flatnonzero((tasks.stream == stream) & (operator == NONE))
        first, last = (1, ALONE_FROM - 1) if unique else (counted[stream] + 1, LAST_BEFORE_FLIP)
        number[others] = first + np.arange(len(others)) % (last - first + 1)
    known = np.flatnonzero(operator != NONE)
    numbers = np.array([one.number for one in operators] or [0], np.int64)
    number[known] = numbers[operator[known]]
    return number
