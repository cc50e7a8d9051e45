"""The recording behind the real text files, put together again from their rows and the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
from real_files import layer, nanoseconds, rows_of, trace
from small_recordings import NO_NUMBER, origin
from small_recordings import table as table_of

from ascend_ref.capture import Switches
from ascend_ref.recorded import Recorded

DETAILS = {
    "name": "Name",
    "opType": "Type",
    "taskType": "Accelerator Core",
    "opState": "OP State",
    "hf32Eligible": "HF32 Eligible",
    "inputShapes": "Input Shapes",
    "inputDataTypes": "Input Data Types",
    "inputFormats": "Input Formats",
    "outputShapes": "Output Shapes",
    "outputDataTypes": "Output Data Types",
    "outputFormats": "Output Formats",
}
"""Columns of COMPUTE_TASK_INFO and of kernel_details."""
LEVELS = {"AscendCL": "acl", "Hccl": "hccl", "Model": "model", "Node": "node"}


@cache
def real_recording() -> Recorded:
    """What the files of the rank tell."""
    tables = {
        **device(),
        "CANN_API": calls(),
        **framework(),
        **memory(),
    }
    cache_rows = rows_of("l2_cache")
    cached = pa.table(
        {
            "device": [0] * len(cache_rows),
            "stream": [int(row["Stream Id"]) for row in cache_rows],
            "number": [int(row["Task Id"]) for row in cache_rows],
            "name": pa.array([row["Op Name"] for row in cache_rows]).dictionary_encode(),
            "request": [1_000_000] * len(cache_rows),
            "hit": [0] * len(cache_rows),
            "victim": [round(float(row["Victim Rate"]) * 1e6) for row in cache_rows],
        }
    )
    return Recorded(
        output="pytorch",
        revision="1.0.0-2025-01",
        origin=origin("A2", 0, 1 << 62),
        switches=Switches(aic_metrics="PipeUtilization"),
        tables={name: table for name, table in tables.items() if len(table)},
        extras={"l2_cache": cached},
    )


def table(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table of the rank's recording."""
    return table_of("pytorch", name, rows)


def device() -> dict[str, pa.Table]:
    """TASK, COMPUTE_TASK_INFO, TASK_PMU_INFO and COMMUNICATION_OP."""
    kernels = rows_of("kernel_details")
    by_task = {
        (row["Stream ID"], row["Task ID"]): row for row in kernels if row["Task ID"] != "N/A"
    }
    tasks, details, counters = [], [], []
    for identity, event in enumerate(layer("Ascend Hardware")):
        args = event["args"]
        start, length = nanoseconds([event["ts"], event["dur"]])
        context = args["Subtask Id"]
        row = by_task.get((str(args["Physic Stream Id"]), str(args["Task Id"])), {})
        if row.get("Context ID") == ("N/A" if context == NO_NUMBER else str(context)):
            start, length = nanoseconds([row["Start Time(us)"], row["Duration(us)"]])
            details.append(detail(identity, row))
            counters += measured(identity, row)
        is_copy = event["name"] == "MEMCPY_ASYNC"
        tasks.append(
            {
                "startNs": start,
                "endNs": start + length,
                "deviceId": 0,
                "connectionId": args["connection_id"],
                "globalTaskId": identity,
                "taskType": event["name"] if is_copy else args["Task Type"],
                "contextId": context,
                "streamId": args["Physic Stream Id"],
                "taskId": args["Task Id"],
                "modelId": args["Model Id"],
            }
        )
    assert len(details) == len(by_task)
    return {
        "TASK": table("TASK", tasks),
        "COMPUTE_TASK_INFO": table("COMPUTE_TASK_INFO", details),
        "TASK_PMU_INFO": table("TASK_PMU_INFO", counters),
        "COMMUNICATION_OP": table("COMMUNICATION_OP", list(operators(kernels))),
    }


