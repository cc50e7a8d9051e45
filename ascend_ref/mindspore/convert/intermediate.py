"""What intermediate files hold of a device, where its raw files are gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.moments import MICROSECOND
from ascend_spec.mindspore import REDUCTION_BEGIN, REDUCTION_END

from ..analyse.files import Folder
from ..parse.operator import last_part
from ..sheet import Cells, Flags, parse_numbers
from .clock import MILLISECOND, TICK
from .found import CpuRun, Fetch, Iteration, Operator, Runs
from .operators import full_name_in, is_whole, operators_of

TIMELINE, OPERATORS = "output_timeline_data", "framework_raw"
CPU, STEPS, FETCHES = "aicpu_intermediate", "step_trace_raw", "minddata_aicpu"
FIRST = "min_cycle_counter"

_NAMES = ("op_name", "kernel_name")
_STARTS = ("start_time(ms)", "start_time(us)")
"""Names of columns of ms, whatever they say (output_timeline_data, M56)."""
_MOST = float(1 << 62)
_MOST_US = 1 << 48
_TICKS = 1 << 58
"""Numbers as great are no ticks."""
_POINTS = ("start_point", "fp_point", "bp_point", "end_point")


def operators_in(folder: Folder) -> tuple[list[Operator], dict[str, tuple[int, int]]]:
    """The operators of ``framework_raw``, and stream and task of each by full name."""
    cells = folder.cells(OPERATORS)
    rows = [] if cells is None else list(_rows(cells))
    tasks: dict[str, tuple[int, int]] = {}
    for row in rows:
        name = full_name_in(row)
        numbers = [row.get(one, "") for one in ("stream_id", "task_id")]
        if all(one.isascii() and one.isdecimal() and len(one) < 10 for one in numbers):
            tasks.setdefault(name, (int(numbers[0]), int(numbers[1])))
    return operators_of(rows), tasks


def runs_in(
    folder: Folder, operators: list[Operator], tasks: Mapping[str, tuple[int, int]]
) -> tuple[Runs, list[str]]:
    """The executions of ``output_timeline_data``; operators that it alone has are added."""
    cells = folder.cells(TIMELINE)
    names = None if cells is None else cells.first(_NAMES)
    starts = [one for one in _STARTS if cells is not None and one in cells.columns]
    if cells is None or names is None or not starts:
        return Runs(), []
    columns = [
        _numbers(folder, cells, starts[0], MILLISECOND),
        _numbers(folder, cells, "duration(ms)", MILLISECOND),
        _numbers(folder, cells, "stream_id", 1),
    ]
    right = ~np.logical_or.reduce([bad for _, bad in columns])
    start, length, stream = (values[right] for values, _ in columns)
    coded = names.dictionary_encode()
    words = coded.dictionary.to_pylist()
    known = {one.name: place for place, one in enumerate(operators)}
    for word in words:
        if word not in known:
            known[word] = len(operators)
            operators.append(Operator(word))
    of_word = np.array([known[one] for one in words], np.int64)
    task_of = np.array([tasks.get(one, (NONE, NONE))[1] for one in words], np.int64)
    code = coded.indices.to_numpy()[right]
    order = np.argsort(start, kind="stable")
    end = start + np.maximum(length, 0)
    runs = Runs(*(one[order] for one in (start, end, stream, task_of[code], of_word[code])))
    missing = int(np.sum(runs.task == NONE))
    lost = []
    if missing:
        lost.append(f"{TIMELINE}: {missing:,} executions of operators whose task no file states")
    return runs, lost


def first_tick(folder: Folder) -> int | None:
    """The tick from which starts count, where a file has it."""
    path = folder.find(FIRST)
    if path is None:
        return None
    with path.open("rb") as file:
        text = file.read(64).decode("ascii", "replace").strip()
    try:
        found = float(text)
    except ValueError:
        folder.damage.append(Damage(path, f"no number: {text!r}", kind=FIRST))
        return None
    return int(found) if 0 <= found < 1 << 53 else None


def cpu_runs_in(folder: Folder) -> list[CpuRun]:
    """The kernels of ``aicpu_intermediate``."""
    cells = folder.cells(CPU)
    if cells is None:
        return []
    names = cells.first(("op_type", "kernel_type", "node_type_name"))
    wanted = {"run_start": MICROSECOND, "run_end": MICROSECOND}
    wanted |= {"total_time": MILLISECOND, "dispatch_time": MILLISECOND}
    if names is None or not wanted.keys() <= cells.columns.keys():
        return []
    columns = {name: _numbers(folder, cells, name, unit) for name, unit in wanted.items()}
    start, end = columns["run_start"][0], columns["run_end"][0]
    if _is_exported(start, end, columns["total_time"][0]):
        columns["run_start"] = _numbers(folder, cells, "run_start", MILLISECOND)
        start = columns["run_start"][0]
        # run_end counts what it waited before (aicpu_intermediate).
        end = start + columns["total_time"][0] - columns["dispatch_time"][0]
        columns["run_end"] = end, columns["run_end"][1]
    right = ~np.logical_or.reduce([bad for _, bad in columns.values()]) & (start <= end)
    values = {name: column[right].tolist() for name, (column, _) in columns.items()}
    words = [one for one, is_right in zip(names.to_pylist(), right, strict=True) if is_right]
    return [
        CpuRun(name, start, end, dispatch=dispatch, total=total)
        for name, start, end, total, dispatch in zip(
            *(words, values["run_start"], values["run_end"]),
            *(values["total_time"], values["dispatch_time"]),
            strict=True,
        )
    ]


def _is_exported(start: Integers, end: Integers, total: Integers) -> bool:
    """Whether starts and ends, taken for us, are ms: then rows last as long as their totals say.

    Made of what msprof exports the columns have the same names, and another unit.
    """
    lengths = (end - start) * (MILLISECOND // MICROSECOND)
    # Doubles of Unix times in ms lie 244 ns apart, and both were rounded.
    return bool(len(total)) and bool((np.abs(lengths - total) <= 4 * MICROSECOND).all())


def iterations_in(folder: Folder) -> list[Iteration]:
    """The steps of ``step_trace_raw``, without the average."""
    header, *rows = folder.rows(STEPS) or [[]]
    begins = [one for one in header if one.endswith(REDUCTION_BEGIN)]
    found = []
    for row in rows:
        cells = {
            name: int(text)
            for name, text in zip(header, row, strict=False)
            if is_whole(text) and int(text) < _TICKS
        }
        if "step_num" not in cells or "end_point" not in cells:
            continue
        start, fp, bp, end = (_ns(cells.get(one)) for one in _POINTS)
        known = [one for one in (start, fp, bp, end) if one != NONE]
        if known == sorted(known) and len(known) > 1:
            sums = tuple(_sums(cells, begins))
            found.append(Iteration(cells["step_num"], start, fp, bp, end, sums))
    return found


def _ns(tick: int | None) -> int:
    return NONE if tick is None else tick * TICK


def _sums(cells: Mapping[str, int], begins: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Cells of 0 stand for reductions that a step does not have."""
    for name in begins:
        begin, end = (
            cells.get(name, 0),
            cells.get(f"{name.removesuffix(REDUCTION_BEGIN)}{REDUCTION_END}", 0),
        )
        if 0 < begin <= end:
            yield begin * TICK, end * TICK


