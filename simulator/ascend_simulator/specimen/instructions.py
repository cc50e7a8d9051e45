"""Instructions of the collective communication unit, and tasks of a processing unit on the host."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ascend_ref.derive.group_hash import group_hash

from .world import COMMUNICATION_STREAM, LAUNCH_THREAD, SCHEDULE_STREAM, Rows, World


def instruction_tables(world: World) -> dict[str, Rows]:
    """Rows of CCU and DPU_TASK, which belong to other products than the rest of a specimen."""
    return {"CCU": list(_ccu(world)), "DPU_TASK": list(_dpu(world))}


def _arguments(*pairs: tuple[str, object]) -> str:
    """The compact JSON array of alternating keys and values that the exporter writes."""
    flat = [item for pair in pairs for item in pair]
    return json.dumps(flat, separators=(",", ":"))


def _ccu(world: World) -> Iterator[Mapping[str, object]]:
    """Two instructions, a loop group and a wait, for each AI CPU kernel that schedules."""
    for task in world.rows["tasks"]:
        if task["stream"] != SCHEDULE_STREAM:
            continue
        shown = (("Physic Stream Id", task["stream"]), ("Task Id", task["number"]))
        loop = _arguments(
            *shown,
            ("Instruction ID", 3),
            ("Data Size", 4096),
            ("Bandwidth (B/s)", 4096 * 10**6),
            ("Reduce Op Type", "SUM"),
            ("Input Data Type", "FP32"),
            ("Output Data Type", "FP32"),
        )
        wait = _arguments(*shown, ("Notify Instruction ID", 4), ("Notify Rank ID", 1), ("Mask", 1))
        middle = (task["start"] + task["end"]) // 2
        for name, start, end, arguments in (
            ("LoopGroup", task["start"], middle, loop),
            ("Wait", middle, task["end"], wait),
        ):
            place = {"deviceId": task["device"], "globalTaskId": task.number}
            yield place | {"name": name, "startNs": start, "endNs": end, "args": arguments}


def _dpu(world: World) -> Iterator[Mapping[str, object]]:
    """Tasks of a processing unit on the host; their ids follow those of the devices (4.7)."""
    group = f"{world.group}({group_hash(world.group)})"
    moving = {row["task"].number for row in world.rows["transfers"]}
    waits = [
        task
        for task in world.rows["tasks"]
        if task["stream"] == COMMUNICATION_STREAM and task.number not in moving
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
            "startNs": task["start"],
            "endNs": task["end"],
            "globalTaskId": len(world.rows["tasks"]) + offset,
            "streamId": 1,
            "taskId": number,
            "opName": "HostCpuTask" if plain else "hcom_send_",
            "args": details,
        }
