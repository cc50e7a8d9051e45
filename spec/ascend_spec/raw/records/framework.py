"""What the PyTorch adapter records by itself: the files ``torch.*`` of the folder ``FRAMEWORK``.

A file holds records of one kind. In most a record is a :data:`TLV` of the tag of its file, and its
value is a fixed part, and behind it one TLV for each text that the record has; records of the
others are fixed parts one behind the other. Names are those of the adapter's headers. Times are
ticks of the host's counter where ``profiler_info_*.json`` states its frequency, else nanoseconds
of the host's monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from functools import partial
from typing import Any, Literal

from construct import (
    Construct,
    GreedyBytes,
    Int8sl,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64sl,
    Int64ul,
    Prefixed,
    Struct,
)

from ascend_spec.core.packed import Field, field

from .forms import CONSTANT, DERIVED, UNRECORDED, Shows

Encoding = Literal["text", "texts", "shapes", "tensors", "tensor-lists", "parameters", "map"]

ENCODINGS: Mapping[Encoding, str] = {
    "text": "UTF-8.",
    "texts": "Texts with a semicolon between them.",
    "shapes": "Shapes with a semicolon between them, the dimensions of each with commas.",
    "tensors": "Tensors with a closing parenthesis between them, the values of each with "
    "semicolons: object, address, type and its size, shape and strides, kind and number of the "
    "device.",
    "tensor-lists": "Lists of tensors, each tensor with a closing parenthesis behind it and each "
    "list with a closing brace, of which the last is left out.",
    "parameters": "Parameters with a closing brace between them: of a module its name, tensor and "
    "gradient, of an optimizer tensor, gradient and states, with a closing parenthesis between "
    "them.",
    "map": "Pairs with a semicolon between them, key and value of each with a colon.",
}
"""How the value of a TLV is written. Nothing is escaped."""

_SOURCE = ("consumers 2.7",)
_framework = partial(field, grade="observed")
_tlv = partial(_framework, source=(*_SOURCE, "upstream-torch-npu encodeStrData"), shows=CONSTANT)

TLV = Struct(
    _tlv("type", Int16ul, "Tag of what follows."),
    _tlv("value", Prefixed(Int32ul, GreedyBytes), "The value, with its size in bytes before it."),
)
"""One value with its tag."""

TLV_HEAD_SIZE = 6
"""Bytes of a TLV before its value."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """One text of a record, in a TLV of its own; a record without it has no TLV."""

    tag: int
    encoding: Encoding
    field: Field


@dataclass(frozen=True, slots=True)
class FrameworkRecord:
    """One kind of record of the adapter.

    ``tag``: that of the TLV around each record, ``None`` where there is none. ``fixed``: the fixed
    part of a record. ``texts``: what follows it, by tag.
    """

    tag: int | None
    fixed: Struct
    texts: Mapping[int, Tagged] = default(default_factory=dict)


def _texts(made: Any, *rows: tuple[int, str, Encoding, str, Shows]) -> dict[int, Tagged]:
    return {
        tag: Tagged(tag, encoding, made(name, GreedyBytes, summary, shows=shows))
        for tag, name, encoding, summary, shows in rows
    }


_range = partial(_framework, source=(*_SOURCE, "upstream-torch-npu OpRangeData"))


def _numbers(
    made: Any, form: Construct, *rows: tuple[str, str, Shows], **more: Any
) -> tuple[Field, ...]:
    return tuple(made(name, form, summary, shows=shows, **more) for name, summary, shows in rows)


OP_RANGE = Struct(
    *_numbers(
        _range,
        Int64sl,
        ("start_ns", "Start of the operator.", "framework_call.start"),
        ("end_ns", "End of the operator.", "framework_call.end"),
        unit="tick",
    ),
    *_numbers(
        _range,
        Int64sl,
        (
            "sequence_number",
            "Number that forward and backward operator share, -1 for none.",
            "framework_call.sequence",
        ),
    ),
    *_numbers(
        _range,
        Int64ul,
        ("process_id", "Process of the operator.", "framework_call.process"),
        ("start_thread_id", "Thread on which it starts.", "framework_call.thread"),
        ("end_thread_id", "Thread on which it ends.", UNRECORDED),
        (
            "forward_thread_id",
            "Number of the thread of the forward operator, 0 for a forward operator.",
            "framework_call.forward_thread",
        ),
    ),
    _range("scope", Int8ul, "PyTorch's kind of recorded function.", shows=UNRECORDED),
    _range("is_async", Int8ul, "1 where it may end on another thread, else 0.", shows=UNRECORDED),
)
"""``torch.op_range``: an operator of PyTorch, 58 bytes and its texts."""

_mark = partial(_framework, source=(*_SOURCE, "upstream-torch-npu OpMarkData"))

OP_MARK = Struct(
    _mark(
        "time_ns",
        Int64sl,
        "Time of the mark: start or end of the entry, by the category.",
        shows="framework_call.start",
        unit="tick",
    ),
    *_numbers(
        _mark,
        Int64ul,
        (
            "category",
            "0 start and 1 end of putting work into the queue, 2 start and 3 end of taking it out; "
            "readers fail on any other.",
            DERIVED,
        ),
        (
            "correlation_id",
            "Number that both ends of the queue share.",
            "framework_call.connection",
        ),
        ("thread_id", "Thread of the mark.", "framework_call.thread"),
        ("process_id", "Process of the mark.", "framework_call.process"),
    ),
)
"""``torch.op_mark``: one end of an entry of the queue, 40 bytes and its name."""

_memory = partial(_framework, source=(*_SOURCE, "upstream-torch-npu MemoryData"))

MEMORY_USAGE = Struct(
    _memory("ptr", Int64sl, "Address of the block.", shows=UNRECORDED),
    _memory(
        "time_ns",
        Int64sl,
        "Time of the event.",
        shows="memory_level.time",
        unit="tick",
    ),
    *_numbers(
        _memory,
        Int64sl,
        ("alloc_size", "Size of the block, negative where it is given back.", "allocation.size"),
        ("total_allocated", "Memory allocated in all.", "memory_level.allocated"),
        ("total_reserved", "Memory reserved in all.", "memory_level.reserved"),
        ("total_active", "Memory in use in all.", "memory_level.active"),
        unit="Byte",
    ),
    _memory("stream_ptr", Int64sl, "Stream of the block.", shows="memory_level.stream"),
    _memory("device_type", Int8sl, "20 for an NPU; others are left out.", shows=CONSTANT),
    _memory("device_index", Int8sl, "Device of the memory.", shows="memory_level.device"),
    _memory(
        "component_type",
        Int8ul,
        "0 the caching allocator, 1 that of workspaces.",
        shows="memory_level.component",
    ),
    _memory(
        "data_type",
        Int8ul,
        "0 a block is taken, 1 given back, 2 back in the pool.",
        shows=UNRECORDED,
    ),
    _memory(
        "allocator_type", Int8ul, "0 the adapter's own allocator, 1 another.", shows=UNRECORDED
    ),
    *_numbers(
        _memory,
        Int64ul,
        ("thread_id", "Thread of the event.", UNRECORDED),
        ("process_id", "Process of the event.", UNRECORDED),
    ),
)
"""``torch.memory_usage``: an event of the allocator, 77 bytes."""

_collection = partial(_framework, source=(*_SOURCE, "upstream-torch-npu GC_RECORD_FORMAT"))

GC_RECORD = Struct(
    _collection(
        "process_id",
        Int64ul,
        "Process that collects, also taken for its thread.",
        shows="garbage_collection.process",
    ),
    *_numbers(
        _collection,
        Int64ul,
        ("start_ns", "Start.", "garbage_collection.start"),
        ("end_ns", "End.", "garbage_collection.end"),
        unit="tick",
    ),
)
"""``torch.gc_record``: a run of Python's garbage collector, 24 bytes."""

