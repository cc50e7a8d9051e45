"""What the host reports of communication, 256 bytes; AI CPUs report parts of the same."""

from __future__ import annotations

from functools import partial
from typing import Any

from construct import (
    BitsInteger,
    Construct,
    Float64l,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64ul,
    Padding,
)

from ascend_spec.core.packed import Field, field

from .forms import (
    CONSTANT,
    HASH_DIC,
    UNRECORDED,
    additional,
    bits,
    head,
)

_additional = partial(field, grade="observed")
_SOURCE = ("raw-prof 4.4", "ge-profiling 5.4")

_hccl = partial(
    _additional, source=("raw-prof 4.5", "ge-profiling 5.4", "upstream-msprof MsprofHcclInfo")
)


def transfer_identity(made: Any) -> tuple[Field, ...]:
    """How every record of a communication task begins."""
    return (
        made("itemId", Int64ul, "Hash of the task's name.", shows="transfer.kind", values=HASH_DIC),
        made(
            "cclTag", Int64ul, "Hash of the tag of the operator.", shows=UNRECORDED, values=HASH_DIC
        ),
        made(
            "groupName",
            Int64ul,
            "Hash of the group's name.",
            shows="transfer.group",
            values=HASH_DIC,
        ),
        made(
            "localRank", Int32ul, "Own rank, whichever way the data goes.", shows="transfer.source"
        ),
        made("remoteRank", Int32ul, "The other rank.", shows="transfer.target"),
        made("rankSize", Int32ul, "Ranks in the group.", shows="collective.ranks"),
    )


def transfer_amounts(made: Any) -> tuple[Field, ...]:
    """How long a communication task should take, and what it moves."""
    return (
        made(
            "durationEstimated",
            Float64l,
            "How long the transfer should take.",
            shows="transfer.estimate",
            unit="us",
        ),
        made("srcAddr", Int64ul, "Address that the data comes from.", shows=UNRECORDED),
        made("dstAddr", Int64ul, "Address that the data goes to.", shows=UNRECORDED),
        made("dataSize", Int64ul, "Amount of data.", shows="transfer.size", unit="Byte"),
    )


def transfer_kinds(made: Any, form: Construct) -> tuple[Field, ...]:
    """The enumerated facts of a communication task, each of one form."""
    return (
        made(
            "opType",
            form,
            "Reduction.",
            shows=UNRECORDED,
            values="hccl_op_types",
        ),
        made(
            "dataType",
            form,
            "Type of the data elements.",
            shows="transfer.data_type",
            values="ENUM_HCCL_DATA_TYPE",
        ),
        made(
            "linkType",
            form,
            "Link that the data goes over.",
            shows="transfer.link",
            values="ENUM_HCCL_LINK_TYPE",
        ),
        made(
            "transportType",
            form,
            "How the data goes.",
            shows="transfer.transport",
            values="ENUM_HCCL_TRANSPORT_TYPE",
        ),
        made(
            "rdmaType",
            form,
            "Part of a transfer over RDMA.",
            shows="transfer.rdma",
            values="ENUM_HCCL_RDMA_TYPE",
        ),
    )


def transfer_role(made: Any, form: Construct) -> Field:
    """Which side of a transfer the own rank is."""
    found: Field = made(
        "role", form, "0 the side that receives, 1 the side that sends.", shows=UNRECORDED
    )
    return found


def hccl_members(made: Any) -> tuple[Field, ...]:
    """What host and AI CPU report of a communication task, 116 bytes."""
    return (
        *transfer_identity(made),
        made("workFlowMode", Int32ul, "Way of working of the operator.", shows=UNRECORDED),
        made("planeID", Int32ul, "Parallel path of the communication.", shows="transfer.plane"),
        made(
            "ctxId",
            Int32ul,
            "Number of the sub-task inside its FFTS+ task, 4294967295 for none.",
            shows="transfer.context",
        ),
        made("notifyID", Int64ul, "Notification, all ones for none.", shows="transfer.notify"),
        made("stage", Int32ul, "Stage of the algorithm.", shows=UNRECORDED),
        transfer_role(made, Int32ul),
        *transfer_amounts(made),
        *transfer_kinds(made, Int32ul),
    )


HCCL_INFO = additional(
    120,
    head(kind="transfer.master"),
    *hccl_members(_hccl),
    _hccl("reserve2", Int32ul, "Not used.", shows=CONSTANT),
)
"""``hccl_info``: a task of a communication operator."""

_dpu = partial(
    _additional, source=("raw-prof 4.4", "ge-profiling 5.4", "upstream-msprof MsprofDpuHcclTrack")
)

DPU_HCCL_INFO = additional(
    112,
    head(),
    *transfer_identity(_dpu),
    _dpu("stage", Int32ul, "Stage of the algorithm.", shows=UNRECORDED),
    _dpu("notifyID", Int64ul, "Notification, all ones for none.", shows="transfer.notify"),
    _dpu("data.timeStamp", Int64ul, "Start of the task.", shows="transfer.start", unit="tick"),
    *transfer_amounts(_dpu),
    _dpu("taskId", Int32ul, "Number of the task.", shows="transfer.number"),
    _dpu("aicpu_task_id", Int32ul, "Number of the AI CPU task.", shows=UNRECORDED),
    _dpu("streamId", Int16ul, "Stream of the task.", shows="transfer.stream"),
    _dpu("planeID", Int16ul, "Parallel path of the communication.", shows="transfer.plane"),
    _dpu("npuDevId", Int16ul, "Device.", shows="transfer.device"),
    _dpu(
        "dpuDevId",
        bits(
            _dpu("devType", BitsInteger(4), "1, a data processing unit.", shows=CONSTANT),
            _dpu("dpuDevId", BitsInteger(12), "Unit.", shows=UNRECORDED),
        ),
        "Kind of the device, and the device.",
    ),
    *transfer_kinds(_dpu, Int8ul),
    transfer_role(_dpu, Int8ul),
    _dpu("workFlowMode", Int8ul, "Way of working of the operator.", shows=UNRECORDED),
    Padding(1),
)
"""``dpu_hccl_info``: a task of a communication operator on a data processing unit."""
