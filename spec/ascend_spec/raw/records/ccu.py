"""What the host reports of the CCU, the unit for collective communication, 256 bytes.

Names are those of the exporter, in the spelling of the headers; offsets are those of its formats.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from construct import Array, Construct, Int8ul, Int16ul, Int32ul, Int64ul, Padding

from ascend_spec.core.packed import field

from .forms import HASH_DIC, UNRECORDED, additional, head

CHANNELS = 16
"""Channels of one record."""

_ccu = partial(field, grade="observed", shows=UNRECORDED)
_task = partial(_ccu, source=("raw-prof 4.4", "upstream-msprof CCUTaskInfoBean"))
_wait = partial(_ccu, source=("raw-prof 4.4", "upstream-msprof CCUWaitSignalInfoBean"))
_group = partial(_ccu, source=("raw-prof 4.4", "upstream-msprof CCUGroupInfoBean"))


def _who(made: Any) -> tuple[Construct, ...]:
    """Item, group and ranks, as in all three."""
    return (
        made("itemId", Int64ul, "Hash of the operator's name.", values=HASH_DIC),
        made(
            "groupName", Int64ul, "Hash of the group's name.", shows="group.name", values=HASH_DIC
        ),
        made("rankId", Int32ul, "Own place in the group.", shows="group.rank"),
        made("rankSize", Int32ul, "Ranks in the group.", shows="group.size"),
    )


def _signals(made: Any) -> tuple[Construct, ...]:
    """From the version to the instruction, as in the two records with channels."""
    return (
        made("version", Int8ul, "Version of the record."),
        Padding(7),
        *_who(made),
        made("workFlowMode", Int8ul, "Way of working of the operator."),
        Padding(1),
        made("streamId", Int16ul, "Stream of the task.", shows="task.stream"),
        made("taskId", Int32ul, "Number of the task.", shows="task.number"),
        made("dieId", Int8ul, "Die of the unit."),
        Padding(1),
        made("instrId", Int16ul, "Instruction.", shows="ccu_mission.instruction_id"),
        made("missionId", Int8ul, "Mission of the unit."),
    )


def _channels(made: Any) -> tuple[Construct, ...]:
    return (
        made("channelId", Array(CHANNELS, Int16ul), "Channels."),
        made(
            "remoteRankId",
            Array(CHANNELS, Int32ul),
            "Rank at the other end of each channel.",
            shows="ccu_mission.notify_rank_id",
        ),
    )


CCU_TASK_INFO = additional(
    44,
    head(),
    _task("version", Int8ul, "Version of the record."),
    _task("workFlowMode", Int8ul, "Way of working of the operator."),
    Padding(6),
    *_who(_task),
    _task("streamId", Int16ul, "Stream of the task.", shows="task.stream"),
    Padding(2),
    _task("taskId", Int32ul, "Number of the task.", shows="task.number"),
    _task("dieId", Int8ul, "Die of the unit."),
    _task("missionId", Int8ul, "Mission of the unit."),
    _task("instrId", Int16ul, "First instruction.", shows="ccu_mission.instruction_id"),
)
"""``ccu_task_info``: what a task runs on the unit."""

CCU_WAIT_SIGNAL_INFO = additional(
    152,
    head(),
    *_signals(_wait),
    Padding(3),
    _wait("ckeId", Int32ul, "Event that is waited for."),
    _wait("mask", Int32ul, "Bits of the event that are waited for."),
    *_channels(_wait),
)
"""``ccu_wait_signal_info``: an instruction that waits."""

CCU_GROUP_INFO = additional(
    152,
    head(),
    *_signals(_group),
    _group("reduceOpType", Int8ul, "Reduction.", values="hccl_op_types"),
    _group("inputDataType", Int8ul, "Type of what is read.", values="ENUM_HCCL_DATA_TYPE"),
    _group("outputDataType", Int8ul, "Type of what is written.", values="ENUM_HCCL_DATA_TYPE"),
    _group("dataSize", Int64ul, "Amount of data.", unit="Byte"),
    *_channels(_group),
)
"""``ccu_group_info``: an instruction that reads or writes several channels at once."""