def detail(identity: int, row: Mapping[str, str]) -> dict[str, Any]:
    """A row of COMPUTE_TASK_INFO."""
    return {
        "globalTaskId": identity,
        "blockNum": int(row["Block Dim"]),
        "mixBlockNum": int(row["Mix Block Dim"]),
        **{name: row[column] for name, column in DETAILS.items()},
    }


def measured(identity: int, row: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    """Rows of TASK_PMU_INFO: times in ns, under the names that they have there."""
    for column, cell in row.items():
        if column.startswith(("aic_", "aiv_", "aicore_")) and cell != "N/A":
            name = column.removesuffix("(us)")
            name = {"aicore_time": "aic_total_time", "aiv_time": "aiv_total_time"}.get(name, name)
            scale = 1000 if column.endswith("(us)") else 1
            yield {"globalTaskId": identity, "name": name, "value": float(cell) * scale}


def operators(kernels: Sequence[Mapping[str, str]]) -> Iterable[dict[str, Any]]:
    """Rows of COMMUNICATION_OP; older files have no device."""
    connections = {
        event["name"]: event["args"]["connection_id"]
        for event in layer("HCCL")
        if "connection_id" in event["args"]
    }
    for row in kernels:
        if row["Task ID"] == "N/A":
            start, length = nanoseconds([row["Start Time(us)"], row["Duration(us)"]])
            yield {
                "opName": row["Name"],
                "opType": row["Type"],
                "startNs": start,
                "endNs": start + length,
                "connectionId": connections[row["Name"]],
                "groupName": "group",
            }


def calls() -> pa.Table:
    """CANN_API."""
    rows = []
    for event in layer("CANN"):
        level, _, name = event["name"].partition("@")
        start, length = nanoseconds([event["ts"], event["dur"]])
        rows.append(
            {
                "startNs": start,
                "endNs": start + length,
                "type": LEVELS[level],
                "globalTid": event["tid"],
                "connectionId": event["args"]["connection_id"],
                "name": name,
            }
        )
    return table("CANN_API", rows)


def framework() -> dict[str, pa.Table]:
    """PYTORCH_API with its links and stacks, and the step."""
    rows, links, frames, steps = [], [], [], []
    slices = {
        (event["pid"], event["tid"], event["ts"]): event
        for event in trace()
        if event["ph"] == "X" and "connection_id" in event.get("args", {})
    }
    ends: dict[Any, list[int]] = {}
    for event in trace():
        if event.get("cat") == "async_npu" and event["ph"] == "f":
            target = slices[event["pid"], event["tid"], event["ts"]]
            ends.setdefault(event["id"], []).append(target["args"]["connection_id"])
    launched: dict[Any, list[int]] = {}
    for event in trace():
        if event.get("cat") == "async_npu" and event["ph"] == "s":
            launched.setdefault((event["tid"], event["ts"]), []).extend(ends[event["id"]])
    kinds = {"cpu_op": "op", "enqueue": "queue", "dequeue": "queue"}
    for event in trace():
        if event["ph"] != "X" or event.get("cat") not in kinds:
            continue
        start, length = nanoseconds([event["ts"], event["dur"]])
        args = event["args"]
        connections = [args["correlation_id"]] if "correlation_id" in args else []
        if event["cat"] == "cpu_op":
            connections = launched.pop((event["tid"], event["ts"]), [])
        key = len(rows) if connections else None
        links += [{"id": key, "connectionId": one} for one in connections]
        stack = args.get("Call stack")
        if stack is not None:
            frames += [
                {"id": len(rows), "stack": frame, "stackDepth": depth}
                for depth, frame in enumerate(stack.split(";\r\n"))
            ]
        rows.append(
            {
                "startNs": start,
                "endNs": start + length,
                "globalTid": event["tid"],
                "connectionId": key,
                "name": event["name"],
                "inputShapes": args.get("Input Dims"),
                "callchainId": None if stack is None else len(rows),
                "type": kinds[event["cat"]],
            }
        )
        if event["name"].startswith("ProfilerStep#"):
            number = int(event["name"].partition("#")[2])
            steps.append({"id": number, "startNs": start, "endNs": start + length})
    return {
        "PYTORCH_API": table("PYTORCH_API", rows),
        "CONNECTION_IDS": table("CONNECTION_IDS", links),
        "PYTORCH_CALLCHAINS": table("PYTORCH_CALLCHAINS", frames),
        "STEP_TIME": table("STEP_TIME", steps),
    }


def memory() -> dict[str, pa.Table]:
    """OP_MEMORY, MEMORY_RECORD, NPU_MEM and NPU_MODULE_MEM, exactly."""
    return {
        "OP_MEMORY": table("OP_MEMORY", [block(row) for row in rows_of("operator_memory")]),
        "MEMORY_RECORD": table(
            "MEMORY_RECORD",
            [
                {
                    "component": row["Component"],
                    "timestamp": nanoseconds([row["Timestamp(us)"]])[0],
                    "totalAllocated": amount(row["Total Allocated(MB)"], 1 << 20),
                    "totalReserved": amount(row["Total Reserved(MB)"], 1 << 20),
                    # The graph engine's rows have 0 in the database.
                    "totalActive": amount(row["Total Active(MB)"] or "0", 1 << 20),
                    "streamPtr": amount(row["Stream Ptr"], 1),
                    "deviceId": 0,
                }
                for row in rows_of("memory_record")
                if row["Component"] != "APP"
            ],
        ),
        "NPU_MEM": table(
            "NPU_MEM",
            [
                {
                    "type": "app",
                    "ddr": 0,
                    "hbm": amount(row["Total Reserved(MB)"], 1 << 20),
                    "timestampNs": nanoseconds([row["Timestamp(us)"]])[0],
                    "deviceId": 0,
                }
                for row in rows_of("memory_record")
                if row["Component"] == "APP"
            ],
        ),
        "NPU_MODULE_MEM": table(
            "NPU_MODULE_MEM",
            [
                {
                    "moduleId": row["Component"],
                    "timestampNs": nanoseconds([row["Timestamp(us)"]])[0],
                    "totalReserved": amount(row["Total Reserved(MB)"], 1 << 20),
                    "deviceId": 0,
                }
                for row in rows_of("npu_module_mem")
            ],
        ),
    }


def block(row: Mapping[str, str]) -> dict[str, Any]:
    """A row of OP_MEMORY, where names of the graph engine have no prefix."""

    def time(column: str) -> int | None:
        return nanoseconds([row[column]])[0] if row[column] else None

    return {
        "name": row["Name"].removeprefix("cann::"),
        "size": amount(row["Size(KB)"], 1 << 10),
        "allocationTime": time("Allocation Time(us)"),
        "releaseTime": time("Release Time(us)"),
        "activeReleaseTime": time("Active Release Time(us)"),
        "duration": time("Duration(us)"),
        "activeDuration": time("Active Duration(us)"),
        "allocationTotalAllocated": amount(row["Allocation Total Allocated(MB)"], 1 << 20),
        "allocationTotalReserved": amount(row["Allocation Total Reserved(MB)"], 1 << 20),
        "allocationTotalActive": amount(row["Allocation Total Active(MB)"], 1 << 20),
        "releaseTotalAllocated": amount(row["Release Total Allocated(MB)"], 1 << 20),
        "releaseTotalReserved": amount(row["Release Total Reserved(MB)"], 1 << 20),
        "releaseTotalActive": amount(row["Release Total Active(MB)"], 1 << 20),
        "streamPtr": amount(row["Stream Ptr"], 1),
        "deviceId": 0,
    }


def amount(cell: str, unit: int) -> int | None:
    """A cell as whole bytes, which multiples of powers of two are exactly."""
    return int(float(cell) * unit) if cell else None
