"""Figures of statistics files, computed again with the rounding of their engines.

Each table has the rows of both engines; which of them wrote a file, its figures tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.api_statistic import ApiStatistic, api_statistic
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.host_usage import SystemCalls, system_calls
from ascend_ref.derive.operator_statistic import (
    Statistic,
    communication_statistic,
    operator_statistic,
)
from ascend_ref.derive.transit import groups

from ....compare.match import Cell
from ..database import Facts
from ..made import Derived, Input
from .reading import integers, read

ENGINES: tuple[Engine, ...] = get_args(Engine)

Figures: TypeAlias = ApiStatistic | Statistic | SystemCalls
FIGURES = {*(one.name for kind in (ApiStatistic, Statistic) for one in fields(kind))}
FIGURES |= {*SystemCalls._fields}


def numbered(*columns: pa.ChunkedArray) -> tuple[Integers, Integers]:
    """The first rows of equal texts or numbers, and for each row its place among them."""
    keys = []
    for column in columns:
        encoded = pc.dictionary_encode(column.combine_chunks())
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        keys.append(np.asarray(encoded.indices.fill_null(-1), np.int64))
    return groups(*keys)


Compute: TypeAlias = Callable[[Integers, Integers, Engine, Integers | None], Figures]
"""From owners, durations in ns, the engine, and the device of each owner where it is known."""


@dataclass(frozen=True)
class Grouped:
    """A statistic of rows that last some time, by the columns before ``duration`` (ns).

    ``select``: SQL of these columns; ``where``: which rows. ``home`` and ``cells``: where the
    columns stand; figures are of the duration. ``inputs``: cells of ``home`` that change figures.
    """

    name: str
    source: str
    home: str
    select: Mapping[str, str]
    compute: Compute
    cells: Mapping[str, str]
    inputs: tuple[Input, ...]
    where: str = "true"

    def table(self) -> Derived:
        """The derived table: what is grouped by, the figures, and the engine that has them."""
        cells = dict.fromkeys(FIGURES, Cell(self.home, self.cells["duration"]))
        cells |= {name: Cell(self.home, column) for name, column in self.cells.items()}
        needs = (self.source, "derived.session")
        what = f"{self.name.replace('_', ' ')}, us"
        return Derived(self.name, what, needs, self._computed, self.home, cells, self.inputs)

    def _computed(self, facts: Facts) -> pa.Table:
        listed = ", ".join(f"{sql} AS {name}" for name, sql in self.select.items())
        rows = read(
            facts,
            f"SELECT file, row, {listed} FROM {self.source} o, derived.session s "
            f"WHERE {self.where} ORDER BY start, row",
        )
        by = [rows[name] for name in self.select if name not in ("start", "duration")]
        first, owner = numbered(*by)
        kinds = rows.take(pa.array(first))
        device = integers(kinds, "device") if "device" in self.select else None
        parts = []
        for engine in ENGINES:
            table = kinds.append_column("engine", pa.array([engine] * len(first), pa.string()))
            found = self.compute(owner, integers(rows, "duration", 0), engine, device)
            columns = found._asdict() if isinstance(found, SystemCalls) else asdict(found)
            for name, values in columns.items():
                table = table.append_column(name, pa.array(values))
            parts.append(table)
        return pa.concat_tables(parts)


LEVEL = "CASE {0} WHEN 'hccl' THEN 'communication' ELSE {0} END"
"""The level of a call under its newest name (erratum T3)."""
API = "regexp_replace(name, '^[^@]*@', '')"
"""What was called, from the name of an event."""
DRAWN = {"start": "ts", "duration": "ns(dur)"}
STORED = {"start": "startNs", "duration": "endNs - startNs"}
IS_SHOWN = " AND ".join(
    f"{one} NOT IN ('WRITE_BACK', 'INVALID', 'N/A')" for one in ("taskType", "opType")
)
DESCRIBED = f"SELECT globalTaskId FROM db.COMPUTE_TASK_INFO WHERE {IS_SHOWN}"


def _inputs(table: str, *cells: str) -> tuple[Input, ...]:
    return tuple(Input(table, cell) for cell in cells)


def _calls(owner: Integers, length: Integers, engine: Engine, _: Integers | None) -> ApiStatistic:
    return api_statistic(owner, length, engine)


def _system(owner: Integers, length: Integers, _: Engine, __: Integers | None) -> SystemCalls:
    return system_calls(owner, length)


TABLES = tuple(
    one.table()
    for one in (
        Grouped(
            "api_statistic_of_trace",
            "layer.cann",
            "trace.cann",
            {"level": LEVEL.format("level"), "name": API, **DRAWN},
            _calls,
            {"level": "level", "name": "name", "duration": "dur"},
            _inputs("trace.cann", "level", "name", "dur"),
            "kind IN ('call', 'other-level')",
        ),
        Grouped(
            "api_statistic_of_database",
            "db.CANN_API",
            "db.CANN_API",
            {"level": LEVEL.format("type"), "name": "name", **STORED},
            _calls,
            {"level": "type", "name": "name", "duration": "endNs"},
            _inputs("db.CANN_API", "type", "name", "endNs"),
            "endNs >= s.start",
        ),
        Grouped(
            "system_calls_of_trace",
            "layer.os_runtime_api",
            "trace.os_runtime_api",
            {"thread": "tid", "name": "name", **DRAWN},
            _system,
            {"thread": "tid", "name": "name", "duration": "dur"},
            _inputs("trace.os_runtime_api", "dur", "name"),
        ),
        Grouped(
            "system_calls_of_database",
            "db.OSRT_API",
            "db.OSRT_API",
            {"thread": "globalTid & 4294967295", "name": "name", **STORED},
            _system,
            {"thread": "globalTid", "name": "name", "duration": "endNs"},
            _inputs("db.OSRT_API", "endNs", "name"),
        ),
        Grouped(
            "op_statistic",
            "view.described_run",
            "db.TASK",
            {"device": "deviceId", "type": "opType", "core": "coreType", **STORED},
            operator_statistic,
            {"device": "deviceId", "duration": "endNs"},
            (
                Input("db.TASK", "endNs", f"globalTaskId IN ({DESCRIBED})"),
                Input("db.COMPUTE_TASK_INFO", "opType", IS_SHOWN),
                Input("db.COMPUTE_TASK_INFO", "taskType", IS_SHOWN),
            ),
            "startNs > s.start AND coalesce(coreType, 'N/A') <> 'N/A'",
        ),
        Grouped(
            "communication_statistic",
            "db.COMMUNICATION_OP",
            "db.COMMUNICATION_OP",
            {"device": "deviceId", "type": "opType", **STORED},
            communication_statistic,
            {"device": "deviceId", "duration": "endNs"},
            _inputs("db.COMMUNICATION_OP", "endNs", "opType"),
            "startNs > s.start",
        ),
    )
)
