"""Sums of gradients of step_trace, which stand in groups of columns."""

from __future__ import annotations

from itertools import count

import pyarrow as pa

from ....compare.match import Cell
from ....compare.sql import quoted
from ..database import Facts
from ..made import Derived
from .reading import read

SOURCE = "csv.step_trace"
START, DURATION = "Reduce Start(us)", "Reduce Duration(us)"
IMPOSSIBLE = 1e12
"""us; lengths beyond are those that the C++ engine computes the wrong way round (erratum T33)."""


def _reductions(facts: Facts) -> pa.Table:
    """Each sum of gradients with its iteration; start in ns, duration in us."""
    have = facts.columns(SOURCE)
    device = '"Device_id"' if "Device_id" in have else "NULL::BIGINT"
    place = f'file, row, {device} AS device, "Model ID" AS model, "Iteration ID" AS iteration'
    parts = [
        f"SELECT {place}, 0::BIGINT AS start, 0::DOUBLE AS duration, '' AS \"start_column\", "
        f"'' AS duration_column FROM {SOURCE} WHERE false"
    ]
    for number in count(1):
        names = [name if number == 1 else f"{name} {number}" for name in (START, DURATION)]
        if not set(names) <= set(have):
            break
        start, duration = map(quoted, names)
        parts.append(
            f"SELECT {place}, {start}, CASE WHEN {duration} < {IMPOSSIBLE} THEN {duration} END, "
            f"'{names[0]}', '{names[1]}' FROM {SOURCE} WHERE {start} IS NOT NULL"
        )
    return read(facts, " UNION ALL ".join(parts))


TABLES = (
    Derived(
        "reductions",
        "Sums of gradients of step_trace.",
        (SOURCE,),
        _reductions,
        of=SOURCE,
        cells={
            "start": Cell(SOURCE, "@start_column"),
            "duration": Cell(SOURCE, "@duration_column"),
            "device": Cell(SOURCE, "Device_id"),
            "model": Cell(SOURCE, "Model ID"),
            "iteration": Cell(SOURCE, "Iteration ID"),
        },
    ),
)
