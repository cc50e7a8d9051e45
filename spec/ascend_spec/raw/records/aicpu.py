"""What AI CPUs report, 256 bytes: ``aicpu.data``.

The type of the head says which record it is; nobody describes type 14, AST.

Names are those of the collector's headers; a member whose name the head has as well is called by
its path, as ``data.threadId``. Ticks are of the device's counter.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from construct import (
    Array,
    Construct,
    FixedSized,
    GreedyBytes,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64ul,
    NullStripped,
    Padding,
    Struct,
)

from ascend_spec.core.packed import field

from .communication import (
    hccl_members,
    transfer_amounts,
    transfer_identity,
    transfer_kinds,
    transfer_role,
)
from .compact import HCCL_OP_MEMBERS
from .forms import CONSTANT, DERIVED, UNRECORDED, Shows, additional, head

_aicpu = partial(field, grade="observed")
_SOURCE = ("raw-prof 4.10", "ge-profiling 5.4")

_node = partial(_aicpu, source=(*_SOURCE, "upstream-msprof MsprofAicpuNodeAdditionalData"))


def _ticks(made: Any, *named: tuple[str, str, Shows]) -> tuple[Construct, ...]:
    return tuple(
        made(name, Int64ul, summary, shows=shows, unit="tick") for name, summary, shows in named
    )


def _issuer(made: Any) -> tuple[Construct, ...]:
    return (
        made("streamId", Int16ul, "Stream of the task.", shows="task.stream"),
        made("taskId", Int16ul, "Number of the task in its stream.", shows="task.number"),
    )


AICPU_NODE = additional(
    128,
    head(),
    _node("streamId", Int16ul, "Stream of the task.", shows="aicpu.stream"),
    _node("taskId", Int16ul, "Number of the task in its stream.", shows="aicpu.number"),
    _node("rev", Int32ul, "Not used.", shows=CONSTANT),
    _node("runStartTime", Int64ul, "Start of the kernel.", shows=UNRECORDED, unit="us"),
    *_ticks(_node, ("runStartTick", "Start of the kernel.", "aicpu.time")),
    _node("computeStartTime", Int64ul, "Start of computing.", shows="aicpu.compute", unit="us"),
    _node("memcpyStartTime", Int64ul, "Start of copying memory.", shows="aicpu.memcpy", unit="us"),
    _node("memcpyEndTime", Int64ul, "End of copying memory.", shows="aicpu.memcpy", unit="us"),
    _node("runEndTime", Int64ul, "End of the kernel.", shows=UNRECORDED, unit="us"),
    *_ticks(_node, ("runEndTick", "End of the kernel.", "aicpu.task")),
    _node("data.threadId", Int32ul, "Thread that ran the kernel.", shows=UNRECORDED),
    _node("deviceId", Int32ul, "Device of the kernel.", shows="aicpu.device"),
    *_ticks(
        _node,
        ("submitTick", "When the kernel was submitted.", "aicpu.total"),
        ("scheduleTick", "When it was scheduled.", UNRECORDED),
        ("tickBeforeRun", "Before it ran.", UNRECORDED),
        ("tickAfterRun", "After it ran.", "aicpu.total"),
    ),
    _node("kernelType", Int32ul, "Kind of kernel.", shows=UNRECORDED),
    _node("dispatchTime", Int32ul, "Time of dispatching.", shows="aicpu.dispatch", unit="us"),
    _node("totalTime", Int32ul, "Time in all; exporters take ticks.", shows=UNRECORDED, unit="us"),
    _node("fftsThreadId", Int16ul, "Thread of an FFTS+ task.", shows=UNRECORDED),
    _node("version", Int8ul, "Version of the record.", shows=CONSTANT),
    Padding(9),
)
"""Type 0: a kernel of an AI CPU."""

_dp = partial(_aicpu, source=(*_SOURCE, "upstream-msprof MsprofAicpuDpAdditionalData"))

AICPU_DP = additional(
    112,
    head(time="dp.time", clock="host-monotonic"),  # upstream-msprof ParseDpData
    _dp("action", FixedSized(16, NullStripped(GreedyBytes)), "What was done.", shows="dp.action"),
    _dp(
        "source",
        FixedSized(64, NullStripped(GreedyBytes)),
        "What did it.",
        shows="dp.source",
    ),
    _dp("index", Int64ul, "Number of the event.", shows=UNRECORDED),
    _dp("size", Int64ul, "Size of the buffer.", shows="dp.buffered"),
    Padding(16),
)
"""Type 1: an event of data preparation."""

_model = partial(
    _aicpu,
    source=(*_SOURCE, "upstream-msprof MsprofAicpuModelAdditionalData"),
    shows=UNRECORDED,
)

AICPU_MODEL = additional(
    48,
    head(),
    _model("indexId", Int64ul, "Number of the execution."),
    _model("modelId", Int32ul, "Model.", shows="task.model"),
    _model("tagId", Int16ul, "What happened."),
    _model("rsv1", Int16ul, "Not used.", shows=CONSTANT),
    _model("eventId", Int64ul, "Number of the event."),
    Padding(24),
)
"""Type 2: an event of a model."""

_mi = partial(_aicpu, source=(*_SOURCE, "upstream-msprof MsprofAicpuMiAdditionalData"))

AICPU_MI = additional(
    32,
    head(),
    _mi(
        "nodeTag",
        Int32ul,
        "1, GetNext waits for data of its queue.",
        shows="aicpu_mi.name",
    ),
    Padding(4),
    _mi("queueSize", Int64ul, "Length of the queue.", shows="aicpu_mi.size"),
    _mi("runStartTime", Int64ul, "Start of reading.", shows="aicpu_mi.start", unit="us"),
    _mi("runEndTime", Int64ul, "End of reading.", shows="aicpu_mi.end", unit="us"),
)
"""Type 3: a queue of MindSpore."""

_comm = partial(_aicpu, source=(*_SOURCE, "upstream-msprof AicpuKfcProfCommTurn"))

KFC_COMM_TURN = additional(
    80,
    head(),
    *_ticks(
        _comm,
        ("serverStartTime", "Start of the kernel.", UNRECORDED),
        ("waitMsgStartTime", "Start of waiting for a message.", UNRECORDED),
        ("kfcAlgExeStartTime", "Start of the algorithm.", UNRECORDED),
        ("sendTaskStartTime", "Start of sending tasks.", UNRECORDED),
        ("sendSqeFinishTime", "End of sending tasks.", UNRECORDED),
        ("rtsqExeEndTime", "End of the tasks.", UNRECORDED),
        ("serverEndTime", "End of the kernel.", UNRECORDED),
    ),
    _comm("data.dataLen", Int64ul, "Data of this turn.", shows=UNRECORDED, unit="Byte"),
    _comm("deviceId", Int32ul, "Device of the kernel.", shows="task.device"),
    *_issuer(_comm),
    _comm("version", Int8ul, "Version of the record.", shows=CONSTANT),
    _comm("commTurn", Int8ul, "Turns in all.", shows=UNRECORDED),
    _comm("currentTurn", Int8ul, "This turn.", shows=UNRECORDED),
    Padding(5),
)
"""Type 4: a turn of communication of a kernel that schedules it."""

_compute = partial(_aicpu, source=(*_SOURCE, "upstream-msprof KfcComputeTurnBean"))

KFC_COMPUTE_TURN = additional(
    48,
    head(),
    *_ticks(
        _compute,
        ("waitComputeStartTime", "Start of waiting for the computation.", UNRECORDED),
        ("computeStartTime", "Start of the computation.", UNRECORDED),
        ("computeExeEndTime", "End of the computation.", UNRECORDED),
    ),
    _compute("data.dataLen", Int64ul, "Data of this turn.", shows=UNRECORDED, unit="Byte"),
    _compute("deviceId", Int32ul, "Device of the kernel.", shows="task.device"),
    *_issuer(_compute),
    _compute("version", Int8ul, "Version of the record.", shows=CONSTANT),
    _compute("computeTurn", Int8ul, "Turns in all.", shows=UNRECORDED),
    _compute("currentTurn", Int8ul, "This turn.", shows=UNRECORDED),
    Padding(5),
)
"""Type 5: a turn of computation between turns of communication."""

_mc2 = partial(_aicpu, source=("ge-profiling 5.4",))

AICPU_MC2_HCCL_INFO = additional(
    128,
    head(),
    *hccl_members(_mc2),
    _mc2("taskId", Int32ul, "Number of the task in its stream.", shows="transfer.number"),
    _mc2("streamId", Int16ul, "Stream of the task.", shows="transfer.stream"),
    Padding(6),
)
"""Type 6: a communication task as AI CPUs report it; the exporter reads type 13 instead."""

_hccl_op = partial(_aicpu, source=(*_SOURCE, "upstream-msprof DEVICE_HCCL_OP_INFO_FMT"))

AICPU_HCCL_OP_INFO = additional(
    36,
    head(),
    *HCCL_OP_MEMBERS,
    _hccl_op("ranksize", Int32ul, "Ranks in the group.", shows="collective.ranks"),
    _hccl_op("streamId", Int16ul, "Stream of the kernel.", shows="task.stream"),
    _hccl_op("taskId", Int32ul, "Number of the kernel in its stream.", shows="task.number"),
)
"""Type 10: a communication operator."""

_flip = partial(_aicpu, source=(*_SOURCE, "upstream-msprof AICPU_FLIP_TASK_FMT"))

AICPU_FLIP_TASK = additional(
    8,
    head(),
    _flip("streamId", Int16ul, "Stream whose numbers of tasks start again.", shows="task.stream"),
    _flip("taskId", Int16ul, "Number of the task.", shows="task.number"),
    _flip("flipNum", Int32ul, "How often they have started again.", shows="task.batch"),
)
"""Type 11: numbers of tasks start again."""

_flag = partial(_aicpu, source=(*_SOURCE, "upstream-msprof AICPU_MASTER_STREAM_HCCL_TASK_FMT"))

AICPU_MASTER_STREAM_HCCL_TASK = additional(
    10,
    head(),
    _flag("aicpuStreamId", Int16ul, "Stream of the kernel.", shows=UNRECORDED),
    _flag("aicpuTaskId", Int16ul, "Number of the kernel in its stream.", shows=UNRECORDED),
    _flag("streamId", Int16ul, "Main stream of the communication.", shows="transfer.stream"),
    _flag("taskId", Int16ul, "Number of the task in that stream.", shows="transfer.number"),
    _flag("data.type", Int16ul, "0 the first task, 1 the last one.", shows=DERIVED),
)
"""Type 12: first and last task of a communication operator on its main stream."""

_kfc = partial(_aicpu, source=(*_SOURCE, "upstream-msprof KfcHcclInfoBean"))

KFC_HCCL_TASK = Struct(
    *transfer_identity(_kfc),
    _kfc("stage", Int32ul, "Stage of the algorithm.", shows=UNRECORDED),
    _kfc("notifyID", Int64ul, "Notification, all ones for none.", shows="transfer.notify"),
    _kfc("timeStamp", Int64ul, "Time of the record.", shows=UNRECORDED, unit="tick"),
    *transfer_amounts(_kfc),
    _kfc("taskId", Int32ul, "Number of the task in its stream.", shows="transfer.number"),
    Padding(4),
    _kfc("streamId", Int16ul, "Stream of the task.", shows="transfer.stream"),
    _kfc("planeID", Int16ul, "Parallel path of the communication.", shows="transfer.plane"),
    *transfer_kinds(_kfc, Int8ul),
    transfer_role(_kfc, Int8ul),
    _kfc("workFlowMode", Int8ul, "Way of working of the operator.", shows=UNRECORDED),
    Padding(9),
)
"""One communication task, 116 bytes."""

KFC_HCCL_INFO = additional(
    232,
    head(),
    _kfc(
        "tasks",
        Array(2, KFC_HCCL_TASK),
        "Two tasks, of which the second may be empty; the place has no name of its own.",
    ),
)
"""Type 13: communication tasks that AI CPUs scheduled."""

assert KFC_HCCL_TASK.sizeof() == 116  # noqa: S101
