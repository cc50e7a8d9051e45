"""The packed records of the TraceKit blocks 0x0A and 0x0B (seed 004, bin-blocks.md 4).

No exporter and no viewer of these blocks is known; the layout is the document's.
"""

from __future__ import annotations

from construct import (
    Array,
    Bytes,
    Construct,
    Enum,
    GreedyRange,
    Int8sl,
    Int8ul,
    Int32ul,
    Int64ul,
    Renamed,
    Struct,
    this,
)


def _field(name: str, form: Construct, meaning: str) -> Construct:
    return Renamed(form, newname=name, newdocs=meaning)


TRACE_RECORD = Struct(
    _field(
        "type",
        Enum(Int8ul, MALLOC=0, FREE=1, MEMCPY_BLOCKS=2, LOAD=3, STORE=4),
        "Kind of the event.",
    ),
    _field("coreId", Int8sl, "Core on which it happened."),
    _field(
        "space",
        Enum(Int8sl, PRIVATE=0, GM=1, L1=2, L0A=3, L0B=4, L0C=5, UB=6),
        "Memory that it is about.",
    ),
    _field("blockType", Enum(Int8ul, AIV=0, AIC=1), "Kind of the core."),
    _field("recordId", Int32ul, "Number of the record."),
    _field("addr", Int64ul, "Address in that memory."),
    _field("memSize", Int64ul, "Bytes it is about; the document names no unit (erratum B25)."),
    _field("pc", Int64ul, "Address of the instruction, by which its call stack is found."),
)

CACHE_RECORD = Struct(
    _field("loadCount", Int32ul, "Reads of the cache set."),
    _field("storeCount", Int32ul, "Writes to the cache set."),
    _field("cacheLineId", Int32ul, "Number of the cache line (erratum B71)."),
    _field("hit", Int32ul, "Accesses that hit; hit / (loadCount + storeCount) is the hit rate."),
    _field("miss", Int32ul, "Accesses that missed; rate likewise."),
    _field("allocate", Int32ul, "Lines taken because of a miss; rate likewise."),
    _field("evictAndWrite", Int32ul, "Lines given up and written to L2; rate likewise."),
    _field("evictWithoutWrite", Int32ul, "Lines given up and not written; rate likewise."),
)

RECORD_SIZE = 32
"""Bytes of either record: natural alignment leaves no gaps."""

SECTION_LENGTH = Int64ul
"""What precedes the records and the call stacks of 0x0A: their bytes [inferred: bytes or count]."""

MEMORY_TRACE = Struct(
    "recordsLength" / SECTION_LENGTH,
    "records" / Array(this.recordsLength // RECORD_SIZE, TRACE_RECORD),
    "callStacksLength" / SECTION_LENGTH,
    "callStacks" / Bytes(this.callStacksLength),
)
"""The payload of 0x0A; the call stacks are JSON."""

CACHE_RECORDS = GreedyRange(CACHE_RECORD)
"""The payload of 0x0B."""

assert TRACE_RECORD.sizeof() == CACHE_RECORD.sizeof() == RECORD_SIZE  # noqa: S101
