"""What the program marks by itself, 256 bytes: ``msproftx``."""

from __future__ import annotations

from functools import partial

from construct import (
    Array,
    FixedSized,
    Float64l,
    GreedyBytes,
    Int16ul,
    Int32sl,
    Int32ul,
    Int64sl,
    Int64ul,
    NullStripped,
    Padded,
    Struct,
    Union,
)

from ascend_spec.core.packed import field

from .forms import CONSTANT, DERIVED, HASH_DIC, REPEATED, UNRECORDED, additional, head

MESSAGE_SIZE = 156
"""Bytes of the text of one record."""

_mark = partial(
    field,
    source=("raw-prof 4.6", "ge-profiling 5.4", "upstream-msprof MsprofStampInfo"),
    grade="observed",
)

STAMP = Struct(
    _mark("magicNumber", Int16ul, "0x5A5A.", shows=CONSTANT),
    _mark("dataTag", Int16ul, "Tag of the older records of marks.", shows=CONSTANT),
    _mark("processId", Int32ul, "Process of the mark.", shows="mark.process"),
    _mark("threadId", Int32ul, "Thread of the mark.", shows="mark.thread"),
    _mark("category", Int32ul, "Category of the mark.", shows="mark.category"),
    _mark(
        "eventType",
        Int32ul,
        "Kind of mark: 0 a mark, 1 a range of one thread, 2 a range, 3 a mark of a device as well.",
        shows="mark.kind",
        values="ENUM_MSTX_EVENT_TYPE",
    ),
    _mark("payloadType", Int32sl, "Which form the payload has.", shows=UNRECORDED),
    _mark(
        "payload",
        Padded(
            8,
            Union(
                0,
                "ullValue" / Int64ul,
                "llValue" / Int64sl,
                "dValue" / Float64l,
                "uiValue" / Array(2, Int32ul),
            ),
        ),
        "A number of the program.",
        shows=UNRECORDED,
    ),
    _mark("startTime", Int64ul, "Start.", shows="mark.start", unit="tick"),
    _mark("endTime", Int64ul, "End.", shows="mark.end", unit="tick"),
    _mark(
        "markId",
        Int64ul,
        "Number that the mark shares with the step trace of its device, and the segments of a "
        "message with each other.",
        shows="mark.connection",
    ),
    _mark(
        "domain",
        Int64ul,
        "Hash of the domain's name; nothing in marks that have no segments.",
        shows="mark.domain",
        values=HASH_DIC,
    ),
    _mark("messageType", Int32sl, "Which form the message has.", shows=UNRECORDED),
    _mark(
        "message",
        FixedSized(MESSAGE_SIZE, NullStripped(GreedyBytes)),
        "Text of the mark, or a segment of it.",
        shows="mark.message",
    ),
)
"""One mark, 224 bytes."""

MSPROFTX = additional(
    232,
    head(thread=REPEATED, time=DERIVED),
    _mark(
        "infoType",
        Int16ul,
        "0 a whole mark, 1 a segment of one whose text is longer than a record.",
        shows=DERIVED,
    ),
    _mark("segment", Int16ul, "Number of the segment, from 0.", shows=DERIVED),
    _mark("res1", Int32ul, "Not used.", shows=CONSTANT),
    _mark("stampInfo", STAMP, "The mark."),
)
"""``msproftx``: a mark or a range, or a segment of it."""
