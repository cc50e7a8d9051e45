"""What the host reports of calls and events, 40 bytes.

Names are those of the collector's headers. Times are ticks of the host's counter.
"""

from __future__ import annotations

from functools import partial

from construct import (
    Int16ul,
    Int32ul,
    Int64ul,
    Struct,
)

from ascend_spec.core.packed import field

from .forms import (
    CONSTANT,
    HASH_DIC,
    UNRECORDED,
    magic,
)

API_EVENT_SIZE = 40

EVENT_FLAG = 0xFFFF_FFFF_FFFF_FFFF
"""What stands in place of the end of a call where the record is an event."""

_API_SOURCE = ("raw-prof 4.1", "ge-profiling 5.1", "upstream-msprof MsprofApi")
_api = partial(field, source=_API_SOURCE, grade="observed")

API_EVENT = Struct(
    magic(_API_SOURCE),
    _api(
        "level",
        Int16ul,
        "Layer that was called; records of level 0 are dropped.",
        shows="host_call.level",
        values="levels",
    ),
    _api(
        "type",
        Int32ul,
        "Name of the call, by its layer; of communication, whether the task is of the main stream.",
        shows="host_call.name",
        values="type_info_dic",
    ),
    _api("threadId", Int32ul, "Thread that called.", shows="host_call.thread"),
    _api(
        "reserve",
        Int32ul,
        "Number of the execution where a model is executed, else 0.",
        shows=UNRECORDED,
    ),
    _api("beginTime", Int64ul, "Start of the call; never 0.", shows="host_call.start", unit="tick"),
    _api(
        "endTime",
        Int64ul,
        "End of the call; all ones in an event.",
        shows="host_call.end",
        unit="tick",
    ),
    _api(
        "itemId",
        Int64ul,
        "What was worked on: hash of the operator's name in calls of nodes, of the task's name in "
        "those of communication, the plain number of the model in those of models, else 0.",
        shows="host_call.item",
        values=HASH_DIC,
    ),
)
"""A call; an event where ``endTime`` is :data:`EVENT_FLAG`."""

_EVENT_SOURCE = ("raw-prof 4.1", "ge-profiling 5.2", "upstream-msprof MsprofEvent")
_event = partial(field, source=_EVENT_SOURCE, grade="observed")

EVENT = Struct(
    magic(_EVENT_SOURCE),
    _event("level", Int16ul, "Layer of the event.", shows="host_call.level", values="levels"),
    _event(
        "type",
        Int32ul,
        "Name of the event, by its layer.",
        shows="host_call.name",
        values="type_info_dic",
    ),
    _event("threadId", Int32ul, "Thread of the event.", shows="host_call.thread"),
    _event("requestId", Int32ul, "Number of the execution.", shows=UNRECORDED),
    _event(
        "timeStamp",
        Int64ul,
        "Time of the event. Of two events that agree in level, type, thread, request and item, the "
        "first is the start of a call and the second its end.",
        shows="host_call.start",
        unit="tick",
    ),
    _event("eventFlag", Int64ul, "All ones, by which an event is known.", shows=CONSTANT),
    _event("itemId", Int64ul, "As in a call.", shows="host_call.item", values=HASH_DIC),
)
"""The same bytes as :data:`API_EVENT`, of a record that is an event."""

# The declarations against the document.
assert API_EVENT.sizeof() == EVENT.sizeof() == API_EVENT_SIZE  # noqa: S101
