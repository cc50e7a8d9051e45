"""Steps of what msprof exports, and the operators at which the first of them has its points."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_spec.mindspore import REDUCTION_BEGIN, REDUCTION_END

from .exported import (
    ITERATION,
    ITERATIONS,
    NOTHING,
    TO_MS,
    ZERO,
    ExportedOperators,
    Floats,
    columns_in,
    exported_operators,
    files_of_export,
)
from .operators import PER_MS
from .run import Run
from .step_rows import AVERAGE
from .step_trace import POINTS, STEPS
from .tables import write_document, write_rows

NO_MODEL = 4_294_967_295
"""Model of iterations and operators of no graph."""

FIRST = 1
"""The iteration by which parsers judge the others."""

COLLECTIVE = "HCCL"
"""Task type of collectives in exports of iterations."""

TIMES = ("fp", "bp", "end", "length", "fp_to_bp", "tail", "interval")
WHOLE = ("step", "model")

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Iterations:
    """The rows of step_trace. Times in ms. ``rest``: columns behind those that are read, by their
    place; ``is_of_each``: whether msprof exported each iteration for itself.
    """

    step: Integers
    model: Integers
    times: dict[str, Floats]
    rest: dict[int, Floats]
    is_of_each: bool

    def __len__(self) -> int:
        return len(self.step)

    def taken(self, rows: npt.NDArray[np.bool_]) -> Iterations:
        """The same with some rows."""
        times = {what: one[rows] for what, one in self.times.items()}
        rest = {place: one[rows] for place, one in self.rest.items()}
        return Iterations(self.step[rows], self.model[rows], times, rest, self.is_of_each)


def write_exported_steps(run: Run) -> None:
    """Write ``step_trace_raw`` and ``step_trace_point_info``, where there is an iteration."""
    found, operators = exported_iterations(run), exported_operators(run)
    if found is None or operators is None:
        return
    steps = steps_of_graphs(run, found, operators)
    if len(steps):
        _write_steps(run, steps, operators)
    _write_points(run, of_graphs(run, found), operators)


@lru_cache(maxsize=1)
def exported_iterations(run: Run) -> Iterations | None:
    """The iterations of all graphs; ``None`` where no step_trace with its columns is at hand."""
    for file in files_of_export(run, ITERATIONS):
        rows = _rows(file.path, run.damage)
        columns = columns_in(run, ITERATIONS, file.path, rows[0][1]) if rows else None
        if columns is None:
            continue
        with few(run.damage) as damage:
            return _iterations(file.path, rows, columns, ITERATION in dict(file.parts), damage)
    return None


def steps_of_graphs(run: Run, found: Iterations, operators: ExportedOperators) -> Iterations:
    """The iterations that are steps (exported_steps)."""
    graphs = np.unique(operators.export.numbers["model"])
    own = of_graphs(run, found)
    if len(own) == len(found) or len(graphs) == 1:
        return own
    return found.taken(found.model == NO_MODEL)


def of_graphs(run: Run, found: Iterations) -> Iterations:
    """The iterations without those of no graph, where parsers leave these out."""
    is_every = found.is_of_each or run.way("exported_steps") == "every"
    return found if is_every else found.taken(found.model != NO_MODEL)


def _rows(path: Path, damage: Damaged) -> list[tuple[int, list[str]]]:
    """The rows of a small file with their lines, the header first; they may differ in length."""
    found: list[tuple[int, list[str]]] = []
    try:
        with path.open(encoding="utf-8", errors="backslashreplace", newline="") as file:
            reader = csv.reader(file)
            found += ((reader.line_num, row) for row in reader if row)
    except (OSError, csv.Error) as error:
        damage.append(Damage(path, str(error), kind=ITERATIONS))
    return found


def _iterations(
    path: Path,
    rows: Sequence[tuple[int, list[str]]],
    columns: dict[str, str],
    is_of_each: bool,
    damage: Damaged,
) -> Iterations:
    header = rows[0][1]
    places = {what: header.index(columns[what]) for what in (*WHOLE, *TIMES)}
    behind = range(len(places), len(header)) if is_of_each else range(0)
    found: list[list[Any]] = []
    for line, row in rows[1:]:
        filled = [ZERO if one == NOTHING else one for one in row]
        filled += [ZERO] * (len(header) - len(row))
        try:
            whole = [_whole(filled[places[one]]) for one in WHOLE]
            cells = [places[one] for one in TIMES] + list(behind)
            found.append([*whole, *(_finite(filled[at]) for at in cells)])
        except (ValueError, OverflowError) as problem:
            damage.append(Damage(path, f"line {line}: {problem}", kind=ITERATIONS))
    numbers = [np.array([row[at] for row in found], np.int64) for at in range(len(WHOLE))]
    times = np.array([row[len(WHOLE) :] for row in found], np.float64)
    times = times.reshape(len(found), len(TIMES) + len(behind)) * TO_MS
    named = {what: times[:, at] for at, what in enumerate(TIMES)}
    rest = {place: times[:, len(TIMES) + at] for at, place in enumerate(behind)}
    return Iterations(numbers[0], numbers[1], named, rest, is_of_each)


def _whole(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 62:
        raise ValueError(f"{text!r:.40} is no number of an iteration or a graph")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not abs(number) < 1 << 60:
        raise ValueError(f"{text!r:.40} is no time")
    return number


def _write_steps(run: Run, steps: Iterations, operators: ExportedOperators) -> None:
    path = run.path(STEPS)
    if path is None:
        return
    times = steps.times
    columns = [
        (times["fp"] - times["interval"]) * PER_MS,
        times["end"] * PER_MS,
        (times["length"] + times["interval"]) * PER_MS,
        *(times[one] * PER_MS for one in ("fp", "bp", "interval", "fp_to_bp", "tail")),
    ]
    header = [one.name for one in run.columns(STEPS) if one.each is None]
    for name, start, duration in _reductions(steps, operators):
        header += [name, f"{name}{REDUCTION_BEGIN}", f"{name}{REDUCTION_END}"]
        columns += [duration * PER_MS, start * PER_MS, (start + duration) * PER_MS]
    whole = [steps.step, *(one.astype(np.int64) for one in columns)]
    rows: list[list[object]] = [
        list(row) for row in zip(*(one.tolist() for one in whole), strict=True)
    ]
    if len(rows) > 1:
        rows.append([AVERAGE, *np.mean(np.stack(whole, 1), axis=0)[1:].astype(np.int64).tolist()])
    else:
        # The average is the row itself (M57).
        rows = [[AVERAGE, *rows[0][1:]]] * 2
    write_rows(run, path, chain([header], rows))


def _reductions(
    steps: Iterations, operators: ExportedOperators
) -> Iterator[tuple[str, Floats, Floats]]:
    """Name, starts and lengths of each pair of columns behind those that are read."""
    first = operators.export.iteration == FIRST
    is_collective = np.array([one == COLLECTIVE for one in operators.texts("core")], np.bool_)
    rows = np.flatnonzero(first & is_collective).astype(np.int64)
    keys = zip(*(operators.numbers(one, rows) for one in ("stream", "task")), strict=True)
    names = [
        f"stream_{stream}_{task}_{operators.names[name]}"
        for (stream, task), name in zip(keys, operators.name[rows].tolist(), strict=True)
    ]
    places = list(steps.rest)
    for number, place in enumerate(places[::2]):
        if place + 1 in steps.rest:
            name = names[number] if number < len(names) else f"hccl_{place}"
            yield name, steps.rest[place], steps.rest[place + 1]


def _write_points(run: Run, iterations: Iterations, operators: ExportedOperators) -> None:
    """Name the operators at the points of the first iteration of the first graph that has both."""
    times = iterations.times
    is_first = (iterations.step == FIRST) & (times["fp"] != 0) & (times["bp"] != 0)
    if not is_first.any() or not len(operators):
        return
    row = int(np.flatnonzero(is_first)[0])
    order = np.argsort(operators.start, kind="stable")
    start = operators.start[order]
    forward = np.searchsorted(start, times["fp"][row], side="right") - 1
    end = start + operators.duration[order]
    backward = np.searchsorted(end, times["bp"][row], side="left") - 1
    names = [operators.names[int(operators.name[order[one]])] for one in (forward, backward)]
    write_document(
        run, POINTS, dict(zip((one.name for one in run.columns(POINTS)), names, strict=True))
    )
