"""``ascend_cluster_analyse``: what a rank spent each step on, of its operators and reductions."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import REDUCTION_BEGIN

from .operators import PER_MS
from .run import Run
from .step_rows import AVERAGE
from .tables import write_rows

TABLE = "ascend_cluster_analyse"
OPERATORS, CPU, STEPS = "output_timeline_data", "aicpu_intermediate", "step_trace_raw"

RECEIVING = "Receive-op"
"""In the names of operators that take from another stage."""
US_PER_MS = 1e3
DIGITS = 4
LEAST = 2
"""Executions from which on there are steps."""
_OF_PIPELINE = 5
_OF_OTHERS = 2
"""Columns of runs with operators that receive, and of others."""

Times = npt.NDArray[np.float64]


class Spans(NamedTuple):
    """Names, starts and ends in ms, in order of start."""

    names: Sequence[str]
    start: Times
    end: Times

    def chosen(self, which: npt.NDArray[np.bool_]) -> Spans:
        """Some of them."""
        names = [one for one, taken in zip(self.names, which, strict=True) if taken]
        return Spans(names, self.start[which], self.end[which])


class Merged(NamedTuple):
    """Spans that do not touch, in order."""

    start: Times
    end: Times

    @property
    def between(self) -> Merged:
        """The gaps between them."""
        return Merged(self.end[:-1], self.start[1:])


def write_cluster(run: Run) -> None:
    """Write the steps, where it is known how ranks share the work, and there are reductions."""
    operators, steps = run.made(OPERATORS), run.made(STEPS)
    is_written = run.holds(mindspore_catalog().tables[TABLE])
    if run.of_rank is None or not is_written or operators is None or steps is None:
        return
    summed = _sorted(list(_reductions(steps)))
    own = list(executions_in(operators))
    if not summed.names or not own:
        return
    bounds = step_bounds(own)
    if not bounds:
        return
    cpu = run.made(CPU)
    computing = _sorted([*own, *(() if cpu is None else _cpu_kernels(cpu))])
    rows = list(step_times(bounds, computing, summed))
    shared = run.of_rank.shared
    path = run.path(TABLE, parallel=shared.mode, stages=shared.stages, ranks=run.of_rank.ranks)
    if path is None:
        return
    averaged = rows[1:] if run.way("cluster_average") == "without-first" else list(rows)
    if averaged:
        rows.append([sum(column) / len(averaged) for column in zip(*averaged, strict=True)])
    receives = any(RECEIVING in name for name in (*computing.names, *summed.names))
    count = _OF_PIPELINE if receives else _OF_OTHERS
    header = [one.name for one in run.columns(TABLE)][:count]
    cells = ([round(one, DIGITS) for one in row[:count]] for row in rows)
    write_rows(run, path, [header, *cells])


def step_bounds(operators: Sequence[tuple[str, float, float]]) -> list[tuple[float, float]]:
    """Start and length of each step in ms: up to the operator that ends last, from the one that
    follows it. Before that was seen the start is 0.
    """
    ordered = sorted(operators, key=lambda one: one[1])
    names = [one[0] for one in ordered]
    if len(names) < LEAST:
        return []
    last = names[-1]
    first = names[(names.index(last) + 1) % len(names)]
    start = 0.0
    found = []
    for name, begin, length in ordered:
        if name == first:
            start = begin
        if name == last:
            found.append((start, begin - start + length))
    return found


def step_times(
    bounds: Sequence[tuple[float, float]], computing: Spans, summed: Spans
) -> Iterator[list[float]]:
    """The five times of each step: computing, communicating alone, the stage, receiving alone, and
    communicating alone but for that.
    """
    every = _joined(computing, summed)
    receives = np.array([RECEIVING in one for one in every.names], np.bool_)
    collective = summed.chosen(np.array([RECEIVING not in one for one in summed.names], np.bool_))
    gaps = merged(computing).between
    alone = _by_step(bounds, overlap(gaps, merged(summed)))
    without = merged(every.chosen(~receives)).between
    receiving = _by_step(bounds, overlap(without, merged(every.chosen(receives))))
    others = _by_step(bounds, overlap(gaps, merged(collective)))
    for (_, length), own, received, other in zip(bounds, alone, receiving, others, strict=True):
        yield [length - own, own, length - received, received, other]


def merged(spans: Spans) -> Merged:
    """Spans without overlaps; those that touch are one."""
    if not len(spans.start):
        return Merged(spans.start, spans.end)
    reached = np.maximum.accumulate(spans.end)
    begins = np.flatnonzero(np.r_[True, spans.start[1:] > reached[:-1]])
    ends = np.r_[begins[1:], len(reached)] - 1
    return Merged(spans.start[begins], reached[ends])


def overlap(one: Merged, other: Merged) -> Merged:
    """What is in both."""
    first = np.searchsorted(other.end, one.start, "right")
    last = np.maximum(np.searchsorted(other.start, one.end, "left"), first)
    place = np.repeat(np.arange(len(one.start)), last - first)
    within = np.arange(len(place)) - np.repeat(
        np.cumsum(last - first) - (last - first), last - first
    )
    at = first[place] + within
    start = np.maximum(one.start[place], other.start[at])
    end = np.minimum(one.end[place], other.end[at])
    return Merged(start[start < end], end[start < end])


def _by_step(bounds: Sequence[tuple[float, float]], spans: Merged) -> list[float]:
    """The sum in each step; a span behind a step is of the next one, and none behind the last."""
    found = [0.0] * len(bounds)
    place = 0
    for start, end in zip(spans.start.tolist(), spans.end.tolist(), strict=True):
        if start > bounds[place][0] + bounds[place][1]:
            place += 1
            if place == len(bounds):
                break
        found[place] += end - start
    return found


def executions_in(path: Path) -> Iterator[tuple[str, float, float]]:
    """Name, start and length in ms of each execution in ``output_timeline_data``."""
    with path.open(encoding="utf-8") as file:
        next(file, None)
        for line in file:
            name, _, start, length = line.rstrip("\n").rsplit(",", 3)
            yield name, float(start), float(length)


def _cpu_kernels(path: Path) -> Iterator[tuple[str, float, float]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # Texts of kernels come from raw files as they are.
            with suppress(ValueError, TypeError):
                start, length = float(row["run_start"]), float(row["execution_time"])
                yield row["op_type"], start / US_PER_MS, length


def _reductions(path: Path) -> Iterator[tuple[str, float, float]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    header = rows[0]
    for row in rows[1:]:
        cells = dict(zip(header, row, strict=False))
        if row[0] == AVERAGE:
            continue
        for name in header:
            begin, length = cells.get(f"{name}{REDUCTION_BEGIN}"), cells.get(name)
            if begin and length and int(begin) and int(length):
                yield name, int(begin) / PER_MS, int(length) / PER_MS


def _sorted(spans: Sequence[tuple[str, float, float]]) -> Spans:
    ordered = sorted(spans, key=lambda one: one[1])
    start = np.array([one[1] for one in ordered], np.float64)
    length = np.array([one[2] for one in ordered], np.float64)
    return Spans([one[0] for one in ordered], start, start + length)


def _joined(one: Spans, other: Spans) -> Spans:
    start = np.concatenate([one.start, other.start])
    order = np.argsort(start, kind="stable")
    names = [*one.names, *other.names]
    ends = np.concatenate([one.end, other.end])[order]
    return Spans([names[place] for place in order.tolist()], start[order], ends)
