"""What the device logs of its tasks, by the generation of its scheduler, and its track of the run.

All of these numbers are taken from the device's counter.
"""

from __future__ import annotations

from functools import partial

from construct import (
    BitsInteger,
    BitStruct,
    Construct,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64ul,
    Padding,
    Struct,
)

from ascend_spec.core.packed import record

from .forms import CONSTANT, DERIVED, UNRECORDED, bits
from .stars import (
    MELTED,
    PMU_COUNTERS_V6,
    core,
    counter,
    device_magic,
    ffts_mode,
    log_head,
    observed,
    task_ids,
    unique_task,
)

_LOG_TIME = "Start or end of the task, by the kind of the record."

_STARS = ("raw-prof 4.7", "upstream-msprof AcsqLog")
_acsq = partial(observed, source=_STARS)

_ACC_AND_QUEUE = _acsq(
    "acc",
    bits(
        Padding(3),
        _acsq("acsqId", BitsInteger(7), "Queue of the scheduler.", shows=UNRECORDED),
        _acsq("accId", BitsInteger(6), "Accelerator that ran the task.", shows=UNRECORDED),
    ),
    "Queue and accelerator; the word has no name of its own.",
)

STARS_LOG = record(
    64,
    *log_head(_STARS, "sqe_types_stars", kind="task.kind"),
    *task_ids(_STARS),
    counter(_STARS, _LOG_TIME, shows=MELTED),
    Padding(2),
    _ACC_AND_QUEUE,
    Padding(44),
)
"""funcType 0, a start, or 1, an end; chips 5, 7, 8 and 11."""

_FFTS = ("raw-prof 4.7", "upstream-msprof FftsPlusLog")
_ffts = partial(observed, source=_FFTS)

FFTS_LOG = record(
    64,
    *log_head(_FFTS, "sqe_types_stars", kind=DERIVED),
    *task_ids(_FFTS),
    counter(_FFTS, _LOG_TIME, shows=MELTED),
    _ffts("subTaskType", Int8ul, "Kind of the sub-task.", shows="task.kind", values="sub_tasks"),
    Padding(1),
    _ffts("subTaskId", Int16ul, "Number of the sub-task.", shows="task.context"),
    ffts_mode(_FFTS, "How the task is made of sub-tasks."),
    _ffts("threadId", Int16ul, "Thread of the sub-task.", shows=UNRECORDED),
    Padding(40),
)
"""funcType 34, a start, or 35, an end, of a sub-task of FFTS+."""

_STARS_V6 = ("raw-prof 4.7", "upstream-msprof AcsqLogV6")

STARS_LOG_V6 = record(
    32,
    *log_head(_STARS_V6, "sqe_types_v6", kind="task.kind"),
    unique_task(_STARS_V6),
    counter(_STARS_V6, _LOG_TIME, shows=MELTED),
    Padding(2),
    _ACC_AND_QUEUE,
    Padding(12),
)
"""funcType 0, a start, or 1, an end; chips 15 and 16."""

_FUSION = ("raw-prof 4.7", "upstream-msprof FusionTaskBean")
_fusion = partial(observed, source=_FUSION)

FUSION_LOG_V6 = record(
    32,
    *log_head(_FUSION, "sqe_types_v6"),
    unique_task(_FUSION),
    counter(_FUSION, _LOG_TIME, shows=MELTED),
    _fusion(
        "fusion",
        bits(
            Padding(7),
            _fusion("missionId", BitsInteger(4), "Mission of the CCU.", shows=UNRECORDED),
            _fusion(
                "fusionTaskType",
                BitsInteger(5),
                "One bit for what ran the task.",
                shows=UNRECORDED,
                values="fusion_types",
            ),
        ),
        "Kind and mission; the word has no name of its own.",
    ),
    _fusion("accId", Int16ul, "Accelerator that ran the task.", shows=UNRECORDED),
    Padding(12),
)
"""funcType 22, a start, or 23, an end, of a fusion task; chips 15 and 16."""

_BLOCK = ("raw-prof 4.7", "upstream-msprof BlockLogBean")
_block = partial(observed, source=_BLOCK, shows=UNRECORDED)

BLOCK_LOG_V6 = record(
    32,
    *log_head(_BLOCK, "sqe_types_v6"),
    unique_task(_BLOCK),
    counter(_BLOCK, "Start or end of the block, by the kind of the record.", shows=UNRECORDED),
    _block("cxtType", Int8ul, "Kind of the context."),
    _block(
        "flags",
        BitStruct(
            Padding(6),
            _block("mix", BitsInteger(1), "1 of a kernel on both kinds of cores."),
            _block("mst", BitsInteger(1), "1 of the main block."),
        ),
        "Kind of block; the byte has no name of its own.",
    ),
    Padding(2),
    *core(_BLOCK),
    Padding(4),
    _block("blockId", Int16ul, "Number of the block."),
    Padding(4),
)
"""funcType 36, a start, or 37, an end, of a block; chips 15 and 16."""

_HWTS = ("raw-prof 4.7", "upstream-msprof HwtsLogBean")
_hwts = partial(observed, source=_HWTS)

