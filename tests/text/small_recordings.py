"""Recordings of a few rows, and the files that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from ascend_ref.capture import DeviceFacts, Origin, Switches
from ascend_ref.capture.records import RECORDS
from ascend_ref.recorded import Output, Recorded
from ascend_ref.recorded.shape import shape_of
from ascend_ref.text import write_csv_files

Rows = Sequence[Mapping[str, Any]]
NO_NUMBER = (1 << 32) - 1
START = 1_700_000_000_000_000_000


def table(output: Output, name: str, rows: Rows) -> pa.Table:
    """Rows as a table of a recording; NULL where they tell nothing."""
    schema = shape_of(output, name).schema
    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        if pa.types.is_dictionary(field.type):
            columns.append(pa.array(values, pa.string()).dictionary_encode().cast(field.type))
        else:
            columns.append(pa.array(values, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def record(name: str, rows: Rows) -> pa.Table:
    """Rows as a record; -1 where they tell nothing, NULL for a text."""
    return pa.table(
        {
            column: pa.array([row.get(column) for row in rows], pa.string()).dictionary_encode()
            if column in RECORDS[name].texts
            else pa.array([row.get(column, -1) for row in rows], pa.int64())
            for column in RECORDS[name].columns
        }
    )


def recording(
    tables: Mapping[str, Rows],
    extras: Mapping[str, Rows] | None = None,
    *,
    output: Output = "msprof",
    family: str | None = "A2",
    metrics: str | None = None,
    level: Literal[0, 1, 2] = 1,
    start: int = START,
    end: int | None = START + 60 * 10**9,
) -> Recorded:
    """A recording of one device with 24 cube cores at 1800 MHz."""
    return Recorded(
        output=output,
        revision="1.2.0-2026-07",
        origin=origin(family, start, end),
        switches=Switches(level=level, aic_metrics=metrics),
        tables={name: table(output, name, rows) for name, rows in tables.items()},
        extras={name: record(name, rows) for name, rows in (extras or {}).items()},
    )


def origin(family: str | None, start: int, end: int | None) -> Origin:
    """One device of process 7 with 24 cube cores at 1800 MHz."""
    facts = DeviceFacts(cube_cores=24, vector_cores=48, ai_cpu_cores=6, frequency=1800)
    return Origin(0, 1, (0,), "", 7, "", 0, start, end, facts=facts, family=family)


def task(identity: int, start: int, length: int, **changes: Any) -> dict[str, Any]:
    """A row of TASK; ``start`` in ns since START."""
    return {
        "startNs": START + start,
        "endNs": START + start + length,
        "deviceId": 0,
        "connectionId": identity,
        "globalTaskId": identity,
        "taskType": "KERNEL_AICORE",
        "contextId": NO_NUMBER,
        "streamId": 2,
        "taskId": identity,
        "modelId": NO_NUMBER,
        **changes,
    }


def kernel(identity: int, **changes: Any) -> dict[str, Any]:
    """A row of COMPUTE_TASK_INFO."""
    return {
        "name": f"MatMul_{identity}",
        "globalTaskId": identity,
        "blockNum": 24,
        "mixBlockNum": 0,
        "taskType": "AI_CORE",
        "opType": "MatMul",
        "inputFormats": "ND;ND",
        "inputDataTypes": "FLOAT;FLOAT",
        "inputShapes": '"2,3;3,4"',
        "outputFormats": "ND",
        "outputDataTypes": "FLOAT",
        "outputShapes": '"2,4"',
        "opState": "1",
        "hf32Eligible": "NO",
        **changes,
    }


def written(
    recorded: Recorded, folder: Path, file: str, writer: str | None = None, **options: Any
) -> str:
    """One file of a recording, without the folder's others; empty where it is not written."""
    paths = write_csv_files(recorded, folder, writer=writer, timestamp="1", **options)
    return "".join(
        path.read_bytes().decode()
        for path in paths
        if path.name in (f"{file}_1.csv", f"{file}.csv")
    )


def lines_of(text: str) -> list[str]:
    """Lines of an expected file."""
    return [line.strip(" ") for line in text.strip().splitlines()]