def fetches_in(folder: Folder) -> list[Fetch]:
    """The readings of ``minddata_aicpu``; a header is no reading."""
    found = []
    for words in folder.lines(FETCHES):
        if len(words) == 4 and all(map(is_whole, words[1:])):
            start, end, size = (int(one) for one in words[1:])
            if start <= end < _MOST_US:
                name = last_part(words[0])
                found.append(Fetch(name, start * MICROSECOND, end * MICROSECOND, size))
    return found


def _rows(cells: Cells) -> Iterator[dict[str, str]]:
    columns = {name: one.to_pylist() for name, one in cells.columns.items()}
    for row in zip(*columns.values(), strict=True):
        yield {name: one or "" for name, one in zip(columns, row, strict=True)}


def _numbers(folder: Folder, cells: Cells, name: str, unit: int) -> tuple[Integers, Flags]:
    """A column in ns, rounded, and which of its cells are no number; these are damage."""
    values, bad = parse_numbers(cells.columns[name])
    bad = bad | ~(np.abs(values) * unit < _MOST)
    if bad.any():
        folder.state(cells, np.flatnonzero(bad), name, "no number")
    # Unix times in ns are more than doubles hold, so that their fractions are scaled alone.
    fractions, wholes = np.modf(np.where(bad, 0, values))
    return wholes.astype(np.int64) * unit + np.rint(fractions * unit).astype(np.int64), bad
