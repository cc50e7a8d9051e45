"""Declarations of the binary records of MindSpore's raw files (mindspore-profiler 2).

All numbers are little-endian. Ticks are of the counter of the device.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from construct import (
    Array,
    BitsInteger,
    BitStruct,
    Bytes,
    Construct,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64ul,
    Padding,
    Struct,
)

from ascend_spec.core.packed import Field, field
from ascend_spec.raw.records import counters
from ascend_spec.raw.records.forms import CONSTANT, DERIVED, HASH_DIC, REPEATED, UNRECORDED

TICK = 10
"""Nanoseconds of a tick; the parsers have no other (mindspore-profiler 1.2)."""

MELTED = {"nothing": "melted"}

_observed = partial(field, grade="observed")
_constant = partial(_observed, shows=CONSTANT)


def _magic(source: tuple[str, ...]) -> Field:
    return _constant("magicNumber", Int16ul, "0x5A5A.", source=source)


# --- hwts -----------------------------------------------------------------------------------------

_HWTS = ("mindspore-profiler 2.1", "fixtures-raw-mindspore JOB3")
_hwts = partial(_observed, source=_HWTS)
_block = partial(field, grade="inferred", source=("mindspore-profiler 2.1",), shows=UNRECORDED)

_HWTS_HEAD = (
    _hwts(
        "head",
        BitStruct(
            _hwts(
                "cnt",
                BitsInteger(4),
                "Number of the record in its file, modulo 16; a gap means lost records.",
                shows=DERIVED,
            ),
            _hwts(
                "is_warn_res0_ov", BitsInteger(1), "Not known; 0 in real files.", shows=UNRECORDED
            ),
            _hwts(
                "type", BitsInteger(3), "Kind of the record.", shows=CONSTANT, values="hwts_types"
            ),
        ),
        "Kind and number of the record; the byte has no name of its own.",
    ),
    _hwts(
        "core_id",
        Int8ul,
        "Core; current collectors have the type of the SQE here.",
        shows=UNRECORDED,
    ),
    _constant("magic", Int16ul, "0x6BD3; MindSpore's parser does not look at it.", source=_HWTS),
    _hwts("block_id", Int16ul, "Number of the block.", shows=UNRECORDED),
    _hwts("task_id", Int16ul, "Task in its stream.", shows="task.number"),
)

_SYSCNT = _hwts(
    "syscnt", Int64ul, "Start or end, by the kind of the record.", shows=MELTED, unit="tick"
)
_STREAM = _hwts(
    "stream_id",
    Int32ul,
    "Stream of the device, whose numbers are not those of the framework.",
    shows="task.stream",
    errata=("M15",),
)

HWTS_TASK = Struct(*_HWTS_HEAD, _SYSCNT, _STREAM, Padding(44))
"""Start of a task, end of a task, start of a block."""

HWTS_BLOCK_END = Struct(
    *_HWTS_HEAD,
    _SYSCNT,
    _STREAM,
    _block("word", Int32ul, "Not known."),
    _block("long", Int64ul, "Not known."),
    _block("words", Array(8, Int32ul), "Not known."),
)
"""End of a block; no real one is known."""

HWTS_BLOCK_PMU = Struct(
    *_HWTS_HEAD,
    _block("before", Array(2, Int32ul), "Not known."),
    _STREAM,
    _block("after", Int32ul, "Not known."),
    _SYSCNT,
    _block("words", Array(8, Int32ul), "Not known."),
)
"""Counters of a block, whose time is none where is_warn_res0_ov is 1; no real one is known."""


# --- counters of AI cores ------------------------------------------------------------------------

AICORE_PMU = counters.AICORE_PMU
"""The counters of a task, as msprof has them."""


# --- points of steps ------------------------------------------------------------------------------

_TRACE = ("mindspore-profiler 2.2", "fixtures-raw-mindspore JOB3")
_trace = partial(_observed, source=_TRACE)

TRAINING_TRACE = Struct(
    _trace("tag_id", Int64ul, "The point.", shows=MELTED, values="training_trace_tags"),
    _trace("task_id", Int16ul, "Task that reached it.", shows="task.number"),
    _trace("stream_id", Int16ul, "Stream of that task.", shows="task.stream"),
    _trace("sys_count", Int64ul, "When it was reached.", shows=MELTED, unit="tick"),
)
"""20 bytes up to 2021-08-24: a point of a step."""

_TRACK = ("mindspore-profiler 2.3", "raw-prof 4.7")
_track = partial(_observed, source=_TRACK)

TS_TRACK = Struct(
    _track("mode", Int8ul, "Not used by MindSpore.", shows=CONSTANT),
    _track("rptType", Int8ul, "Kind of the record; 10 is a point of a step.", shows=CONSTANT),
    _track("bufSize", Int16ul, "Bytes of the record.", shows=CONSTANT, unit="Byte"),
    Padding(4),
    _track("timestamp", Int64ul, "When the point was reached.", shows=MELTED, unit="tick"),
    _track("indexId", Int64ul, "Iteration.", shows="step_trace.iteration_id"),
    _track("modelId", Int64ul, "Graph.", shows="step_trace.model_id"),
    _track("streamId", Int16ul, "Stream of the task.", shows="task.stream"),
    _track("taskId", Int16ul, "Task that reached it.", shows="task.number"),
    _track("tagId", Int16ul, "The point.", shows=MELTED, values="ts_track_tags"),
    Padding(2),
)
"""40 bytes from 2021-08-24 on: a point of a step among other records of the run."""


# --- framework ------------------------------------------------------------------------------------

INLINE = 1
"""Kind of a mixed text that stands in the record itself; 0: only its number does."""
NUMBER = 8
"""Bytes of the number of a mixed text."""

_FRAMEWORK = ("mindspore-profiler 2.5",)
_framework = partial(_observed, source=_FRAMEWORK)
_unused = partial(_framework, shows=UNRECORDED)


def _mixed(name: str, size: int, summary: str, shows: Any) -> Field:
    """A text of which short ones stand in the record, NUL padded, and others by their number."""
    content = size - 8
    return _framework(
        name,
        Struct(
            _framework("kind", Int8ul, "1 for a text, 0 for its number.", shows=DERIVED),
            Padding(7),
            _framework(
                "content",
                Bytes(content),
                f"Text of up to {content} bytes, or its number in the first 8.",
                shows=shows,
                values=HASH_DIC,
            ),
        ),
        summary,
    )


TASK_DESC_INFO = Struct(
    _magic(_FRAMEWORK),
    _framework("dataTag", Int16ul, "23.", shows=CONSTANT),
    _framework("taskType", Int32ul, "Where it runs.", shows="kernel.core", values="task_types"),
    _mixed("opName", 128, "Full name of the operator.", "kernel.name"),
    _mixed("opType", 64, "Type of the operator.", "kernel.op_type"),
    _unused("curIterNum", Int64ul, "Iteration; 0 in real files."),
    _unused("timeStamp", Int64ul, "Time; 0 in real files."),
    _unused("shapeType", Int32ul, "Whether shapes are dynamic; 0 in real files."),
    _framework("blockDims", Int32ul, "Cores that it is split over.", shows="kernel.blocks"),
    _framework("modelId", Int32ul, "Graph.", shows="task.model"),
    _framework("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
    _framework("taskId", Int32ul, "Task in its stream.", shows="task.number"),
    _unused("threadId", Int32ul, "Thread; 0 in real files."),
    Padding(16),
)
"""256 bytes: a task and its operator."""

MOST_TENSORS = 5
"""Tensors of one record; of an operator with more there are several."""
OWN = 200
"""What is added to numbers of formats and types that are MindSpore's own (from-200)."""

