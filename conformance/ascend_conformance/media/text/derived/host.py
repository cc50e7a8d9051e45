"""What the host used and should have, computed again from samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from ascend_ref.derive.host_usage import demand
from ascend_spec import text_catalog

from ....compare.match import Cell
from ....compare.sql import quoted, text_literal
from ..database import Facts
from ..made import Derived, Input
from .reading import read, reals

BYTES_PER_KB = 1024.0
FILES = {"ai_core_utilization": "AIC", "ai_vector_core_utilization": "AIV"}
"""Files of sampled counters and their kinds of cores."""


def _demands(query: str, *columns: str) -> Callable[[Facts], pa.Table]:
    """Peak and recommendation of each column of samples."""

    def compute(facts: Facts) -> pa.Table:
        samples = read(facts, query)
        found: dict[str, pa.Array] = {}
        for name in columns:
            values = reals(samples, name)
            needed = demand(values[np.isfinite(values)])
            peak, recommended = (None, None) if needed is None else needed
            found[f"{name}_peak"] = pa.array([peak], pa.float64())
            found[f"{name}_recommended"] = pa.array([recommended], pa.float64())
        return pa.table(found)

    return compute


def _metrics(file: str, facts: Facts) -> pa.Table:
    """The counters of a file of sampled counters, a row for each."""
    have = facts.columns(f"csv.{file}")
    device = '"Device_id"' if "Device_id" in have else "NULL::BIGINT"
    columns = {
        column.name: column.metric.lower()
        for column in text_catalog().csv[file].columns
        if column.metric is not None and column.name in have
    }
    place = f'file, row, {device} AS device, "Core ID" AS core'
    parts = [
        f'SELECT {place}, {text_literal(name)} AS "column", {text_literal(metric)} AS metric, '
        f"{quoted(name)}::DOUBLE AS value FROM csv.{file} WHERE {quoted(name)} IS NOT NULL"
        for name, metric in columns.items()
    ]
    nothing = (
        f"SELECT {place}, '' AS \"column\", '' AS metric, 0.0::DOUBLE AS value FROM csv.{file} "
        "WHERE false"
    )
    return read(facts, " UNION ALL ".join([nothing, *parts]))


def _tables() -> Iterator[Derived]:
    for name, source, query, columns, cells in (
        (
            "memory_of_database",
            "db.HOST_MEM_USAGE",
            "SELECT usage FROM db.HOST_MEM_USAGE",
            ("usage",),
            ("usage",),
        ),
        (
            "memory_of_trace",
            "layer.memory_usage",
            'SELECT "Usage(%)" AS usage FROM layer.memory_usage',
            ("usage",),
            ("Usage(%)",),
        ),
        (
            "disk_of_database",
            "db.HOST_DISK_USAGE",
            f"SELECT readRate / {BYTES_PER_KB} AS reads, writeRate / {BYTES_PER_KB} AS writes "
            "FROM db.HOST_DISK_USAGE",
            ("reads", "writes"),
            ("readRate", "writeRate"),
        ),
        (
            "network_of_database",
            "db.HOST_NETWORK_USAGE",
            f"SELECT speed / {BYTES_PER_KB} AS speed FROM db.HOST_NETWORK_USAGE",
            ("speed",),
            ("speed",),
        ),
    ):
        table = source.replace("layer.", "trace.")
        yield Derived(
            f"demand_for_{name}",
            "Peak and recommendation.",
            (source,),
            _demands(query, *columns),
            inputs=tuple(
                Input(table, cell, f"{quoted(cell)} = (SELECT max({quoted(cell)}) FROM {table})")
                for cell in cells
            ),
        )
    for file in FILES:
        source = f"csv.{file}"
        yield Derived(
            f"metrics_of_{file}",
            "Sampled counters, a row for each.",
            (source,),
            partial(_metrics, file),
            of=source,
            cells={"value": Cell(source, "@column"), "core": Cell(source, "Core ID")},
        )


TABLES = tuple(_tables())
