"""Figures of statistics files, computed again with the rounding of their engines.

Each table has the rows of both engines; which of them wrote a file, its figures tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.api_statistic import ApiStatistic, api_statistic
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.host_usage import system_calls
from ascend_ref.derive.operator_statistic import (
    Statistic,
    communication_statistic,
    operator_statistic,
)
from ascend_ref.derive.transit import groups

from ..database import Facts
from ..made import Cell, Derived, Input
from .reading import integers, read

ENGINES: tuple[Engine, ...] = get_args(Engine)
NOT_SHOWN = ("WRITE_BACK", "INVALID", "N/A")
"""Kinds of cores and types of operators that count in the shares alone."""
US = 1e3


def numbered(*columns: pa.ChunkedArray) -> tuple[Integers, Integers]:
    """The first rows of equal texts or numbers, and for each row its place among them."""
    keys = []
    for column in columns:
        encoded = pc.dictionary_encode(column.combine_chunks())
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        keys.append(np.asarray(encoded.indices.fill_null(-1), np.int64))
    return groups(*keys)


def _calls(query: str) -> Callable[[Facts], pa.Table]:
    """Figures of api_statistic from calls with level, name and duration in ns."""

    def compute(facts: Facts) -> pa.Table:
        calls = read(facts, query)
        first, owner = numbered(calls["level"], calls["name"])
        duration = integers(calls, "duration", 0)
        found = {engine: api_statistic(owner, duration, engine) for engine in ENGINES}
        return _both(calls, first, found, _api_columns)

    return compute


def _api_columns(found: ApiStatistic) -> Mapping[str, Any]:
    return {
        "calls": found.count,
        "total": found.total,
        "average": found.average,
        "shortest": found.minimum,
        "longest": found.maximum,
        "variance": found.variance,
    }


def _statistic_columns(found: Statistic) -> Mapping[str, Any]:
    return {
        "runs": found.count,
        "total": found.total,
        "shortest": found.minimum,
        "average": found.average,
        "longest": found.maximum,
        "ratio": found.ratio,
    }


def _both(
    rows: pa.Table,
    first: Integers,
    found: Mapping[Engine, Any],
    columns: Callable[[Any], Mapping[str, Any]],
) -> pa.Table:
    """The figures of both engines beside the first row of each kind."""
    parts = []
    for engine, figures in found.items():
        table = rows.take(pa.array(first))
        for name, values in columns(figures).items():
            table = table.append_column(name, pa.array(values))
        parts.append(table.append_column("engine", pa.array([engine] * len(first), pa.string())))
    return pa.concat_tables(parts)


def _by_device(
    query: str, kinds: tuple[str, ...], statistic: Callable[[Integers, Integers, Engine], Statistic]
) -> Callable[[Facts], pa.Table]:
    """Figures of the kinds on each device, without those that count in the shares alone."""

    def compute(facts: Facts) -> pa.Table:
        rows = read(facts, query)
        parts = [_nothing(rows)]
        device, duration = integers(rows, "device"), integers(rows, "duration", 0)
        for one in np.unique(device).tolist():
            own = np.flatnonzero(device == one)
            here = rows.take(pa.array(own))
            first, owner = numbered(*(here[name] for name in kinds))
            found = {engine: statistic(owner, duration[own], engine) for engine in ENGINES}
            parts.append(_both(here, first, found, _statistic_columns))
        together = pa.concat_tables(parts)
        return together.filter(pa.array(_shown(together, kinds)))

    return compute


def _nothing(rows: pa.Table) -> pa.Table:
    none = np.empty(0)
    nobody = Statistic(none.astype(np.int64), none, none, none, none, none)
    return _both(rows, none.astype(np.int64), {"python": nobody}, _statistic_columns)


def _shown(rows: pa.Table, kinds: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    hidden = np.zeros(len(rows), np.bool_)
    for name in kinds:
        found = pc.is_in(rows[name], value_set=pa.array(NOT_SHOWN)).fill_null(False)
        hidden |= np.asarray(found.to_numpy(), np.bool_)
    return ~hidden


def _system_calls(query: str) -> Callable[[Facts], pa.Table]:
    """Figures of os_runtime_statistic from calls with process, thread, name and duration in ns."""

    def compute(facts: Facts) -> pa.Table:
        calls = read(facts, query)
        first, owner = numbered(calls["thread"], calls["name"])
        found = system_calls(owner, integers(calls, "duration", 0))
        table = calls.take(pa.array(first))
        columns = {
            "fraction": found.fraction,
            "total": found.total / US,
            "calls": found.calls,
            "average": found.average / US,
            "longest": found.longest / US,
            "shortest": found.shortest / US,
        }
        for name, values in columns.items():
            table = table.append_column(name, pa.array(values))
        return table

    return compute


LEVEL = "CASE {0} WHEN 'hccl' THEN 'communication' ELSE {0} END AS level"
"""The level of a call under its newest name (erratum T3)."""
API = "regexp_replace(name, '^[^@]*@', '')"
"""What was called, from the name of an event."""


IS_SHOWN = f"taskType NOT IN {NOT_SHOWN} AND opType NOT IN {NOT_SHOWN}"
DESCRIBED = f"SELECT globalTaskId FROM db.COMPUTE_TASK_INFO WHERE {IS_SHOWN}"


def _tables() -> Iterator[Derived]:
    traced = f"SELECT file, row, {LEVEL.format('level')}, {API} AS name, ns(dur) AS duration "
    traced += "FROM layer.cann WHERE kind IN ('call', 'other-level') ORDER BY row"
    yield _api("of_trace", "layer.cann", traced, ("level", "name", "dur"))
    stored = f"SELECT file, row, {LEVEL.format('type')}, name, endNs - startNs AS duration "
    stored += "FROM db.CANN_API, derived.session s WHERE endNs >= s.start ORDER BY row"
    yield _api("of_database", "db.CANN_API", stored, ("type", "name", "endNs"))
    runs = (
        "SELECT r.file, r.row, r.deviceId AS device, r.opType AS type, r.coreType AS core, "
        "r.endNs - r.startNs AS duration FROM view.described_run r, derived.session s "
        "WHERE r.startNs > s.start AND coalesce(r.coreType, 'N/A') <> 'N/A' "
        "ORDER BY r.startNs, r.row"
    )
    yield Derived(
        "op_statistic",
        "Figures of op_statistic from TASK and COMPUTE_TASK_INFO, us.",
        ("view.described_run", "derived.session"),
        _by_device(runs, ("type", "core"), operator_statistic),
        of="db.TASK",
        cells=_figures("db.TASK"),
        inputs=(
            Input("db.TASK", "endNs", f"globalTaskId IN ({DESCRIBED})"),
            Input("db.COMPUTE_TASK_INFO", "opType", IS_SHOWN),
            Input("db.COMPUTE_TASK_INFO", "taskType", IS_SHOWN),
        ),
    )
    operators = (
        "SELECT o.file, o.row, o.deviceId AS device, o.opType AS type, "
        "o.endNs - o.startNs AS duration FROM db.COMMUNICATION_OP o, derived.session s "
        "WHERE o.startNs > s.start ORDER BY o.startNs, o.row"
    )
    yield Derived(
        "communication_statistic",
        "Figures of communication_statistic from COMMUNICATION_OP, us.",
        ("db.COMMUNICATION_OP", "derived.session"),
        _by_device(operators, ("type",), communication_statistic),
        of="db.COMMUNICATION_OP",
        cells=_figures("db.COMMUNICATION_OP"),
        inputs=(Input("db.COMMUNICATION_OP", "endNs"), Input("db.COMMUNICATION_OP", "opType")),
    )
    for name, source, thread, duration in (
        ("of_trace", "layer.os_runtime_api", "tid", "ns(dur)"),
        ("of_database", "db.OSRT_API", "globalTid & 4294967295", "endNs - startNs"),
    ):
        cell = "trace.os_runtime_api" if name == "of_trace" else source
        figure = Cell(cell, "dur" if name == "of_trace" else "endNs")
        yield Derived(
            f"system_calls_{name}",
            "Figures of os_runtime_statistic, us.",
            (source,),
            _system_calls(
                f"SELECT file, row, {thread} AS thread, name, {duration} AS duration "
                f"FROM {source} ORDER BY row"
            ),
            of=cell,
            cells={
                **dict.fromkeys(("fraction", "total", "calls", "average", "longest"), figure),
                "shortest": figure,
                "name": Cell(cell, "name"),
                "thread": Cell(cell, "tid" if name == "of_trace" else "globalTid"),
            },
            inputs=(Input(cell, figure.column), Input(cell, "name")),
        )


def _api(name: str, source: str, query: str, cells: tuple[str, str, str]) -> Derived:
    """Figures of api_statistic; ``cells``: where level, name and length of a call stand."""
    table = source.replace("layer.", "trace.")
    level, call, length = (Cell(table, cell) for cell in cells)
    figures = ("calls", "total", "average", "shortest", "longest", "variance")
    return Derived(
        f"api_statistic_{name}",
        "Figures of api_statistic, us.",
        (source, "derived.session"),
        _calls(query),
        of=table,
        cells={**dict.fromkeys(figures, length), "level": level, "name": call},
        inputs=tuple(Input(table, cell) for cell in cells),
    )


def _figures(table: str) -> Mapping[str, Cell]:
    names = ("runs", "total", "shortest", "average", "longest", "ratio")
    return {**dict.fromkeys(names, Cell(table, "endNs")), "device": Cell(table, "deviceId")}


TABLES = tuple(_tables())
