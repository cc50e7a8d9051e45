"""Rows of the tables that tell what ran on the devices and which host call caused it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ascend_ref.db.encode.habits import UINT32_NONE, Habits
from ascend_ref.db.encode.recording import NOT_COLLECTED
from ascend_ref.derive.group_hash import group_hash

from .device import COMMUNICATION_STREAM, PROFILING_STREAM, SCHEDULE_STREAM
from .intervals import Interval, difference, union
from .shape import Shape
from .world import FREQUENCY_MHZ, LAUNCH_THREAD, PROCESS, Kernel, Task, Transfer, World

Row = dict[str, object]
Rows = list[Row]

AIC_PIPES = ("mac", "scalar", "mte1", "mte2", "fixpipe")
AIV_PIPES = ("vec", "mac", "scalar", "mte1", "mte2", "mte3")
AIV_IDLE_PIPES = ("mac", "mte1")
AIC_CORES = ("AI_CORE", "MIX_AIC")
AIV_CORES = ("AI_VECTOR_CORE", "MIX_AIV")


def global_tid(thread: int) -> int:
    """Process id in the high 32 bits, thread id in the low ones."""
    return PROCESS << 32 | thread


def task_tables(
    world: World, shape: Shape, habits: Habits, blocks_renamed: bool
) -> dict[str, Rows]:
    """Rows of the task tables. ``blocks_renamed``: blockNum exists, blockDim means SIMT blocks."""
    level = shape.level
    computing = sorted(
        ((task, task.kernel) for task in world.tasks if task.kernel),
        key=lambda pair: pair[0].identity,
    )
    return {
        "TASK": [_task(task, habits) for task in world.tasks],
        "COMPUTE_TASK_INFO": [
            _compute(task, kernel, level, blocks_renamed) for task, kernel in computing
        ],
        "COMMUNICATION_SCHEDULE_TASK_INFO": [
            {
                "name": task.schedules,
                "globalTaskId": task.identity,
                "taskType": "AI_CPU" if level else NOT_COLLECTED,
                "opType": task.schedules if level else NOT_COLLECTED,
            }
            for task in world.tasks
            if task.schedules
        ],
        "MEMCPY_INFO": [
            {
                "globalTaskId": task.identity,
                "size": task.copies[0],
                "memcpyOperation": task.copies[1],
            }
            for task in world.tasks
            if task.copies
        ],
        "TASK_PMU_INFO": list(_counters(computing)) if shape.with_pmu else [],
        "CANN_API": [
            {
                "startNs": call.start,
                "endNs": call.end,
                "type": call.level,
                "globalTid": global_tid(call.thread),
                "connectionId": call.connection,
                "name": call.name,
            }
            for call in world.calls
        ],
        "MSTX_EVENTS": [
            {
                "startNs": mark.start,
                "endNs": mark.end,
                "eventType": mark.kind,
                "rangeId": UINT32_NONE,
                "category": 0,
                "message": mark.message,
                "globalTid": global_tid(PROCESS),
                "endGlobalTid": global_tid(PROCESS),
                "domainId": mark.domain,
                "connectionId": mark.connection,
            }
            for mark in world.marks
        ],
        "CCU": list(_ccu(world)),
        "DPU_TASK": list(_dpu(world)),
    }


def _task(task: Task, habits: Habits) -> Row:
    connection = task.connection
    if connection is None:
        connection = task.call.connection if task.call else habits.no_connection
    return {
        "startNs": task.start,
        "endNs": task.end,
        "deviceId": task.device,
        "connectionId": connection,
        "globalTaskId": task.identity,
        "globalPid": PROCESS,
        "taskType": task.kind,
        "contextId": task.context,
        "streamId": task.stream,
        "taskId": task.number,
        "modelId": task.model,
    }


def _compute(task: Task, kernel: Kernel, level: int, blocks_renamed: bool) -> Row:
    blocks = kernel.blocks if level else 0
    cores: Row = {"blockDim": blocks, "mixBlockDim": 0}
    if blocks_renamed:
        simt = kernel.core == "AI_VECTOR_CORE"
        grid, block = ("8,1,1", "128,1,1") if simt else (NOT_COLLECTED, NOT_COLLECTED)
        cores = {"blockNum": blocks, "mixBlockNum": 0, "gridDim": grid, "blockDim": block}
    attributes: Row = {
        "taskType": kernel.core,
        "opType": kernel.op_type,
        "inputFormats": kernel.formats,
        "inputDataTypes": kernel.data_types,
        "inputShapes": kernel.shapes,
        "outputFormats": kernel.formats.partition(";")[0],
        "outputDataTypes": kernel.data_types.partition(";")[0],
        "outputShapes": f'"{kernel.shapes.strip(chr(34)).partition(";")[0]}"',
        "attrInfo": NOT_COLLECTED,
        "opState": kernel.dynamic,
        "hf32Eligible": kernel.hf32,
    }
    if level == 0:
        attributes = dict.fromkeys(attributes, NOT_COLLECTED)
    return {"name": kernel.name, "globalTaskId": task.identity, **cores, **attributes}


def _counters(computing: list[tuple[Task, Kernel]]) -> Iterator[Row]:
    """28 metrics of each task that uses cores, metric after metric (db-schema.md 4.12, 7.9)."""
    columns = [(task, _metrics(task, kernel)) for task, kernel in computing if kernel.blocks]
    for name in columns[0][1] if columns else ():
        for task, metrics in columns:
            yield {"globalTaskId": task.identity, "name": name, "value": metrics[name]}


def _metrics(task: Task, kernel: Kernel) -> dict[str, float]:
    """Cycles over all blocks are whole; a time is cycles / (MHz x blocks), a ratio time / total."""
    cycles = (task.end - task.start) * FREQUENCY_MHZ * kernel.blocks * 17 // 20_000
    scale = 1000 / (FREQUENCY_MHZ * kernel.blocks)
    metrics: dict[str, float] = {}
    for prefix, cores, pipes, idle in (
        ("aic", AIC_CORES, AIC_PIPES, ()),
        ("aiv", AIV_CORES, AIV_PIPES, AIV_IDLE_PIPES),
    ):
        own_cycles = cycles if kernel.core in cores else 0
        total = own_cycles * scale
        metrics[f"{prefix}_total_time"] = total
        metrics[f"{prefix}_total_cycles"] = own_cycles
        for place, pipe in enumerate(pipes):
            share = 0 if pipe in idle else own_cycles * (place + 2) // 9
            time = share * scale
            metrics[f"{prefix}_{pipe}_time"] = time
            metrics[f"{prefix}_{pipe}_ratio"] = time / total if total else 0
        metrics[f"{prefix}_icache_miss_rate"] = 0.0625 if own_cycles else 0
    return metrics


def communication_tables(world: World, shape: Shape, habits: Habits) -> dict[str, Rows]:
    """Rows of COMMUNICATION_OP and COMMUNICATION_TASK_INFO."""
    operators: Rows = []
    parts: Rows = []
    ordered = sorted(world.collectives, key=lambda item: item.span(habits.masters_bound))
    for number, operator in enumerate(ordered, habits.first_operator):
        start, end = operator.span(habits.masters_bound)
        operators.append(
            {
                "opName": operator.name,
                "startNs": start,
                "endNs": end,
                "connectionId": operator.call.connection,
                "groupName": world.group,
                "opId": number,
                "relay": 0,
                "retry": 0,
                "dataType": operator.data_type,
                "algType": "MESH-RING",
                "count": operator.count,
                "opType": f"hcom_{operator.kind}_" if shape.level else NOT_COLLECTED,
                "deviceId": operator.device,
                "rankSize": shape.ranks,
            }
        )
        parts += [
            _transfer(task, task.transfer, number, world.group, shape.level)
            for task in operator.tasks
            if task.transfer
        ]
    return {"COMMUNICATION_OP": operators, "COMMUNICATION_TASK_INFO": parts}


def _transfer(task: Task, transfer: Transfer, operator: int, group: str, level: int) -> Row:
    length = task.end - task.start
    row: Row = {
        "name": transfer.operator.name,
        "globalTaskId": task.identity,
        "taskType": transfer.kind,
        "planeId": transfer.plane,
        "groupName": group,
        "notifyId": transfer.notify,
        "rdmaType": "INVALID_TYPE",
        "srcRank": transfer.source,
        "dstRank": transfer.target,
        "transportType": transfer.transport,
        "size": transfer.size,
        "dataType": transfer.data_type,
        "linkType": transfer.link,
        "opId": operator,
        "isMaster": int(transfer.master),
        "bandwidth": transfer.size / length * 1e9 if length else 0,
    }
    if level == 0:
        none = ("rdmaType", "transportType", "dataType", "linkType", "taskType")
        row |= dict.fromkeys(none, NOT_COLLECTED)
        row |= dict.fromkeys(("planeId", "srcRank", "dstRank"), UINT32_NONE)
        row |= {"notifyId": 0, "size": -1, "bandwidth": 0}
    return row


def overlap_rows(world: World, habits: Habits) -> Rows:
    """OVERLAP_ANALYSIS: per device the intervals of type 0, 1, 2 and 3, none empty."""
    rows: Rows = []
    for device in world.busy_devices:
        computing, communicating = busy(world, device, habits)
        tasks = [
            task
            for task in world.tasks
            if task.device == device and task.stream != PROFILING_STREAM
        ]
        ends = [(task.start, task.end) for task in tasks]
        window = [(min(start for start, _ in ends), max(end for _, end in ends))]
        kinds = (
            ("COMPUTE", computing),
            ("COMMUNICATION", communicating),
            ("COMM_NOT_OVERLAP_COMP", difference(communicating, computing)),
            ("FREE", difference(window, union(computing + communicating))),
        )
        for kind, intervals in kinds:
            for start, end in intervals:
                row: Row = {"deviceId": device, "startNs": start, "endNs": end, "type": kind}
                rows.append({"id": len(rows), **row})
    return rows


def busy(
    world: World, device: int, habits: Habits, step: int | None = None
) -> tuple[list[Interval], list[Interval]]:
    """Unions of the compute tasks and of the communication operators, of all steps or one."""
    begin, end = world.session if step is None else world.steps[step]
    computing = [
        (task.start, task.end)
        for task in world.tasks
        if task.kernel and task.device == device and begin <= task.start < end
    ]
    communicating = [
        operator.span(habits.masters_bound)
        for operator in world.collectives
        if operator.device == device and step in (None, operator.step)
    ]
    return union(computing), union(communicating)


def _arguments(*pairs: tuple[str, object]) -> str:
    """The compact JSON array of alternating keys and values that the exporter writes."""
    flat = [item for pair in pairs for item in pair]
    return json.dumps(flat, separators=(",", ":"))


def _ccu(world: World) -> Iterator[Row]:
    """Two instructions, a loop group and a wait, for each AI CPU kernel that schedules."""
    for task in world.tasks:
        if task.stream != SCHEDULE_STREAM:
            continue
        place = (("Physic Stream Id", task.stream), ("Task Id", task.number))
        loop = _arguments(
            *place,
            ("Instruction ID", 3),
            ("Data Size", 4096),
            ("Bandwidth (B/s)", 4096 * 10**6),
            ("Reduce Op Type", "SUM"),
            ("Input Data Type", "FP32"),
            ("Output Data Type", "FP32"),
        )
        wait = _arguments(*place, ("Notify Instruction ID", 4), ("Notify Rank ID", 1), ("Mask", 1))
        middle = (task.start + task.end) // 2
        for name, start, end, arguments in (
            ("LoopGroup", task.start, middle, loop),
            ("Wait", middle, task.end, wait),
        ):
            yield {
                "deviceId": task.device,
                "globalTaskId": task.identity,
                "name": name,
                "startNs": start,
                "endNs": end,
                "args": arguments,
            }


def _dpu(world: World) -> Iterator[Row]:
    """Tasks of a processing unit on the host; their ids follow those of the devices (4.7)."""
    group = f"{world.group}({group_hash(world.group)})"
    waits = [
        task for task in world.tasks if task.stream == COMMUNICATION_STREAM and not task.transfer
    ]
    for offset, task in enumerate(waits):
        number = 11 + offset
        place = (("Thread Id", LAUNCH_THREAD), ("Physic Stream Id", 1), ("Task Id", number))
        plain = offset % 2 == 0
        details = (
            _arguments(*place, ("Task Type", "HOST_CPU"))
            if plain
            else _arguments(
                *place, ("OP Type", "hcom_send_"), ("Group Name", group), ("Plane Id", 0)
            )
        )
        yield {
            "dpuDeviceId": 0,
            "globalTid": LAUNCH_THREAD,
            "startNs": task.start,
            "endNs": task.end,
            "globalTaskId": len(world.tasks) + offset,
            "streamId": 1,
            "taskId": number,
            "opName": "HostCpuTask" if plain else "hcom_send_",
            "args": details,
        }
