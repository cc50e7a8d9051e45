"""What the host reports in 64 bytes: compact records.

Names are those of the collector's headers. Times are ticks of the host's counter.
"""

from __future__ import annotations

from functools import partial

from construct import (
    BitsInteger,
    BitStruct,
    Int8ul,
    Int16ul,
    Int32sl,
    Int32ul,
    Int64ul,
    Padded,
    Padding,
    Struct,
    Union,
)

from ascend_spec.core.packed import field

from .forms import (
    CONSTANT,
    DERIVED,
    HASH_DIC,
    REPEATED,
    UNRECORDED,
    bits,
    compact,
    head,
)

_compact = partial(field, grade="observed")
_track = partial(
    _compact, source=("raw-prof 4.2", "ge-profiling 5.3", "upstream-msprof MsprofRuntimeTrack")
)
_device_id = partial(
    _track,
    "deviceId",
    bits(
        _track(
            "devType",
            BitsInteger(4),
            "0 for an NPU, 1 for a data processing unit.",
            shows=UNRECORDED,
        ),
        _track("deviceId", BitsInteger(12), "Device of the task.", shows="task.device"),
    ),
    "Kind of the device, and the device.",
)

KERNEL_EXTENSION = Struct(
    _track("numBlocks", Int16ul, "Cores that the kernel is split over.", shows="kernel.blocks"),
    _track("argsSize", Int16ul, "Size of its arguments.", shows=UNRECORDED, unit="Byte"),
    _track(
        "mode",
        BitStruct(
            Padding(3),
            _track("schedMode", BitsInteger(2), "How the kernel is scheduled.", shows=UNRECORDED),
            _track(
                "ratio",
                BitsInteger(3),
                "Cores of the second kind for each of the first.",
                shows=UNRECORDED,
            ),
        ),
        "The headers' bits ratio, schedMode and rsv; the byte has no name of its own.",
    ),
    Padding(11),
)
"""What a task track has of a kernel."""

DIM3 = Struct(
    _track("x", Int16ul, "First dimension.", shows=DERIVED),
    _track("y", Int16ul, "Second dimension.", shows=DERIVED),
    _track("z", Int16ul, "Third dimension.", shows=DERIVED),
)

SIMT_EXTENSION = Struct(
    _track("gridDim", DIM3, "Grid of the kernel.", shows="kernel.grid"),
    _track("blockDim", DIM3, "Thread block of the kernel.", shows="kernel.thread_block"),
    _track("argsSize", Int16ul, "Size of its arguments.", shows=UNRECORDED, unit="Byte"),
    _track(
        "mode",
        BitStruct(
            Padding(6),
            _track("schedMode", BitsInteger(2), "How the kernel is scheduled.", shows=UNRECORDED),
        ),
        "The headers' bits schedMode and rsv; the byte has no name of its own.",
    ),
    Padding(1),
)
"""What a task track has of a SIMT kernel."""

MODEL_EXTENSION = Struct(
    _compact(
        "modelId",
        Int32ul,
        "Model that is executed.",
        source=("ge-profiling 5.3",),
        shows="task.model",
    ),
)
"""What a task track has of a model."""

_extension = _track(
    "extInfo",
    Padded(
        16,
        Union(
            0,
            "kernelInfo" / KERNEL_EXTENSION,
            "simtKernelInfo" / SIMT_EXTENSION,
            "modelInfo" / MODEL_EXTENSION,
        ),
    ),
    "More of the task, by its kind.",
)

TASK_TRACK = compact(
    40,
    head(),
    _device_id(),
    _track("streamId", Int16ul, "Stream of the task.", shows="task.stream"),
    _track(
        "taskId",
        bits(
            _track(
                "batchId",
                BitsInteger(16),
                "Upper half of the number of the task: how often the numbers have started again on "
                "chips before 15.",
                shows="task.batch",
            ),
            _track(
                "taskId",
                BitsInteger(16),
                "Lower half of the number of the task, by itself the number on chips before 15.",
                shows="task.number",
            ),
        ),
        "Number of the task; from chip 15 on all 32 bits, unique on the device.",
    ),
    _track(
        "taskType",
        Int64ul,
        "Kind of task as the runtime numbers it; type_info_dic names it at level 5000.",
        shows="task.kind",
        values="runtime_task_types",
    ),
    _track(
        "kernelName", Int64ul, "Hash of the kernel's name.", shows="kernel.name", values=HASH_DIC
    ),
    _extension,
)
"""``task_track``: a task that the runtime issued."""

_track_v2 = partial(_compact, source=("ge-profiling 5.3",))

