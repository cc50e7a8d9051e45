"""Records that today's MindSpore writes into ``FRAMEWORK``: a fixed part and tagged texts.

They are built as those of the PyTorch adapter are (``raw/records/framework.py``). Ticks are of the
counter of the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from construct import (
    Construct,
    GreedyBytes,
    Int8sl,
    Int8ul,
    Int16ul,
    Int32sl,
    Int32ul,
    Int64sl,
    Int64ul,
    Struct,
)

from ascend_spec.core.packed import Field, field
from ascend_spec.raw.records import FrameworkRecord
from ascend_spec.raw.records.forms import DERIVED, UNRECORDED, Shows
from ascend_spec.raw.records.framework import Encoding, Tagged


def _fields(made: Any, *rows: tuple[str, Construct, str, Shows], **more: Any) -> tuple[Field, ...]:
    return tuple(made(name, form, text, shows=shows, **more) for name, form, text, shows in rows)


def _texts(made: Any, *rows: tuple[int, str, Encoding, str, Shows]) -> Mapping[int, Tagged]:
    return {
        tag: Tagged(tag, encoding, made(name, GreedyBytes, text, shows=shows))
        for tag, name, encoding, text, shows in rows
    }


_range = partial(
    field, grade="observed", source=("mindspore-profiler 2.8", "upstream-mindspore OpRangeData")
)
_THREAD: Shows = "framework_call.thread"
_START: Shows = "framework_call.start"
_END: Shows = "framework_call.end"
_NAME: Shows = "framework_call.name"

RANGE = Struct(
    *_fields(
        _range,
        ("thread_id", Int64ul, "Thread of the event.", _THREAD),
        (
            "flow_id",
            Int64ul,
            "Number that both ends of an arrow share, 18446744073709551615 for none.",
            "framework_call.connection",
        ),
        ("step", Int64ul, "Step of the training.", UNRECORDED),
    ),
    *_fields(
        _range,
        ("start_time_ns", Int64ul, "Start of the event.", _START),
        ("end_time_ns", Int64ul, "End of the event; the same for a mark.", _END),
        unit="tick",
    ),
    *_fields(
        _range,
        ("process_id", Int32sl, "Process of the event.", "framework_call.process"),
    ),
    _range("module_index", Int16ul, "Part of the framework.", shows=_NAME, values="range_modules"),
    _range("event_index", Int16ul, "What it does.", shows=_NAME, values="range_events"),
    _range("stage_index", Int16ul, "Stage of the program.", shows=_NAME, values="range_stages"),
    *_fields(
        _range,
        ("level", Int8sl, "Level of the event among those around it.", UNRECORDED),
        ("is_graph_data", Int8ul, "1 for an event of a graph, which names it by texts.", DERIVED),
        ("is_stage", Int8ul, "1 for a stage.", DERIVED),
        ("is_stack", Int8ul, "1 for a call of Python.", DERIVED),
    ),
)
"""``mindspore.op_range``: an event of the framework, 54 bytes and its texts."""

_early = partial(
    field, grade="observed", source=("mindspore-present 4.2", "upstream-mindspore OpRangeData")
)
_TIMES = _fields(
    _early,
    ("start_ns", Int64sl, "Start of the operator.", _START),
    ("end_ns", Int64sl, "End of the operator.", _END),
    unit="tick",
)
_NUMBERS = _fields(
    _early,
    (
        "sequence_number",
        Int64sl,
        "Number that forward and backward operator share.",
        "framework_call.sequence",
    ),
    ("process_id", Int64ul, "Process of the operator.", "framework_call.process"),
    ("start_thread_id", Int64ul, "Thread on which it starts.", _THREAD),
    ("end_thread_id", Int64ul, "Thread on which it ends.", UNRECORDED),
    (
        "forward_thread_id",
        Int64ul,
        "Thread of the forward operator.",
        "framework_call.forward_thread",
    ),
    (
        "flow_id",
        Int64ul,
        "Number that both ends of an arrow share.",
        "framework_call.connection",
    ),
    ("step_id", Int64ul, "Step of the training.", UNRECORDED),
)
_ASYNC = _fields(
    _early, ("is_async", Int8ul, "1 where it may end on another thread, else 0.", UNRECORDED)
)

OPERATOR_WITHOUT_LEVEL = Struct(*_TIMES, *_NUMBERS, *_ASYNC)
"""``op_range_*`` until 2024-08-21: an operator of the framework, 73 bytes and its texts."""

OPERATOR = Struct(
    *_TIMES,
    *_NUMBERS,
    *_fields(_early, ("level", Int8sl, "Level of the event among those around it.", UNRECORDED)),
    *_ASYNC,
)
"""``op_range_*`` until 2025-02-17: an operator of the framework, 74 bytes and its texts."""

_usage = partial(
    field,
    grade="observed",
    source=("mindspore-present 4.1", "upstream-mindspore AscendMemoryTimeEvent"),
)

MEMORY_USAGE = Struct(
    *_fields(
        _usage,
        ("device_id", Int32sl, "Device of the memory.", "memory_level.device"),
        ("tid", Int64ul, "Thread of the event.", UNRECORDED),
        ("pid", Int64ul, "Process of the event.", UNRECORDED),
    ),
    _usage("create_at", Int64ul, "Time by the wall clock.", shows="memory_level.time", unit="ns"),
    _usage("addr", Int64ul, "Address of the block.", shows=UNRECORDED),
    *_fields(
        _usage,
        (
            "size",
            Int64ul,
            "Size of the block, 18446744073709551615 where it is given back.",
            "allocation.size",
        ),
        ("used_size", Int64ul, "Memory of the pool that is allocated.", "memory_level.allocated"),
        ("peak_size", Int64ul, "The most that was.", UNRECORDED),
        ("alloc_size", Int64ul, "Memory reserved in all.", "memory_level.reserved"),
        ("used_by_event_size", Int64ul, "Memory that events hold back.", "memory_level.active"),
        ("eager_free_size", Int64ul, "Memory given back ahead of time.", UNRECORDED),
        unit="Byte",
    ),
    *_fields(
        _usage,
        ("stream_ptr", Int64ul, "Stream of the block.", "memory_level.stream"),
        ("stream_id", Int32ul, "Number of the stream.", UNRECORDED),
        ("from_persistent", Int8ul, "1 for memory of the persistent pool.", UNRECORDED),
        ("is_persistent", Int8ul, "1 for a block that persists.", UNRECORDED),
        ("run_mode", Int8ul, "How the program runs.", UNRECORDED),
    ),
    _usage(
        "alloc_type",
        Int8ul,
        "What the block is for; any number where it is given back.",
        shows=UNRECORDED,
        values="memory_types",
    ),
)
"""``mindspore.memory_usage``: a block that is taken or given back, 100 bytes and its owner."""

_shapes = partial(
    field,
    grade="observed",
    source=("mindspore-profiler 2.8", "upstream-mindspore RecordShapesData"),
)

RECORDED_SHAPES = Struct()
"""``mindspore.record_shapes``: texts alone."""

_OPERATOR_TEXTS = _texts(
    _early,
    (3, "NAME", "text", "Name of the operator.", _NAME),
    (4, "INPUT_DTYPES", "text", "Types of the inputs.", "framework_call.data_types"),
    (5, "INPUT_SHAPES", "text", "Shapes of the inputs.", "framework_call.shapes"),
    (6, "STACK", "text", "Frames of the call stack.", "framework_call.call_stack"),
    (7, "MODULE_HIERARCHY", "text", "Modules around it.", "framework_call.modules"),
    (8, "EXTRA_ARGS", "text", "What its operations follow from.", "framework_call.operations"),
    (9, "CUSTOM_INFO", "map", "What else is known of it.", UNRECORDED),
)

TAGGED_RECORDS: Mapping[str, FrameworkRecord] = {
    "RANGE": FrameworkRecord(
        0,
        RANGE,
        _texts(
            _range,
            (13, "NAME", "text", "Name of the event.", _NAME),
            (14, "FULL_NAME", "text", "Name with its scope.", _NAME),
            (17, "CUSTOM_INFO", "map", "What else is known of it.", UNRECORDED),
            (15, "MODULE_GRAPH", "text", "Part of the framework, of graphs.", _NAME),
            (16, "EVENT_GRAPH", "text", "What it does, of graphs.", _NAME),
        ),
    ),
    "OPERATOR": FrameworkRecord(1, OPERATOR, _OPERATOR_TEXTS),
    "OPERATOR_WITHOUT_LEVEL": FrameworkRecord(1, OPERATOR_WITHOUT_LEVEL, _OPERATOR_TEXTS),
    "MEMORY_USAGE": FrameworkRecord(
        13,
        MEMORY_USAGE,
        _texts(
            _usage, (13, "OWNER", "text", "What took the block; empty else.", "allocation.name")
        ),
    ),
    "RECORDED_SHAPES": FrameworkRecord(
        3,
        RECORDED_SHAPES,
        _texts(
            _shapes,
            (0, "NAME", "text", "Name of the call.", _NAME),
            (1, "INPUT_SHAPES", "text", "Shapes of the inputs.", "framework_call.shapes"),
            (2, "INPUT_TYPE", "text", "Types of the inputs.", "framework_call.data_types"),
        ),
    ),
}
"""Records by the name that documents refer to, with the tag around each and its texts.

Texts are written in the order of the tags here. In texts of operators | stands for a line break.
"""
