"""What the host reports in 256 bytes, except marks: :mod:`ascend_spec.raw.records.mstx`.

Names are those of the collector's headers; a member whose name the head has as well is called by
its path, as ``data.threadId``. Times are ticks of the host's counter.
"""

from __future__ import annotations

from functools import partial

from construct import (
    Array,
    BitsInteger,
    Construct,
    Int32ul,
    Int64sl,
    Int64ul,
    Padding,
    Struct,
    this,
)

from ascend_spec.core.packed import field

from .forms import (
    DERIVED,
    HASH_DIC,
    HEAD_SIZE,
    UNRECORDED,
    additional,
    bits,
    head,
)

TENSORS = 5
"""Most tensors of one record of tensors; more take further records of the same operator."""

CAPTURED_TENSORS = 3
"""Most tensors of one record of a captured operator."""

CONTEXTS = 55
"""Most sub-tasks of one record."""

_additional = partial(field, grade="observed")

_SOURCE = ("raw-prof 4.4", "ge-profiling 5.4")

_tensor = partial(_additional, source=(*_SOURCE, "upstream-msprof MsrofTensorData"))

TENSOR = Struct(
    _tensor(
        "tensorType", Int32ul, "0 an input, 1 an output.", shows=DERIVED, values="tensor_types"
    ),
    _tensor(
        "format",
        bits(
            Padding(16),
            _tensor("subFormat", BitsInteger(8), "Groups within the format.", shows=UNRECORDED),
            _tensor(
                "format",
                BitsInteger(8),
                "Format of the tensor.",
                shows="kernel.input_formats",
                values="tensor_formats",
            ),
        ),
        "Format of the tensor and its second part.",
    ),
    _tensor(
        "dataType",
        Int32ul,
        "Type of the data elements.",
        shows="kernel.input_data_types",
        values="tensor_data_types",
    ),
    _tensor(
        "shape",
        Array(8, Int32ul),
        "Dimensions; the first 0 ends them, so that none of them can be 0.",
        shows="kernel.input_shapes",
    ),
)
"""One tensor, 44 bytes; of an output the values are those of outputs."""

_tensors = partial(_additional, source=(*_SOURCE, "upstream-msprof MsprofTensorInfo"))

TENSOR_INFO = additional(
    232,
    head(),
    _tensors(
        "opName", Int64ul, "Hash of the operator's name.", shows="kernel.name", values=HASH_DIC
    ),
    _tensors("tensorNum", Int32ul, "Tensors in this record, 1 to 5.", shows=DERIVED),
    _tensors(
        "tensorData",
        Array(TENSORS, TENSOR),
        "Tensors, inputs first. Records of one operator agree in thread, time and name.",
    ),
)
"""``tensor_info``: formats, types and shapes of an operator."""

_context = partial(
    _additional,
    source=(
        *_SOURCE,
        "upstream-msprof MsprofContextIdInfo",
        "upstream-msprof get_context_ids_in_hccl",
    ),
)

CONTEXT_ID_INFO = additional(
    232,
    head(),
    _context(
        "opName", Int64ul, "Hash of the operator's name.", shows="kernel.name", values=HASH_DIC
    ),
    _context("ctxIdNum", Int32ul, "Sub-tasks in this record, at most 55.", shows=DERIVED),
    _context(
        "ctxIds",
        Array(CONTEXTS, Int32ul),
        "Numbers of the sub-tasks inside their FFTS+ task; of communication the first and the last "
        "of a range, in one record for each call.",
        shows="task.context",
    ),
)
"""``context_id_info``: the sub-tasks of an operator, or of a communication task."""

_fusion = partial(_additional, source=(*_SOURCE, "upstream-msprof ProfFusionOpInfo"))

FUSION_OP_INFO = additional(
    116,
    head(),
    _fusion(
        "opName",
        Int64ul,
        "Hash of the fused operator's name.",
        shows="fusion_op.name",
        values=HASH_DIC,
    ),
    _fusion("fusionOpNum", Int32ul, "Original operators in this record, 1 to 8.", shows=DERIVED),
    _fusion("inputMemsize", Int64ul, "Memory of the inputs.", shows="fusion_op.input", unit="Byte"),
    _fusion(
        "outputMemsize", Int64ul, "Memory of the outputs.", shows="fusion_op.output", unit="Byte"
    ),
    _fusion(
        "weightMemSize", Int64ul, "Memory of the weights.", shows="fusion_op.weight", unit="Byte"
    ),
    _fusion(
        "workspaceMemSize",
        Int64ul,
        "Memory of the workspace.",
        shows="fusion_op.workspace",
        unit="Byte",
    ),
    _fusion("totalMemSize", Int64ul, "Sum of the four.", shows="fusion_op.total", unit="Byte"),
    _fusion(
        "fusionOpId",
        Array(8, Int64ul),
        "Hashes of the original operators' names.",
        shows="fusion_op.originals",
        values=HASH_DIC,
    ),
)
"""``fusion_op_info``: operators that were fused into one."""