HWTS_LOG = record(
    64,
    _hwts(
        "head",
        BitStruct(
            _hwts(
                "cnt",
                BitsInteger(4),
                "Number of the record in its file, modulo 16; a gap means lost records.",
                shows=DERIVED,
            ),
            Padding(1),
            _hwts("sysTag", BitsInteger(3), "0 for a start, 1 for an end.", shows=CONSTANT),
        ),
        "Kind and number of the record; the byte has no name of its own.",
    ),
    _hwts(
        "taskType",
        Int8ul,
        "Type of the SQE, by the scheduler of the chip.",
        shows="task.kind",
        values="sqe_types_hwts",
    ),
    device_magic(_HWTS),
    _hwts("blockId", Int16ul, "Number of the block.", shows=UNRECORDED),
    _hwts("taskId", Int16ul, "Task in its stream.", shows="task.number"),
    counter(_HWTS, _LOG_TIME, name="sysCnt", shows=MELTED),
    _hwts("streamId", Int32ul, "Stream of the task.", shows="task.stream"),
    Padding(44),
)
"""Start or end of a task; chips 1 to 4."""

_NANO = ("raw-prof 4.7", "upstream-msprof V5_STARS_PROFILE_FMT")
_nano = partial(observed, source=_NANO)

NANO_TASK = record(
    64,
    _nano(
        "head",
        BitStruct(
            Padding(4),
            _nano("taskType", BitsInteger(3), "Kind of the task.", shows=UNRECORDED),
            Padding(1),
        ),
        "Kind of the task; the byte has no name of its own.",
        errata=("U2",),
    ),
    _nano("modelId", Int8ul, "Model that the task belongs to.", shows="task.model"),
    Padding(4),
    _nano("taskId", Int16ul, "Task.", shows="task.number"),
    _nano("timeLow", Int32ul, "Bits 0 to 31 of the time of the start.", shows="task.start"),
    _nano("duration", Int32ul, "Length of the task.", shows="task.length", unit="tick"),
    _nano("totalCycleLow", Int32ul, "Bits 0 to 31 of the cycles.", shows="counter.value"),
    _nano("timeMiddle", Int16ul, "Bits 32 to 47 of the time.", shows="task.start"),
    _nano("timeHigh", Int8ul, "Bits 48 to 55 of the time.", shows="task.start"),
    _nano("totalCycleHigh", Int8ul, "Bits 32 to 39 of the cycles.", shows="counter.value"),
    _nano("pmu", Int32ul[PMU_COUNTERS_V6], "Counters of the core.", shows="counter.value"),
)
"""A task with its counters; chip 9."""

_TRACK = ("raw-prof 4.7", "ge-profiling 3.3")


TRACK_SIZE = 40


def _track(source: str, *members: Construct) -> Struct:
    """A record of the run: 16 bytes that all kinds share, and 24 of its own."""
    sources = (*_TRACK, f"upstream-msprof {source}")
    shared = partial(observed, source=sources)
    return record(
        TRACK_SIZE,
        shared("mode", Int8ul, "1 in every record that is documented.", shows=CONSTANT),
        shared("tag", Int8ul, "Kind of the record.", shows=CONSTANT, values="track_kinds"),
        shared("size", Int16ul, "Bytes of the record, 40.", shows=CONSTANT, unit="Byte"),
        Padding(4),
        counter(sources, "When it happened.", shows=MELTED),
        *members,
    )


_step = partial(observed, source=(*_TRACK, "upstream-msprof StepTrace"))
_STEP_OF = (
    _step(
        "indexId",
        Int64ul,
        "Number of the iteration; 1 in every record of a static model.",
        shows="step_trace.iteration_id",
    ),
    _step(
        "modelId",
        Int64ul,
        "Model; all ones in the lower 32 bits where the program itself marks its steps.",
        shows="step_trace.model_id",
    ),
)
_STEP_TAG = _step(
    "tagId",
    Int16ul,
    "What the iteration reached.",
    shows=MELTED,
    values="step_tags",
)
_run = partial(observed, source=_TRACK)
_STREAM = _run(
    "streamId", Int16ul, "Stream; C++ readers take its lower 11 bits.", shows="task.stream"
)
_TASK = _run("taskId", Int16ul, "Task in its stream.", shows="task.number")
_STATE = _run("taskStatus", Int8ul, "How far it came.", shows=UNRECORDED, values="track_states")

STEP_TRACE = _track("StepTrace", *_STEP_OF, _STREAM, _TASK, _STEP_TAG, Padding(2))
"""tag 10: an iteration reached a point."""

STEP_TRACE_V6 = _track(
    "STEP_TRACE_V6_FMT",
    *_STEP_OF,
    _STEP_TAG,
    _STREAM,
    _run("taskId", Int32ul, "Task.", shows="task.number"),
)
"""tag 10 on the chips 15 and 16."""

TS_MEMCPY = _track("TaskMemcpy", _STREAM, _TASK, _STATE, Padding(19))
"""tag 11: state of a copy by the task scheduler."""

TS_TASK_TYPE = _track(
    "TaskType",
    _STREAM,
    _TASK,
    _run("taskType", Int16ul, "Kind of the task.", shows=UNRECORDED),
    _STATE,
    Padding(17),
)
"""tag 12: state of a task by kind."""

TS_FLIP = _track(
    "TaskFlip",
    _STREAM,
    _run("flipNum", Int16ul, "How often the numbers began again.", shows="task.batch"),
    Padding(2),
    _run("taskId", Int16ul, "Task that noted it.", shows=UNRECORDED),
    Padding(16),
)
"""tag 14: the numbers of tasks in a stream began again."""

TS_BLOCK_NUM = _track(
    "BlockNum",
    _STREAM,
    _TASK,
    _run("blockNum", Int32ul, "Blocks of the task.", shows="kernel.blocks", errata=("U1",)),
    Padding(16),
)
"""tag 15: blocks of a task."""