_tensor = partial(_framework, shows=MELTED)

TENSOR = Struct(
    _tensor("tensorType", Int32ul, "0 for an input, 1 for an output.", shows=CONSTANT),
    _tensor(
        "format", Int32ul, "Format; a value of MindSpore is 200 more.", values="framework_formats"
    ),
    _tensor(
        "dataType",
        Int32ul,
        "Type of the elements; a value of MindSpore is 200 more.",
        values="data_types",
    ),
    _tensor("shape", Array(8, Int32ul), "Lengths of the axes; those of 0 are none."),
)

TENSOR_DATA_INFO = Struct(
    _magic(_FRAMEWORK),
    _framework("dataTag", Int16ul, "24.", shows=CONSTANT),
    _framework("modelId", Int32ul, "Graph.", shows="task.model"),
    _unused("curIterNum", Int64ul, "Iteration."),
    _framework("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
    _framework("taskId", Int32ul, "Task in its stream.", shows="task.number"),
    _framework("tensorNum", Int8ul, "How many of the tensors there are.", shows=DERIVED),
    Padding(3),
    _framework("tensors", Array(MOST_TENSORS, TENSOR), "The tensors."),
    Padding(8),
)
"""256 bytes: inputs and outputs of the operator of a task."""

STEP_INFO = Struct(
    _magic(_FRAMEWORK),
    _framework("dataTag", Int16ul, "25.", shows=CONSTANT),
    _framework("modelId", Int32ul, "Graph.", shows="task.model"),
    _framework("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
    _framework("taskId", Int32ul, "Task in its stream.", shows="task.number"),
    _unused("timeStamp", Int64ul, "Time."),
    _unused("curIterNum", Int64ul, "Iteration."),
    _unused("threadId", Int32ul, "Thread."),
    _framework("tag", Int8ul, "The point.", shows=MELTED, values="ts_track_tags"),
    Padding(27),
)
"""64 bytes: a task at which a step has a point."""


# --- AI CPUs --------------------------------------------------------------------------------------

_AICPU = ("mindspore-profiler 2.6",)
_aicpu = partial(_observed, source=_AICPU)


def _ticks(name: str, summary: str, shows: Any) -> Construct:
    return _aicpu(name, Int64ul, summary, shows=shows, unit="tick")


AICPU = Struct(
    _magic(_AICPU),
    _aicpu("dataTag", Int16ul, "60.", shows=CONSTANT),
    _aicpu("streamId", Int16ul, "Stream of the task.", shows="aicpu.stream"),
    _aicpu("taskId", Int16ul, "Task in its stream.", shows="aicpu.number"),
    _aicpu("run_start", Int64ul, "Start of the kernel.", shows=REPEATED, unit="us"),
    _ticks("run_start_counter", "Start of the kernel.", "aicpu.time"),
    _aicpu("compute_start", Int64ul, "Start of computing.", shows="aicpu.compute", unit="us"),
    _aicpu("memcpy_start", Int64ul, "Start of copying memory.", shows="aicpu.memcpy", unit="us"),
    _aicpu("memcpy_end", Int64ul, "End of copying memory.", shows="aicpu.memcpy", unit="us"),
    _aicpu("run_end", Int64ul, "End of the kernel.", shows=REPEATED, unit="us"),
    _ticks("run_end_counter", "End of the kernel.", "aicpu.task"),
    _aicpu("thread", Int32ul, "Thread that ran the kernel.", shows=UNRECORDED),
    _aicpu("device", Int32ul, "Device of the kernel.", shows="aicpu.device"),
    _ticks("submit_tick", "When the kernel was submitted.", "aicpu.total"),
    _ticks("schedule_tick", "When it was scheduled.", UNRECORDED),
    _ticks("tick_before_run", "Before it ran.", UNRECORDED),
    _ticks("tick_after_run", "After it ran.", "aicpu.total"),
    _aicpu("kernel_type", Int32ul, "Kind of kernel.", shows=UNRECORDED),
    _aicpu("dispatch_time", Int32ul, "Time of dispatching.", shows="aicpu.dispatch", unit="us"),
    _aicpu("total_time", Int32ul, "Time in all.", shows=REPEATED, unit="us"),
    _aicpu("ffts_thread_id", Int16ul, "Thread of an FFTS+ task.", shows=UNRECORDED),
    _aicpu("version", Int8ul, "Version of the record.", shows=CONSTANT),
    Padding(9),
)
"""128 bytes from 2021-12-17 on: a kernel of an AI CPU."""
