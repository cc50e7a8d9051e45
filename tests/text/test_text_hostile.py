"""Recordings of databases that hold anything: every value extreme, every text strange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from slices import some
from small_recordings import NO_NUMBER, START, recording

from ascend_ref.recorded import Output
from ascend_ref.recorded.shape import CARRIERS, shape_of
from ascend_ref.text import write_csv_files
from ascend_spec import catalog

INTEGERS = [0, 1, 3, -1, 1 << 32, NO_NUMBER, (1 << 63) - 1, -(1 << 63), START, 4_000_000_001, None]
SMALL = [0, 1, 2]
REALS = [0.0, -0.0, 0.5, 1e15, 1e308, -1e-300, float("nan"), float("inf"), -float("inf"), None]
TEXTS = [
    "", "a,b", '"q"', "N/A", "\r\n", "\0", "AI_CORE", "COMMUNICATION", "read", "AIC", "app",
    "allocate", "acl", "op", "queue", "Enqueue", "HCCL", "GE", "aic_total_time", "mac_ratio",
    "hcom_receive__", "ProfilerStep#9", "ProfilerStep#", "MEMCPY_ASYNC", "node", None,
]  # fmt: skip


def hostile(output: Output, name: str, draws: np.random.Generator) -> pa.Table:
    """A table of a few rows of anything."""
    rows = int(draws.integers(1, 12))

    def drawn(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[place] for place in draws.integers(0, len(values), rows)], kind)

    schema = shape_of(output, name).schema
    columns = []
    for field in schema:
        if pa.types.is_dictionary(field.type):
            columns.append(drawn(TEXTS, pa.string()).dictionary_encode().cast(field.type))
        elif pa.types.is_floating(field.type):
            columns.append(drawn(REALS, pa.float64()))
        else:
            # Numbers of planes make those of threads, which are the timeline's own.
            few = draws.random() < 0.4 or field.name == "planeId"
            columns.append(drawn(SMALL if few else INTEGERS, pa.int64()))
    return pa.Table.from_arrays(columns, schema=schema)


@pytest.mark.parametrize("seed", some(range(12), every=3))
@pytest.mark.parametrize("output", ["msprof", "pytorch"])
def test_anything_is_written(seed: int, output: Output, tmp_path: Path) -> None:
    draws = np.random.Generator(np.random.PCG64(seed))
    newest = catalog().revisions[-1].id
    names = [
        name
        for carrier in CARRIERS[output]
        for name in catalog().at(newest, carrier).tables
        if name != "STRING_IDS" and not name.startswith("ENUM_")
    ]
    recorded = recording(
        {},
        output=output,
        family=(None, "A2", "910A", "310P", "200I-500-A2")[seed % 5],
        metrics=(None, "PipeUtilization", "Memory", "Custom", "strange")[seed // 2 % 5],
        level=(0, 1, 2)[seed % 3],
        start=(0, START)[seed % 2],
    )
    tables = {name: hostile(output, name, draws) for name in names if draws.random() < 0.8}
    writer = "python" if output == "msprof" and seed % 2 else None
    paths = write_csv_files(replace(recorded, tables=tables), tmp_path, writer=writer)
    assert paths
    assert sorted(paths) == sorted(tmp_path.iterdir())
