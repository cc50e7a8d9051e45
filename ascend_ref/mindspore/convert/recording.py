"""What was found of a device as a capture, the form that all writers take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers, Kernels, Origin, Steps, Switches, Tasks, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.spill import Spill, sorted_rows

from ..parse.operator import UNKNOWN
from .communication import communication_of, task_kind
from .found import CpuRun, Fetch, Found, Iteration, Operator, Part, Runs
from .operators import AI_CPU, kinds_of, type_of
from .same_tasks import rows_of_log

_KINDS = ("KERNEL_AICORE", "KERNEL_AICPU")
"""What the runtime calls tasks of AI Cores and of AI CPUs (raw/vocabularies.yaml)."""
_BEFORE = 1
"""ns from the start of a session to its first record: exporters leave out what starts with it."""
_NO_GRAPH = 0
"""In place of the number of a graph that is not known."""

Columns = dict[str, npt.NDArray[np.int64]]


def capture_of(found: Found, device: int, spill: Spill) -> Capture:
    """The recording of a device. spill: holds long columns."""
    texts = Texts()
    operators, ran = _with_cpu_operators(found)
    parts = [one for collective in found.collectives for one in collective.parts]
    runs, part = _together(found.runs, _columns(found.cpu_runs, ran), parts, spill)
    kinds = texts.numbers([UNKNOWN, *(_KINDS[one.processor == AI_CPU] for one in operators)])
    of_parts = texts.numbers([task_kind(one) for one in parts] or [UNKNOWN])
    models = np.array([NONE, *(one.model for one in operators)], np.int64)
    start = spill.made(lambda one: one + found.zero, runs.start)
    end = spill.made(lambda one: one + found.zero, runs.end)
    nothing = spill.made(lambda one: np.full(len(one), NONE), start)
    rows = spill.rows(len(start))
    tasks = Tasks(
        start=start,
        end=end,
        device=spill.made(lambda one: np.full(len(one), device), start),
        stream=runs.stream,
        number=runs.task,
        context=nothing,
        model=spill.made(lambda one: models[one + 1], runs.operator),
        connection=nothing,
        identity=rows,
        kind=spill.made(
            lambda one, own: np.where(own == NONE, kinds[one + 1], of_parts[own]),
            *(runs.operator, part),
        ),
    )
    named = spill.where(lambda one: one != NONE, runs.operator)
    kernels = Kernels(spill.taken(rows, named), spill.taken(runs.operator, named))
    records = {
        "aicpu": _cpu_records(found, texts),
        "aicpu_mi": _fetch_records(found.fetches, found.zero, texts),
        **_step_records(found.iterations, _graph(operators), found.zero),
    }
    return Capture(
        origin=_origin(device, tasks, found),
        switches=Switches(
            level=1, cpu=False, aic_metrics=None, record_shapes=False, aicpu=bool(found.cpu_runs)
        ),
        texts=texts,
        tasks=tasks,
        kernel_kinds=kinds_of(operators, texts),
        kernels=kernels,
        **communication_of(found.collectives, device, _tasks_of(part, spill), texts),
        steps=_steps(found.iterations, found.zero),
        records={
            name: {"device": np.full(len(next(iter(table.values()))), device), **table}
            for name, table in records.items()
            if len(next(iter(table.values())))
        },
    )


def _with_cpu_operators(found: Found) -> tuple[list[Operator], list[int]]:
    """Operators, with those that AI CPUs alone name; and the number of each run of AI CPUs."""
    operators = list(found.operators)
    numbers = {one.name: place for place, one in enumerate(operators)}
    ran = []
    for run in found.cpu_runs:
        if run.name not in numbers:
            numbers[run.name] = len(operators)
            # Tables of AI CPUs have types alone.
            operators.append(Operator(run.name, type_of(run.name) or run.name, AI_CPU))
        place = numbers[run.name]
        operators[place] = replace(operators[place], processor=AI_CPU)
        ran.append(place)
    return operators, ran


def _columns(cpu: Sequence[CpuRun], operators: Sequence[int]) -> Mapping[str, Sequence[int]]:
    return {
        "start": [one.start for one in cpu],
        "end": [one.end for one in cpu],
        "stream": [one.stream for one in cpu],
        "task": [one.task for one in cpu],
        "operator": operators,
        "part": [NONE] * len(cpu),
    }


def _together(
    runs: Runs, cpu: Mapping[str, Sequence[int]], parts: Sequence[Part], spill: Spill
) -> tuple[Runs, Integers]:
    """What ran on all kinds of processors in order of start, and which part of a collective each
    is.
    """
    own = spill.made(lambda one: np.full(len(one), NONE), runs.start)
    if not cpu["start"] and not parts:
        return runs, own
    columns: Mapping[str, Sequence[int]] = {
        "start": [one.start for one in parts],
        "end": [one.end for one in parts],
        "stream": [one.stream for one in parts],
        "task": [one.task for one in parts],
        "operator": [NONE] * len(parts),
        "part": range(len(parts)),
    }
    others = {name: np.array([*cpu[name], *values], np.int64) for name, values in columns.items()}
    logged = {"part": own, **{name: getattr(runs, name) for name in others if name != "part"}}
    row = rows_of_log(runs, others, spill)
    for name in ("operator", "part"):
        logged[name] = _filled(logged[name], row, others[name], spill)
    alone = row == NONE
    every = {name: spill.joined(logged[name], others[name][alone]) for name in columns}
    order = sorted_rows(spill, every["start"])
    ordered = {name: spill.taken(values, order) for name, values in every.items()}
    part = ordered.pop("part")
    return Runs(**ordered), part


def _filled(column: Integers, row: Integers, values: Integers, spill: Spill) -> Integers:
    """The column with these values in these rows, where it has none."""
    found = row != NONE
    if not found.any():
        return column
    order = np.argsort(row[found])
    rows, known = row[found][order], values[found][order]

    def with_values(one: Integers, place: Integers) -> Integers:
        at = np.minimum(np.searchsorted(rows, place), len(rows) - 1)
        return np.where((rows[at] == place) & (one == NONE), known[at], one)

    return spill.made(with_values, column, spill.rows(len(column)))


def _tasks_of(part: Integers, spill: Spill) -> Integers:
    """The row of each part of a collective, in the order of the parts."""
    rows = spill.where(lambda one: one != NONE, part)
    tasks = np.empty(len(rows), np.int64)
    tasks[spill.taken(part, rows)] = rows
    return tasks


def _origin(device: int, tasks: Tasks, found: Found) -> Origin:
    """Files of each device carry its number, which is all that is known of its rank."""
    times = [int(one) for column in (tasks.start[:1], _latest(tasks)) for one in column]
    for one in found.iterations:
        known = [tick for tick in (one.start, one.fp, one.end) if tick != NONE]
        times += [found.zero + min(known), found.zero + max(known)]
    return Origin(
        rank=device,
        ranks=0,
        devices=(device,),
        chip="",
        pid=0,
        host_name="",
        host_uid=0,
        start=min(times, default=found.zero) - _BEFORE,
        end=max(times, default=found.zero),
    )


def _latest(tasks: Tasks) -> Integers:
    return np.array([tasks.end.max()]) if len(tasks) else tasks.end


def _graph(operators: Sequence[Operator]) -> int:
    """The graph of all operators; that of several is not known."""
    graphs = {one.model for one in operators} - {NONE}
    return graphs.pop() if len(graphs) == 1 else _NO_GRAPH


def _steps(iterations: Sequence[Iteration], zero: int) -> Steps:
    start = [one.fp if one.start == NONE else one.start for one in iterations]
    return Steps(
        number=_column([one.number for one in iterations]),
        start=zero + _column(start),
        end=zero + _column([one.end for one in iterations]),
    )


def _step_records(iterations: Sequence[Iteration], graph: int, zero: int) -> Mapping[str, Columns]:
    start = [one.fp if one.start == NONE else one.start for one in iterations]
    numbers = _column([one.number for one in iterations])
    sums = [(one.number, *pair) for one in iterations for pair in one.reductions]
    number, begin, end = (_column([one[place] for one in sums]) for place in range(3))
    return {
        "step_trace": {
            "start": zero + _column(start),
            "fp_start": _times_known(zero, [one.fp for one in iterations]),
            "bp_end": _times_known(zero, [one.bp for one in iterations]),
            "end": zero + _column([one.end for one in iterations]),
            "model": np.full(len(iterations), graph),
            "iteration": numbers,
        },
        "step_trace_reduce": {
            "start": zero + begin,
            "end": zero + end,
            "model": np.full(len(begin), graph),
            "iteration": number,
        },
    }


def _times_known(zero: int, times: Sequence[int]) -> Integers:
    column = _column(times)
    return np.where(column == NONE, NONE, column + zero)


def _cpu_records(found: Found, texts: Texts) -> Columns:
    runs = found.cpu_runs

    def length(values: Sequence[int]) -> Integers:
        return np.maximum(_column(values), 0)

    start, end = _column([one.start for one in runs]), _column([one.end for one in runs])
    return {
        "time": found.zero + start,
        "compute": length([one.compute for one in runs]),
        "memcpy": length([one.memcpy for one in runs]),
        "task": end - start,
        "dispatch": length([one.dispatch for one in runs]),
        "total": length([one.total for one in runs]),
        "stream": _column([one.stream for one in runs]),
        "number": _column([one.task for one in runs]),
        "name": texts.numbers([one.name for one in runs]),
    }


def _fetch_records(fetches: Sequence[Fetch], zero: int, texts: Texts) -> Columns:
    return {
        "start": zero + _column([one.start for one in fetches]),
        "end": zero + _column([one.end for one in fetches]),
        "size": _column([one.size for one in fetches]),
        "name": texts.numbers([one.name for one in fetches]),
    }


def _column(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