_graph = partial(_additional, source=(*_SOURCE, "upstream-msprof MsprofGraphIdInfo"))

GRAPH_ID_MAP = additional(
    16,
    head(),
    _graph(
        "modelName",
        Int64ul,
        "Hash of the model's name, 0 for none.",
        shows="fusion_op.model_name",
        values=HASH_DIC,
    ),
    _graph(
        "graphId",
        Int32ul,
        "Graph of the model, 4294967295 for an offline model.",
        shows=UNRECORDED,
    ),
    _graph("modelId", Int32ul, "Model.", shows="fusion_op.model"),
)
"""``graph_id_map``: which graph a model is."""

_memory = partial(_additional, source=(*_SOURCE, "upstream-msprof MsprofMemoryInfo"))

TASK_MEMORY_INFO = additional(
    48,
    head(thread="workspace_event.thread", time="workspace_event.time"),
    _memory("addr", Int64ul, "Address of the memory.", shows="workspace_event.address"),
    _memory(
        "size",
        Int64sl,
        "Size of the memory, negative where it is released.",
        shows="workspace_event.size",
        unit="Byte",
    ),
    _memory(
        "nodeId",
        Int64ul,
        "Hash of the operator's name.",
        shows="workspace_event.name",
        values=HASH_DIC,
    ),
    _memory(
        "totalAllocateMemory",
        Int64ul,
        "Memory allocated in all.",
        shows="workspace_event.total_allocated",
        unit="Byte",
    ),
    _memory(
        "totalReserveMemory",
        Int64ul,
        "Memory reserved in all.",
        shows="workspace_event.total_reserved",
        unit="Byte",
    ),
    _memory("deviceId", Int32ul, "Device of the memory.", shows="workspace_event.device"),
    _memory("deviceType", Int32ul, "Kind of the device; exporters accept any.", shows=UNRECORDED),
)
"""``task_memory_info``: what an operator took or gave back."""

_static = partial(_additional, source=(*_SOURCE, "upstream-msprof MsprofStaticOpMem"))

STATIC_OP_MEM = additional(
    52,
    head(),
    _static("size", Int64sl, "Size of the memory.", shows="static_op_mem.size", unit="Byte"),
    _static(
        "opName",
        Int64ul,
        "Hash of the operator's name; 0 or that of the empty text for the whole graph.",
        shows="static_op_mem.name",
        values=HASH_DIC,
    ),
    _static(
        "lifeStart", Int64ul, "Number of the operator at its start.", shows="static_op_mem.start"
    ),
    _static(
        "lifeEnd",
        Int64ul,
        "Number of the operator at its end; 4294967294 for the end of the graph.",
        shows="static_op_mem.end",
    ),
    _static(
        "totalAllocateMemory",
        Int64ul,
        "Memory of the whole graph.",
        shows=UNRECORDED,
        unit="Byte",
    ),
    _static(
        "dynOpName",
        Int64ul,
        "Hash of the name of the root of a sub-graph, 0 for a graph that is static as a whole.",
        shows="static_op_mem.model_name",
        values=HASH_DIC,
    ),
    _static("graphId", Int32ul, "Graph.", shows="static_op_mem.graph"),
)
"""``static_op_mem``: memory that the compiler planned for an operator."""

_threads = partial(_additional, source=(*_SOURCE, "upstream-msprof MsprofMultiThread"))

MULTI_THREAD = additional(
    104,
    head(),
    _threads("threadNum", Int32ul, "Threads in this record, at most 25.", shows=DERIVED),
    _threads(
        "data.threadId",
        Array(25, Int32ul),
        "Threads that work for the thread of the head.",
        shows=UNRECORDED,
    ),
)
"""``Multi_Thread``: which threads work for another."""

_logic = partial(_additional, source=(*_SOURCE, "upstream-msprof GE_LOGIC_STREAM_INFO_FMT"))

LOGIC_STREAM_INFO = additional(
    232,
    head(),
    _logic(
        "logicStreamId",
        Int32ul,
        "Stream as the graph engine numbers it.",
        shows="task.logic_stream",
    ),
    _logic("physicStreamNum", Int32ul, "Streams in this record, at most 56.", shows=DERIVED),
    _logic(
        "physicStreamId",
        Array(56, Int32ul),
        "Streams of the device that it is divided into.",
        shows="task.stream",
    ),
)
"""``logic_stream_info``: the streams of a graph."""

