"""Figures that have columns of their own in a file, as one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture.batch import Reals
from ascend_spec import text_catalog

from .reading import Asked, LacksColumn, integers, last_unit, reals

NS_PER_US = 1e3
KEYS = ("file", "row", "device", "stream", "task", "context", "start", "core", "model", "iteration")
"""What the queries of derived.yaml call the columns that stay as they are."""
START, DURATION = "Reduce Start(us)", "Reduce Duration(us)"
IMPOSSIBLE = 1e12
"""us; lengths beyond are those that the C++ engine computes the wrong way round (erratum T33)."""


def counters(asked: Asked) -> pa.Table:
    """Every counter of every row, by the name that it has in the database and in its unit there.

    ``unit`` is the unit of the last decimal that the file prints; in the database times are ns.
    """
    columns = text_catalog().csv[asked.given["file"]].columns
    metrics = {one.name: one for one in columns if one.metric is not None}
    rows = asked.rows_with({*KEYS, *metrics})
    totals = dict(_totals(rows.column_names))
    parts = [_part(rows, np.zeros(len(rows)), "", "", 0.0)]
    for name, column in metrics.items():
        if name in rows.column_names:
            metric = totals.get(name, column.metric or "").lower()
            scale = NS_PER_US if column.unit == "us" else 1.0
            value = reals(rows, name)
            unit = last_unit(value) * scale
            parts.append(_part(rows, value * scale, name, metric, unit))
    return pa.concat_tables(parts)


def _part(rows: pa.Table, value: Reals, column: str, metric: str, unit: float) -> pa.Table:
    columns = {"column": column, "metric": metric, "value": value, "unit": unit}
    known = np.isfinite(value) if column else np.zeros(len(rows), np.bool_)
    return _with(rows, known, columns)


def _with(rows: pa.Table, known: npt.NDArray[np.bool_], columns: Mapping[str, Any]) -> pa.Table:
    """The keys of the rows that are known, with further columns; constants are repeated."""
    table = rows.select([name for name in rows.column_names if name in KEYS])
    for name, values in columns.items():
        whole = np.full(len(rows), values) if isinstance(values, (str, float)) else values
        table = table.append_column(name, pa.array(whole))
    return table.filter(pa.array(known))


def _totals(have: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Headers of totals with their metrics; the block shows which one aicore_time(us) is."""
    for layout in text_catalog().pmu.layouts:
        for block in layout.blocks:
            if block.totals.keys() <= set(have):
                yield from ((text, block.prefix + name) for text, name in block.totals.items())


def reductions(asked: Asked) -> pa.Table:
    """Each sum of gradients with its iteration; start in ns, duration in us."""
    rows = asked.rows()
    parts: list[pa.Table] = []
    for number in count(1):
        names = [name if number == 1 else f"{name} {number}" for name in (START, DURATION)]
        if not set(names) <= set(rows.column_names):
            break
        duration = reals(rows, names[1])
        columns = {
            "start": integers(rows, names[0]),
            "duration": pa.array(duration, mask=~(duration < IMPOSSIBLE)),
            "start_column": names[0],
            "duration_column": names[1],
        }
        known = np.asarray(rows[names[0]].is_valid().to_numpy(), np.bool_)
        parts.append(_with(rows, known, columns))
    if not parts:
        raise LacksColumn(START)
    return pa.concat_tables(parts)