TASK_TRACK_V2 = compact(
    40,
    head(),
    _track_v2("deviceId", Int16ul, "Device of the task.", shows="task.device"),
    Padding(2),
    _track_v2("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
    _track_v2("taskId", Int32ul, "Number of the task.", shows="task.number"),
    _track_v2(
        "taskType",
        Int32ul,
        "Kind of task as the runtime numbers it.",
        shows="task.kind",
        values="runtime_task_types",
    ),
    _track_v2(
        "kernelName", Int64ul, "Hash of the kernel's name.", shows="kernel.name", values=HASH_DIC
    ),
    _extension,
)
"""``task_track_v2``: as :data:`TASK_TRACK` with wide numbers; the exporter does not read it."""

_basic = partial(
    _compact, source=("raw-prof 4.3", "ge-profiling 5.3", "upstream-msprof MsprofNodeBasicInfo")
)

NODE_BASIC_INFO = compact(
    28,
    head(),
    _basic("opName", Int64ul, "Hash of the operator's name.", shows="kernel.name", values=HASH_DIC),
    _basic(
        "taskType",
        Int32ul,
        "Accelerator that the host chose.",
        shows="kernel.core",
        values="ge_task_types",
    ),
    _basic(
        "opType", Int64ul, "Hash of the operator's type.", shows="kernel.op_type", values=HASH_DIC
    ),
    _basic(
        "blockNum",
        bits(
            _basic(
                "ratio",
                BitsInteger(16),
                "Cores of the second kind for each of the first, in mixed operators.",
                shows="kernel.mix_blocks",
            ),
            _basic(
                "blockNum",
                BitsInteger(16),
                "Cores that the operator is split over.",
                shows="kernel.blocks",
            ),
        ),
        "Cores of both kinds; blockDim in the header of the collector.",
    ),
    _basic(
        "opFlag",
        Int32ul,
        "Not 0 where the operator may compute in HF32.",
        shows="kernel.hf32",
    ),
)
"""``node_basic_info``: what an operator is. Its state is the prefix of the file."""

_attr = partial(
    _compact, source=("raw-prof 4.3", "ge-profiling 5.3", "upstream-msprof MsprofAttrInfo")
)

NODE_ATTR_INFO = compact(
    20,
    head(),
    _attr("opName", Int64ul, "Hash of the operator's name.", shows="kernel.name", values=HASH_DIC),
    _attr("attrType", Int32ul, "Always 0, attributes of an operator.", shows=CONSTANT),
    _attr(
        "hashId",
        Int64ul,
        "Hash of the text of the attributes.",
        shows="kernel.attributes",
        values=HASH_DIC,
    ),
)
"""``node_attr_info``: the attributes of an operator."""

_hccl_op = partial(
    _compact, source=("raw-prof 4.3", "ge-profiling 5.3", "upstream-msprof MsprofHcclOPInfo")
)

HCCL_OP_MEMBERS = (
    _hccl_op(
        "flags",
        BitStruct(
            Padding(6),
            _hccl_op(
                "retry", BitsInteger(1), "Whether the operator ran again.", shows="collective.retry"
            ),
            _hccl_op(
                "relay",
                BitsInteger(1),
                "Whether another link stood in for the usual one.",
                shows="collective.relay",
            ),
        ),
        "The headers' bits relay and retry; the byte has no name of its own.",
    ),
    _hccl_op(
        "dataType",
        Int8ul,
        "Type of the data elements.",
        shows="collective.data_type",
        values="ENUM_HCCL_DATA_TYPE",
    ),
    _hccl_op(
        "algType",
        Int64ul,
        "Hash of the algorithm of each stage, joined by hyphens.",
        shows="collective.algorithm",
        values=HASH_DIC,
    ),
    _hccl_op("count", Int64ul, "Data elements.", shows="collective.count"),
    _hccl_op(
        "groupName", Int64ul, "Hash of the group's name.", shows="collective.group", values=HASH_DIC
    ),
)
"""What host and AI CPU report of a communication operator, 26 bytes."""

HCCL_OP_INFO = compact(26, head(), *HCCL_OP_MEMBERS)
"""``hccl_op_info``: a communication operator."""

_memcpy = partial(
    _compact, source=("raw-prof 4.3", "ge-profiling 5.3", "upstream-msprof MsprofMemcpyInfo")
)

MEMCPY_INFO = compact(
    24,
    head(),
    _memcpy("dataSize", Int64ul, "Amount that is copied.", shows="copy.size", unit="Byte"),
    _memcpy(
        "maxSize",
        Int64ul,
        "Most that one task copies; a larger copy takes several tasks.",
        shows=UNRECORDED,
        unit="Byte",
    ),
    _memcpy(
        "memcpyDirection",
        Int16ul,
        "From where to where. The exporter in Python reads the low half of maxSize instead.",
        shows="copy.operation",
        values="ENUM_MEMCPY_OPERATION",
    ),
    Padding(6),
)
"""``memcpy_info``: a copy, bound to its task by the same thread and exactly the same time."""

_memory = partial(_compact, source=("ge-profiling 5.3",), shows=UNRECORDED)

MEMCPY_EXT_INFO = compact(
    16,
    head(),
    _memory("bytes", Int64ul, "Amount that is copied.", unit="Byte"),
    _memory("copyKind", Int16ul, "From where to where."),
    _memory("deviceId", Int16ul, "Device that copies."),
    _memory("streamId", Int32ul, "Stream of the copy."),
)
"""``memcpy_ext_info``; the exporter does not read it."""

MEMSET_INFO = compact(
    24,
    head(),
    _memory("bytes", Int64ul, "Size of the memory.", unit="Byte"),
    _memory("value", Int32sl, "What the memory is set to."),
    _memory("streamId", Int32ul, "Stream of the task."),
    _memory("deviceId", Int16ul, "Device of the memory."),
    Padding(6),
)
"""``memset_info``; the exporter does not read it."""

MEMMNG_INFO = compact(
    32,
    head(),
    _memory("address", Int64ul, "Address of the memory."),
    _memory("size", Int64ul, "Size of the memory.", unit="Byte"),
    _memory("memoryType", Int32ul, "0 unknown, 1 host, 2 device, 3 managed."),
    _memory("memMngType", Int16ul, "What is done with it."),
    _memory("deviceId", Int16ul, "Device of the memory."),
    _memory("streamId", Int32ul, "Stream of the request."),
    Padding(4),
)
"""``memmng_info``; the exporter does not read it."""

_capture = partial(
    _compact, source=("raw-prof 4.3", "ge-profiling 5.3", "upstream-msprof MsprofCaptureStreamInfo")
)

CAPTURE_STREAM_INFO = compact(
    10,
    head(),
    _capture("captureStatus", Int16ul, "0 begun, 1 destroyed.", shows=UNRECORDED),
    _capture(
        "modelStreamId",
        Int16ul,
        "Stream that is captured, 65535 when it is destroyed.",
        shows="task.stream",
    ),
    _capture(
        "originalStreamId",
        Int16ul,
        "Stream of the program, 65535 when it is destroyed.",
        shows=UNRECORDED,
    ),
    _capture(
        "modelId",
        Int16ul,
        "Model of the captured graph, numbered apart from those of GE.",
        shows="task.model",
    ),
    _capture(
        "deviceId",
        Int16ul,
        "Device of the stream. The exporter in Python reads the low byte.",
        shows="task.device",
    ),
)
"""``capture_stream_info``: the tasks of a stream belong to a captured graph."""

_wide_capture = partial(_compact, source=("ge-profiling 5.3",))

CAPTURE_STREAM_INFO_V2 = compact(
    16,
    head(),
    _wide_capture("deviceId", Int16ul, "Device of the stream.", shows="task.device"),
    _wide_capture("captureStatus", Int8ul, "0 begun, 1 destroyed.", shows=UNRECORDED),
    Padding(1),
    _wide_capture("streamId", Int32ul, "Stream that is captured.", shows="task.stream"),
    _wide_capture("originalStreamId", Int32ul, "Stream of the program.", shows=UNRECORDED),
    _wide_capture("modelId", Int32ul, "Model of the captured graph.", shows="task.model"),
)
"""``capture_stream_info_v2``: with wide numbers; the exporter does not read it."""

STREAM_SQ_INFO = compact(
    16,
    head(),
    _memory("streamStatus", Int16ul, "0 created, 1 destroyed."),
    Padding(2),
    _memory("streamId", Int32ul, "Stream."),
    _memory("rtsqId", Int16ul, "Queue of the device that the stream uses."),
    _memory("deviceId", Int16ul, "Device of the stream."),
    _memory("tsId", Int16ul, "Task scheduler of the stream."),
    Padding(2),
)
"""``stream_sq_info``; the exporter does not read it."""

EXPAND_STREAM_SPEC = compact(
    4,
    head(),
    _compact(
        "expandStatus",
        Int8ul,
        "1 where the numbers of streams are expanded; the first record of a file decides.",
        source=("raw-prof 4.3", "ge-profiling 5.3"),
        shows=UNRECORDED,
    ),
    Padding(3),
)
"""``expand_stream_spec``: how the device encodes streams."""

_dpu = partial(
    _compact, source=("raw-prof 4.3", "ge-profiling 5.3", "upstream-msprof MsprofDpuTrack")
)

DPU_TRACK = compact(
    24,
    head(thread="dpu_task.thread", time="dpu_task.end"),
    _dpu(
        "deviceId",
        bits(
            _dpu("devType", BitsInteger(4), "1, a data processing unit.", shows=CONSTANT),
            _dpu("deviceId", BitsInteger(12), "Unit.", shows="dpu_task.device"),
        ),
        "Kind of the device, and the device.",
    ),
    _dpu("streamId", Int16ul, "Stream of the task.", shows="dpu_task.stream"),
    _dpu("taskId", Int32ul, "Number of the task.", shows="dpu_task.number"),
    _dpu(
        "taskType",
        Int32ul,
        "Kind of task as the runtime numbers it.",
        shows=REPEATED,
        values="runtime_task_types",
    ),
    _dpu("res", Int32ul, "Not used.", shows=CONSTANT),
    _dpu("startTime", Int64ul, "Start of the task.", shows="dpu_task.start", unit="tick"),
)
"""``dpu_track``: a task of a data processing unit; the time of its head is its end."""
