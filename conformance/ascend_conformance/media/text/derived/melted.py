"""Figures that have columns of their own in a file, as one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture.batch import Reals
from ascend_spec import catalog, text_catalog

from ..database import Facts
from .reading import Asked, LacksColumn, integers, last_unit, reals

KEYS = ("file", "row", "device", "stream", "task", "context", "start", "core", "model", "iteration")
"""What the queries of derived.yaml call the columns that stay as they are."""
START, DURATION = "Reduce Start(us)", "Reduce Duration(us)"
IMPOSSIBLE = 1e12
"""us; lengths beyond are those that the C++ engine computes the wrong way round (erratum T33)."""


def counters(asked: Asked) -> pa.Table:
    """Every counter of every row, by the name that it has in the database and in its unit there.

    ``unit`` is the unit of the last decimal that the file prints. Metrics whose unit in the
    database depends on the product are left out where the database shows no product, or several.
    """
    columns = text_catalog().csv[asked.given["file"]].columns
    metrics = {one.name: one for one in columns if one.metric is not None}
    rows = asked.rows_with({*KEYS, *metrics})
    totals, family = dict(_totals(rows.column_names)), _family(asked.facts)
    parts = [_part(rows, np.zeros(len(rows)), "", "", 0.0)]
    for name, column in metrics.items():
        if name in rows.column_names:
            metric = totals.get(name, column.metric or "").lower()
            scale = _in_table(column.metric or "", family)
            if scale is None:
                continue
            value = reals(rows, name)
            unit = last_unit(value) * scale
            parts.append(_part(rows, value * scale, name, metric, unit))
    return pa.concat_tables(parts)


def _family(facts: Facts) -> str | None:
    """The only product that the database shows."""
    if "name" not in facts.columns("db.NPU_INFO"):
        return None
    chips = facts.rows("SELECT DISTINCT name FROM db.NPU_INFO")
    products = [catalog().products.of_chip(chip) for (chip,) in chips]
    found = {one.id if one else None for one in products}
    return found.pop() if len(found) == 1 else None


def _in_table(metric: str, family: str | None) -> float | None:
    """How many units of the database are one of the file's; ``None`` where the family decides."""
    groups = text_catalog().pmu
    known = groups.metric(metric)
    if known is None:
        return 1.0
    kind = groups.kinds[known.kind]
    if family is None:
        return None if len({*kind.table.values()}) > 1 else float(kind.in_table("*"))
    return float(kind.in_table(family))


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