_trace = partial(_framework, source=(*_SOURCE, "upstream-torch-npu TraceEvent"))

PYTHON_TRACER_FUNC = Struct(
    _trace(
        "ts",
        Int64ul,
        "Time of the event: start or end of the call, by the tag.",
        shows="framework_call.start",
        unit="tick",
    ),
    *_numbers(
        _trace,
        Int64ul,
        ("tid", "Thread of the call.", "framework_call.thread"),
        ("process_id", "Process of the call.", "framework_call.process"),
        ("key", "Hash of the function, by which its name is found.", "framework_call.name"),
    ),
    _trace(
        "tag",
        Int8ul,
        "0 start and 1 end of a Python function, 2 start and 3 end of one of C.",
        shows=DERIVED,
    ),
)
"""``torch.python_tracer_func``: start or end of a function, 33 bytes."""

_hash = partial(_framework, source=(*_SOURCE, "upstream-torch-npu PythonTracerHashData"))

PYTHON_TRACER_HASH = Struct(
    _hash("key", Int64ul, "Hash of the function.", shows=DERIVED),
)
"""``torch.python_tracer_hash``: the name of a function, 8 bytes and the name."""

MODULE_DELIMITER = "######"
"""What stands in the name of a call of a module between its class and its address; readers show the
class with a number (upstream-torch-npu MODULE_NAME_DELIMITER)."""

