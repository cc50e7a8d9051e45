"""Analysers of operators and kernels: the rows of their answers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.raw.damage import Damage
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Analyser, AnswerColumn

from ..sheet import Cells, Texts, flags, indexes, parse_numbers
from .cells import Column, NumberColumn, TextColumn
from .files import Folder
from .load import load
from .query import Rows
from .rounding import Floats, added, rounded, shown

TYPE_PERCENT, TYPE_TIME, TIMES = 2, 3, 1000


def load_rows(folder: Folder, analyser: Analyser, day: str) -> Rows:
    """Each row of the file is one of the answer."""
    shown_columns = analyser.columns_on(day)
    cells = _cells(folder, analyser, shown_columns)
    cells, columns = load(folder, cells, [one for one in shown_columns if one.takes])
    columns |= {one.name: _computed(one, columns, cells) for one in shown_columns if not one.takes}
    return Rows(analyser, day, shown_columns, columns)


def _computed(column: AnswerColumn, columns: dict[str, Column], cells: Cells) -> Column:
    if column.name == "avg_time":
        total, often = columns["total_time"], columns["execution_frequency"]
        if not isinstance(total, NumberColumn) or not isinstance(often, NumberColumn):
            raise TypeError("means are of numbers")
        none = often.numbers == 0
        means = total.numbers / np.where(none, 1, often.numbers)
        return NumberColumn(shown(means), none)
    names = cells.first(mindspore_catalog().full_names)
    if names is None:
        names = pa.array([""] * len(cells.lines), pa.string())
    match column.name:
        case "op_type":
            return TextColumn(types_of(names))
        case "subgraph":
            return TextColumn(pa.array(["Default"] * len(names), pa.string()))
    return TextColumn(pc.binary_join_element_wise("Default", names, "/"))


def load_details(folder: Folder, analyser: Analyser, day: str) -> Rows:
    """Operators with their times, joined with what the framework and flops have of them."""
    shown_columns = analyser.columns_on(day)
    cells = _cells(folder, analyser, shown_columns[-1:], mindspore_catalog().full_names)
    framework = folder.cells("framework_raw")
    if framework is None:
        cells = cells.taken(np.zeros(0, np.int64))
    else:
        cells = _joined(folder, cells, framework)
    flops = folder.cells("flops")
    if flops is not None and len(cells.lines):
        cells = _with_flops(cells, flops)
    _, columns = load(folder, cells, shown_columns)
    return Rows(analyser, day, shown_columns, columns)


def _joined(folder: Folder, cells: Cells, framework: Cells) -> Cells:
    names, known = (
        cells.first(mindspore_catalog().full_names),
        framework.first(mindspore_catalog().full_names),
    )
    if names is None or known is None:
        return cells.taken(np.zeros(0, np.int64))
    last = len(known) - 1
    places = pc.index_in(names, known.take(indexes(np.arange(last, -1, -1))))
    lost = flags(pc.is_null(places))
    if lost.any():
        column = next(one for one in mindspore_catalog().full_names if one in cells.columns)
        folder.state(cells, np.flatnonzero(lost), column, "not in framework_raw")
    found = np.flatnonzero(~lost).astype(np.int64)
    rows = last - places.drop_null().to_numpy().astype(np.int64)
    kept = cells.taken(found)
    return Cells(cells.path, {**framework.taken(rows).columns, **kept.columns}, kept.lines)


def _with_flops(cells: Cells, flops: Cells) -> Cells:
    """Cells with those of flops; empty where it has none."""
    names = cells.first(mindspore_catalog().full_names)
    known = flops.first(mindspore_catalog().full_names)
    last = 0 if known is None else len(known) - 1
    if names is None or known is None or last < 0:
        return cells
    places = pc.index_in(names, known.take(indexes(np.arange(last, -1, -1))))
    rows = pc.subtract(pa.scalar(last, pa.int64()), places.cast(pa.int64()))
    more = {
        name: pc.utf8_trim_whitespace(pc.fill_null(texts.take(rows), ""))
        for name, texts in flops.columns.items()
        if name not in cells.columns and name not in mindspore_catalog().full_names
    }
    return Cells(cells.path, {**cells.columns, **more}, cells.lines)


def load_kernel_types(folder: Folder, analyser: Analyser, day: str) -> Rows:
    """Kernels of AI CPUs by type."""
    names, total, _ = _kernels(folder, analyser, day)
    keys, kinds = _grouped(types_of(names))
    sums = added(keys, total, len(kinds)) * TIMES
    times = rounded(sums, TYPE_TIME)
    everything = float(sum(sums.tolist()))
    shares = rounded(times / everything * 100, TYPE_PERCENT) if everything else np.zeros(len(times))
    often = np.bincount(keys, minlength=len(kinds)).astype(np.int64)
    columns: list[Column] = [TextColumn(kinds), *map(NumberColumn, (times, often, shares))]
    return _rows(analyser, day, columns)


def load_kernels(folder: Folder, analyser: Analyser, day: str) -> Rows:
    """Kernels of AI CPUs by name."""
    names, total, dispatch = _kernels(folder, analyser, day)
    keys, kinds = _grouped(names)
    often = np.bincount(keys, minlength=len(kinds)).astype(np.int64)
    means = (
        rounded(added(keys, shown(one), len(kinds)) / np.maximum(often, 1) * TIMES, TYPE_TIME)
        for one in (total, dispatch)
    )
    texts: list[Column] = [TextColumn(kinds), TextColumn(types_of(kinds))]
    columns = [*texts, *map(NumberColumn, (*means, often))]
    return _rows(analyser, day, columns)


def _kernels(folder: Folder, analyser: Analyser, day: str) -> tuple[Texts, Floats, Floats]:
    """Names, times in all and times of dispatching, in ms."""
    taken = [one for one in analyser.columns_on(day) if one.takes]
    cells = _cells(folder, analyser, taken)
    numbers = []
    for name in ("total_time", "dispatch_time"):
        texts = cells.first([name])
        if texts is None:
            numbers.append((np.zeros(len(cells.lines)), np.zeros(len(cells.lines), np.bool_)))
            continue
        numbers.append(parse_numbers(texts))
        folder.state(cells, np.flatnonzero(numbers[-1][1]), name, "no number")
    sound = np.flatnonzero(~(numbers[0][1] | numbers[1][1])).astype(np.int64)
    names = cells.taken(sound).first(taken[0].takes)
    return names, numbers[0][0][sound], numbers[1][0][sound]


def _grouped(names: Texts) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Texts]:
    coded = names.dictionary_encode()
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary


def _rows(analyser: Analyser, day: str, columns: list[Column]) -> Rows:
    shown_columns = analyser.columns_on(day)
    names = [one.name for one in shown_columns]
    return Rows(analyser, day, shown_columns, dict(zip(names, columns, strict=True)))


def _cells(
    folder: Folder,
    analyser: Analyser,
    columns: tuple[AnswerColumn, ...] | list[AnswerColumn],
    needed: tuple[str, ...] | None = None,
) -> Cells:
    """The file whose rows are shown; without rows where it lacks the first column."""
    table = analyser.reads[0]
    cells = folder.cells(table)
    needed = needed or next(one.takes for one in columns if one.takes)
    if cells is not None and cells.first(needed) is not None:
        return cells
    if cells is not None:
        text = f"line 1: no column {' or '.join(needed)}"
        folder.damage.append(Damage(cells.path, text, kind=table))
    nothing = pa.array([], pa.string())
    named = [name for one in analyser.columns for name in one.takes]
    return Cells(folder.path, dict.fromkeys([*needed, *named], nothing), np.zeros(0, np.int64))


def types_of(names: Texts) -> Texts:
    """Names up to the first ``-``."""
    return pc.replace_substring_regex(names, r"(?s)-.*", "")
