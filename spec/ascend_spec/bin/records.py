"""The packed records of the TraceKit blocks 0x0A and 0x0B (seed-004).

No exporter and no viewer of these blocks is known; the layout is the document's.
"""

from __future__ import annotations

from functools import partial

from construct import (
    Array,
    Bytes,
    Enum,
    GreedyRange,
    Int8sl,
    Int8ul,
    Int32ul,
    Int64ul,
    Struct,
    this,
)

from ascend_spec.core.packed import field

_traced = partial(field, source=("seed-004 0x0A",))
_cached = partial(field, source=("seed-004 0x0B",))

TRACE_RECORD = Struct(
    _traced(
        "type",
        Enum(Int8ul, MALLOC=0, FREE=1, MEMCPY_BLOCKS=2, LOAD=3, STORE=4),
        "Kind of the event.",
    ),
    _traced("coreId", Int8sl, "Core on which it happened."),
    _traced(
        "space",
        Enum(Int8sl, PRIVATE=0, GM=1, L1=2, L0A=3, L0B=4, L0C=5, UB=6),
        "Memory that it is about.",
    ),
    _traced("blockType", Enum(Int8ul, AIV=0, AIC=1), "Kind of the core."),
    _traced("recordId", Int32ul, "Number of the record."),
    _traced("addr", Int64ul, "Address in that memory."),
    _traced("memSize", Int64ul, "Size that it is about.", unit="Byte", errata=("B25",)),
    _traced("pc", Int64ul, "Address of the instruction, by which its call stack is found."),
)

CACHE_RECORD = Struct(
    _cached("loadCount", Int32ul, "Reads of the cache set."),
    _cached("storeCount", Int32ul, "Writes to the cache set."),
    _cached("cacheLineId", Int32ul, "Number of the cache line.", errata=("B71",)),
    _cached("hit", Int32ul, "Accesses that hit; hit / (loadCount + storeCount) is the hit rate."),
    _cached("miss", Int32ul, "Accesses that missed; rate likewise."),
    _cached("allocate", Int32ul, "Lines taken because of a miss; rate likewise."),
    _cached("evictAndWrite", Int32ul, "Lines given up and written to L2; rate likewise."),
    _cached("evictWithoutWrite", Int32ul, "Lines given up and not written; rate likewise."),
)

RECORD_SIZE = 32
"""Bytes of either record: natural alignment leaves no gaps."""

SECTION_LENGTH = Int64ul
"""What precedes the records and the call stacks of 0x0A."""

_length = partial(
    field,
    form=SECTION_LENGTH,
    source=("seed-004 0x0A",),
    grade="inferred",
    unit="Byte",
    errata=("B25",),
)

MEMORY_TRACE = Struct(
    _length("recordsLength", summary="Size of the records; the document names no unit."),
    "records" / Array(this.recordsLength // RECORD_SIZE, TRACE_RECORD),
    _length("callStacksLength", summary="Size of the call stacks."),
    "callStacks" / Bytes(this.callStacksLength),
)
"""The payload of 0x0A; the call stacks are JSON."""

CACHE_RECORDS = GreedyRange(CACHE_RECORD)
"""The payload of 0x0B."""

assert TRACE_RECORD.sizeof() == CACHE_RECORD.sizeof() == RECORD_SIZE  # noqa: S101
