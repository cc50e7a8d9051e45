"""Figures of statistics files, computed again with the rounding of their engines.

Each table has the rows of both engines; the figures of a file show which of them wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TypeAlias, get_args

import pyarrow as pa

from ascend_ref.arrays import dictionary, text_numbers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.host_usage import SystemCalls, system_calls
from ascend_ref.derive.matching import groups
from ascend_ref.derive.statistics import (
    ApiStatistic,
    Statistic,
    api_statistic,
    communication_statistic,
    operator_statistic,
)

from .reading import Asked, by_engine, integers

Figures: TypeAlias = ApiStatistic | Statistic | SystemCalls


def numbered(*columns: pa.ChunkedArray) -> tuple[Integers, Integers]:
    """The first rows of equal texts or numbers, and for each row its place among them."""
    return groups(*(text_numbers(dictionary(column)) for column in columns))


Compute: TypeAlias = Callable[[Integers, Integers, Engine, Integers | None], Figures]
"""From owners, durations in ns, the engine, and the device of each owner where it is known."""
OTHERS = ("file", "row", "duration")
"""Columns of a query by which nothing is grouped."""


def _grouped(compute: Compute) -> Callable[[Asked], pa.Table]:
    """Figures of rows with equal values but for their place and duration, by engine."""

    def computed(asked: Asked) -> pa.Table:
        rows = asked.rows()
        first, owner = numbered(*(rows[name] for name in rows.column_names if name not in OTHERS))
        kinds, duration = rows.take(pa.array(first)), integers(rows, "duration", 0)
        device = integers(kinds, "device") if "device" in kinds.column_names else None
        return by_engine(
            (engine, _with(kinds.drop(["duration"]), compute(owner, duration, engine, device)))
            for engine in get_args(Engine)
        )

    return computed


def _with(kinds: pa.Table, found: Figures) -> pa.Table:
    columns = found._asdict() if isinstance(found, SystemCalls) else asdict(found)
    for name, values in columns.items():
        kinds = kinds.append_column(name, pa.array(values))
    return kinds


FUNCTIONS = {
    "api_statistic": _grouped(
        lambda owner, length, engine, _: api_statistic(owner, length, engine)
    ),
    "system_calls": _grouped(lambda owner, time, *_: system_calls(owner, time)),
    "op_statistic": _grouped(operator_statistic),
    "communication_statistic": _grouped(communication_statistic),
}
