"""What msprof exports of a device, read as parsers do: the newest file, or each iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.raw.damage import Damage, few
from ascend_ref.raw.series import Slice
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS
from ascend_spec.mindspore import ReadColumn

from ..sheet import Cells, Texts, flags, indexes, parse_numbers, read_cells
from .run import Run

OPERATORS, STATISTIC, ITERATIONS = "op_summary", "op_statistic", "step_trace"
ITERATION = "iteration"
"""Part of the names of files of one iteration."""
TIMESTAMP = "timestamp"

NOTHING, ZERO = "N/A", "0"
"""A cell without a value, and what parsers take it for."""

TO_MS = 1e-3
"""From the us of msprof."""

MEASURES = ("duration", "wait")
WHOLE = ("model", "task", "stream")
TIMES = ("start", *MEASURES)
OPERATIONS = ("cube", "vector")

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Export:
    """Rows of the files of one kind, by what parsers take a column for.

    ``numbers``: times in us, as they stand there. ``iteration``: that of the file of each row, 0
    for a file of all.
    """

    texts: Mapping[str, Texts]
    numbers: Mapping[str, npt.NDArray[Any]]
    iteration: Integers

    def __len__(self) -> int:
        return len(self.iteration)


@dataclass(frozen=True)
class ExportedOperators:
    """The rows of op_summary. Times in ms, but ``start`` before 2023-08-16 (exported_start).

    ``names``: of operators, in order; ``name``: of each row, a place there; ``first``: the first
    row of each. ``cube``, ``vector``: operations, ``None`` where they were not counted.
    """

    export: Export
    names: Sequence[str]
    name: Integers
    first: Integers
    start: Floats
    duration: Floats
    wait: Floats
    cube: Floats | None
    vector: Floats | None

    def __len__(self) -> int:
        return len(self.export)

    def texts(self, what: str, rows: Integers | None = None) -> list[str]:
        """Cells of all rows, or of some."""
        column = self.export.texts[what]
        found: list[str] = (column if rows is None else column.take(indexes(rows))).to_pylist()
        return found

    def numbers(self, what: str, rows: Integers) -> list[int]:
        """Whole numbers of some rows."""
        found: list[int] = self.export.numbers[what][rows].tolist()
        return found

    @property
    def full_names(self) -> list[str]:
        """The name of each row."""
        return [self.names[one] for one in self.name.tolist()]


@lru_cache(maxsize=1)
def exported_operators(run: Run) -> ExportedOperators | None:
    """The operators of a run; ``None`` where there is no op_summary with its columns."""
    export = read_export(run, OPERATORS, (*TIMES, *OPERATIONS), WHOLE)
    if export is None:
        return None
    coded = export.texts["name"].dictionary_encode()
    known = coded.dictionary.to_pylist()
    order = sorted(range(len(known)), key=known.__getitem__)
    ranks = np.empty(len(known), np.int64)
    ranks[order] = np.arange(len(known))
    name = ranks[coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)]
    _, first = np.unique(name, return_index=True)
    is_late = run.way("exported_start") == "thousandth"
    numbers = export.numbers
    start = numbers["start"] * (TO_MS if is_late else 1e-6)
    duration, wait = (numbers[one] * TO_MS for one in MEASURES)
    cube, vector = (numbers.get(one) for one in OPERATIONS)
    names = [known[one] for one in order]
    return ExportedOperators(export, names, name, first, start, duration, wait, cube, vector)


def read_export(
    run: Run, kind: str, numbers: Sequence[str], whole: Sequence[str] = ()
) -> Export | None:
    """The rows of a kind of exported files; ``None`` where none with all columns is at hand.

    numbers, whole: columns of numbers, and of whole ones. Rows with a cell that is none are left
    out, which is stated as damage.
    """
    parts = list(_parts(run, kind, numbers, whole))
    if not parts:
        return None
    shared = set.intersection(*({*one.texts, *one.numbers} for one in parts))
    texts = {
        name: pa.concat_arrays([one.texts[name] for one in parts])
        for name in parts[0].texts
        if name in shared
    }
    values = {
        name: np.concatenate([one.numbers[name] for one in parts])
        for name in parts[0].numbers
        if name in shared
    }
    return Export(texts, values, np.concatenate([one.iteration for one in parts]))


def files_of_export(run: Run, kind: str) -> list[Slice]:
    """The files of a kind that parsers read: those of all iterations, or the newest."""
    slices = run.slices(kind)
    if slices is None or not run.reads(kind):
        return []
    every = list(slices)
    if ITERATION in dict(every[0].parts):
        return sorted(every, key=_by_iteration)
    return [max(every, key=lambda one: dict(one.parts)[TIMESTAMP])]


def _by_iteration(one: Slice) -> tuple[int, int]:
    parts = dict(one.parts)
    return int(parts["model"]), int(parts[ITERATION])


def _parts(run: Run, kind: str, numbers: Sequence[str], whole: Sequence[str]) -> Iterator[Export]:
    for file in files_of_export(run, kind):
        try:
            cells = read_cells(file.path, kind, run.damage)
        except OSError as error:
            run.damage.append(Damage(file.path, error.strerror or str(error), kind=kind))
            continue
        if cells is None:
            continue
        columns = columns_in(run, kind, file.path, cells.columns)
        if columns is not None:
            iteration = int(dict(file.parts).get(ITERATION, 0))
            yield _export(run, cells, columns, numbers, whole, iteration)


def columns_in(
    run: Run, kind: str, path: Path, header: Sequence[str] | Mapping[str, Any]
) -> dict[str, str] | None:
    """The columns of a file by what they are taken for; ``None`` where one is missing, which is
    stated as damage.
    """
    every = mindspore_catalog().files[kind].columns
    found: dict[str, str] = {}
    missing: list[ReadColumn] = []
    for one in every:
        if not DAYS.in_force(one, run.day):
            continue
        if one.name in header:
            found.setdefault(one.takes, one.name)
        elif not one.optional:
            missing.append(one)
    if missing:
        text = f"line 1: no column {missing[0].name!r}"
        run.damage.append(Damage(path, text, kind=kind))
        return None
    return found


def _export(
    run: Run,
    cells: Cells,
    columns: Mapping[str, str],
    numbers: Sequence[str],
    whole: Sequence[str],
    iteration: int,
) -> Export:
    texts = {what: _filled(cells.columns[name]) for what, name in columns.items()}
    values: dict[str, npt.NDArray[Any]] = {}
    sound = np.ones(len(cells.lines), np.bool_)
    for what in (*numbers, *whole):
        if what not in columns:
            continue
        plain = pc.utf8_trim_whitespace(texts.pop(what))
        values[what], bad = parse_numbers(plain, whole=what in whole)
        with few(run.damage) as damage:
            for row in np.flatnonzero(bad & sound).tolist():
                name, text = columns[what], plain[row].as_py()
                place = f"line {cells.lines[row]}: {name} is no number: {text!r:.60}"
                damage.append(Damage(cells.path, place))
        sound &= ~bad
    rows = np.flatnonzero(sound).astype(np.int64)
    kept = {what: one.take(indexes(rows)) for what, one in texts.items()}
    taken = {what: one[rows] for what, one in values.items()}
    return Export(kept, taken, np.full(len(rows), iteration))


def _filled(texts: Texts) -> Texts:
    """Cells as parsers take them: 0 where there is no value."""
    if not flags(pc.equal(texts, NOTHING)).any():
        return texts
    return pc.if_else(pc.equal(texts, NOTHING), ZERO, texts)