_exeom = partial(_additional, source=(*_SOURCE, "upstream-msprof V5_MODEL_EXEOM_FMT"))

MODEL_EXEOM = additional(
    16,
    head(),
    _exeom("modelId", Int32ul, "Model.", shows="task.model"),
    Padding(4),
    _exeom("modelName", Int64ul, "Hash of the model's name.", shows=UNRECORDED, values=HASH_DIC),
)
"""``model_exeom``: a model of the nano chip; named debug files hold its operators."""

_mc2 = partial(_additional, source=(*_SOURCE, "upstream-msprof MC2_COMM_INFO_FMT"))

MC2_COMM_INFO = additional(
    64,
    head(),
    _mc2("groupName", Int64ul, "Hash of the group's name.", shows="group.name", values=HASH_DIC),
    _mc2("rankSize", Int32ul, "Ranks in the group.", shows="group.size"),
    _mc2("rankId", Int32ul, "Own place in the group.", shows="group.rank"),
    _mc2("usrRankId", Int32ul, "Own place in the whole program.", shows=UNRECORDED),
    _mc2(
        "aicpuKfcStreamId",
        Int32ul,
        "Stream of the AI CPU kernel that schedules the communication.",
        shows=UNRECORDED,
    ),
    _mc2("commStreamSize", Int32ul, "Streams in use, at most 8.", shows=DERIVED),
    _mc2("commStreamIds", Array(8, Int32ul), "Streams of the communication.", shows=UNRECORDED),
    Padding(4),
)
"""``mc2_comm_info``: the streams of operators that compute and communicate at once."""

_timestamp = partial(_additional, source=("ge-profiling 5.4",), shows=UNRECORDED)

AIC_TIMESTAMP_INFO = additional(
    24,
    head(),
    _timestamp("syscyc", Int64ul, "Time on the core.", unit="tick"),
    _timestamp("blockId", Int32ul, "Block of the kernel."),
    _timestamp("descId", Int32ul, "Point of the kernel that was passed."),
    _timestamp("curPc", Int64ul, "Program counter."),
)
"""``timestamp``: a core passed a point of its kernel; the exporter does not read it."""


def _captured(size: int, tensors: Construct, *after: Construct) -> tuple[Construct, ...]:
    """The body of a captured operator; ``size`` is that of its fixed part."""
    body = (
        _op("modelId", Int32ul, "Model of the captured graph.", shows="task.model"),
        _op("deviceId", Int32ul, "Device of the task.", shows="task.device"),
        _op("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
        _op("taskId", Int32ul, "Number of the task in its stream.", shows="task.number"),
        _op(
            "taskType",
            Int32ul,
            "Accelerator that the host chose.",
            shows="kernel.core",
            values="ge_task_types",
        ),
        _op("blockNum", Int32ul, "Cores that the operator is split over.", shows="kernel.blocks"),
        _op(
            "nodeId",
            Int64ul,
            "Hash of the operator's name.",
            shows="kernel.name",
            values=HASH_DIC,
        ),
        _op(
            "opType",
            Int64ul,
            "Hash of the operator's type.",
            shows="kernel.op_type",
            values=HASH_DIC,
        ),
        _op(
            "hashId",
            Int64ul,
            "Hash of the text of the attributes.",
            shows="kernel.attributes",
            values=HASH_DIC,
        ),
        Padding(8),
        _op(
            "opFlag",
            Int32ul,
            "Not 0 where the operator may compute in HF32.",
            shows="kernel.hf32",
        ),
        _op("tensorNum", Int32ul, "Tensors behind it.", shows=DERIVED),
    )
    if Struct(*body).sizeof() != size:
        raise ValueError(f"the fixed part has not {size} bytes")
    return (*body, _op("tensorData", tensors, "Tensors, inputs first."), *after)


_op = partial(_additional, source=("raw-prof 4.4", "upstream-msprof RuntimeOpInfoBean"))

CAPTURED_SIZE = 88
"""Bytes of a captured operator before its tensors, its head among them."""

CAPTURE_OP_INFO = additional(
    232,
    head(),
    *_captured(CAPTURED_SIZE - HEAD_SIZE, Array(CAPTURED_TENSORS, TENSOR), Padding(36)),
)
"""``capture_op_info`` of 256 bytes: an operator of a captured graph, with at most 3 tensors."""

CAPTURE_OP_INFO_VARIABLE = Struct(
    *head(),
    *_captured(CAPTURED_SIZE - HEAD_SIZE, Array(this.tensorNum, TENSOR)),
)
"""``capture_op_info`` of any length, for an operator with more tensors; in a file of its own."""