EXIT_NAME = "__torch_npu_profiler_python_tracer_exit"
"""The name by whose hash the ends of functions refer to no function (upstream-torch-npu
EXIT_EVENT_DESC)."""

MARK_PREFIX = "mstx_"
"""How names of operators begin that set marks; readers look for no launches of theirs
(upstream-torch-npu get_fwk_api)."""

STEP_PREFIX = "ProfilerStep#"
"""How the name of the operator of a step begins, before its number (upstream-torch-npu
is_profiler_step)."""

_parameter = partial(_framework, source=(*_SOURCE, "upstream-torch-npu ParamTensorData"))

PARAM_TENSOR_INFO = Struct(
    _parameter("key", Int64ul, "Hash of the module or optimizer.", shows=UNRECORDED),
)
"""``torch.param_tensor_info``: tensors of a module or an optimizer, 8 bytes and a text."""

FRAMEWORK_RECORDS: Mapping[str, FrameworkRecord] = {
    "OP_RANGE": FrameworkRecord(
        1,
        OP_RANGE,
        _texts(
            _range,
            (2, "NAME", "text", "Name of the operator.", "framework_call.name"),
            (3, "INPUT_DTYPES", "texts", "Types of the inputs.", "framework_call.data_types"),
            (4, "INPUT_SHAPES", "shapes", "Shapes of the inputs.", "framework_call.shapes"),
            (5, "INPUT_TENSORS", "tensors", "The inputs that are tensors.", UNRECORDED),
            (6, "INPUT_TENSORLISTS", "tensor-lists", "Lists of tensors.", UNRECORDED),
            (7, "INPUT_SCALARS", "texts", "Types of the other inputs.", UNRECORDED),
            (
                8,
                "STACK",
                "texts",
                "Frames of the call stack, innermost first.",
                "framework_call.call_stack",
            ),
            (9, "MODULE_HIERARCHY", "texts", "Modules around it.", "framework_call.modules"),
            (
                10,
                "EXTRA_ARGS",
                "map",
                "Sizes that its operations follow from.",
                "framework_call.operations",
            ),
        ),
    ),
    "OP_MARK": FrameworkRecord(
        2,
        OP_MARK,
        _texts(
            _mark,
            (1, "NAME", "text", "Name of the entry.", "framework_call.name"),
        ),
    ),
    "MEMORY_USAGE": FrameworkRecord(3, MEMORY_USAGE),
    "GC_RECORD": FrameworkRecord(None, GC_RECORD),
    "PYTHON_TRACER_FUNC": FrameworkRecord(None, PYTHON_TRACER_FUNC),
    "PYTHON_TRACER_HASH": FrameworkRecord(
        4,
        PYTHON_TRACER_HASH,
        _texts(_hash, (1, "VALUE", "text", "Name of the function.", "framework_call.name")),
    ),
    "PARAM_TENSOR_INFO": FrameworkRecord(
        5,
        PARAM_TENSOR_INFO,
        _texts(
            _parameter,
            (1, "MODULE_PARAM", "parameters", "Parameters of a module.", UNRECORDED),
            (2, "OPTIMIZER_PARAM", "parameters", "Parameters of an optimizer.", UNRECORDED),
        ),
    ),
}
"""The kinds by the names of their declarations."""

# The fixed parts against the document.
assert OP_RANGE.sizeof() == 58  # noqa: S101
assert OP_MARK.sizeof() == 40  # noqa: S101
assert MEMORY_USAGE.sizeof() == 77  # noqa: S101
assert GC_RECORD.sizeof() == 24  # noqa: S101
assert PYTHON_TRACER_FUNC.sizeof() == 33  # noqa: S101
assert PYTHON_TRACER_HASH.sizeof() == PARAM_TENSOR_INFO.sizeof() == 8  # noqa: S101
