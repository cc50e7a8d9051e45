"""Operators and their types of what msprof exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat

import numpy as np

from .exported import (
    STATISTIC,
    TO_MS,
    ExportedOperators,
    exported_operators,
    read_export,
)
from .operator import Row, last_part
from .run import Run
from .tables import write_rows

DETAIL, TYPES = "aicore_intermediate_detail", "aicore_intermediate_type"
AICPU, FRAMEWORK, TIMELINE = "aicpu_intermediate", "framework_raw", "output_timeline_data"

AI_CPU, AI_CORE = "AI_CPU", "AI_CORE"
"""Task types of op_summary whose rows have a file of their own."""

TENSORS = ("shapes", "data_types", "formats")


def write_exported_operators(run: Run) -> None:
    """Write the files of operators, each where it has a row."""
    operators = exported_operators(run)
    if operators is not None and len(operators):
        _write(run, DETAIL, _details(operators))
    _write(run, TYPES, _types(run))
    if operators is not None and len(operators):
        _write(run, AICPU, _kernels(operators))
        _write(run, FRAMEWORK, _framework(run, operators))
        _write_timeline(run, operators)


def exported_framework(run: Run) -> Iterator[Row]:
    """The rows of ``framework_raw``."""
    operators = exported_operators(run)
    if operators is not None and len(operators):
        columns = [one.name for one in run.columns(FRAMEWORK)]
        for row in _framework(run, operators):
            yield dict(zip(columns, row, strict=True))


def _write(run: Run, table: str, rows: Iterable[Sequence[object]]) -> None:
    found = list(rows)
    path = run.path(table) if found else None
    if path is not None:
        header = [one.name for one in run.columns(table)]
        write_rows(run, path, chain([header], found))


def _details(operators: ExportedOperators) -> Iterator[Sequence[object]]:
    """The average time of each name, and where its first row ran."""
    counts = np.bincount(operators.name)
    sums = np.bincount(operators.name, weights=operators.duration)
    columns = (sums / counts).tolist(), counts.tolist(), operators.texts("core", operators.first)
    yield from zip(operators.names, *columns, strict=True)


def _types(run: Run) -> Iterator[Sequence[object]]:
    """The time of each type, and its part of all."""
    statistic = read_export(run, STATISTIC, ("total",), ("count",))
    if statistic is None or not len(statistic):
        return
    types, place = np.unique(
        np.array(statistic.texts["op_type"].to_pylist(), object), return_inverse=True
    )
    times = statistic.numbers["total"] * TO_MS
    sums, total = np.bincount(place, weights=times), np.sum(times)
    counts = np.bincount(place, weights=statistic.numbers["count"]).astype(np.int64)
    shares = sums / total if total else np.zeros(len(sums))
    columns = types, sums, counts, shares
    yield from zip(*(one.tolist() for one in columns), strict=True)


def _rows_of(operators: ExportedOperators, core: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    is_one = np.array([one == core for one in operators.texts("core")], np.bool_)
    return np.flatnonzero(is_one).astype(np.int64)


def _kernels(operators: ExportedOperators) -> Iterator[Sequence[object]]:
    """Kernels of AI CPUs: time in all, of waiting, of running, start and end."""
    rows = _rows_of(operators, AI_CPU)
    duration, wait = operators.duration[rows], operators.wait[rows]
    total, start = duration + wait, operators.start[rows]
    times = (one.tolist() for one in (total, wait, duration, start, start + total))
    yield from zip(range(1, len(rows) + 1), operators.texts("op_type", rows), *times, strict=True)


def _framework(run: Run, operators: ExportedOperators) -> Iterator[Sequence[object]]:
    """The first row of each name, in the order of the columns of the day."""
    rows = operators.first
    names = list(operators.names)
    types, cores = operators.texts("op_type", rows), operators.texts("core", rows)
    tasks, streams, models = (operators.numbers(one, rows) for one in ("task", "stream", "model"))
    short, first = list(map(last_part, names)), [one.split("/", 1)[0] for one in names]
    information = list(_information(run, operators))
    is_renamed = "task_type" in [one.name for one in run.columns(FRAMEWORK)]
    called = (names, names, short, types) if is_renamed else (names, short, types)
    columns = (tasks, streams, repeat(0), *called, first, information, models, cores)
    yield from zip(*columns, strict=False)


def _information(run: Run, operators: ExportedOperators) -> Iterator[str]:
    """op_info of the first row of each name."""
    rows = operators.first
    sides = [
        [operators.texts(f"{side}_{one}", rows) for one in TENSORS] for side in ("input", "output")
    ]
    is_left_out = run.way("exported_without_shapes") == "nothing"
    for inputs, outputs in zip(
        zip(*sides[0], strict=True), zip(*sides[1], strict=True), strict=True
    ):
        if is_left_out and not inputs[0]:
            yield ""
            continue
        found = {
            f"{side}_{number}": tensor
            for side, cells in (("Input", inputs), ("Output", outputs))
            for number, tensor in enumerate(tensors_of(*cells))
        }
        yield json.dumps(found)


def tensors_of(shapes: str, data_types: str, formats: str) -> Iterator[dict[str, str]]:
    """Tensors of cells whose parts stand between semicolons; none without a first shape."""
    dimensions = shapes.replace('"', "").split(";")
    if not dimensions[0]:
        return
    types, layouts = (one.replace("_", "").split(";") for one in (data_types, formats))
    for number, shape in enumerate(dimensions):
        yield {"format": _at(layouts, number), "data_type": _at(types, number), "shape": shape}


def _at(texts: Sequence[str], number: int) -> str:
    return texts[number] if number < len(texts) else ""


def _write_timeline(run: Run, operators: ExportedOperators) -> None:
    """Rows of AI Cores, as they stand in op_summary."""
    rows = _rows_of(operators, AI_CORE)
    path = run.path(TIMELINE) if len(rows) else None
    if path is None:
        return
    names = [operators.names[one] for one in operators.name[rows].tolist()]
    columns = operators.start[rows].tolist(), operators.duration[rows].tolist()
    cells = zip(names, operators.numbers("stream", rows), *columns, strict=True)
    write_rows(run, path, chain([run.form(TIMELINE, "header").split(",")], cells))
