"""The packed records of the TraceKit blocks 0x0A and 0x0B (seed 004, bin-blocks.md 4).

No exporter and no viewer of these blocks is known; the layout is the document's.
"""

from __future__ import annotations

from construct import Enum, Int8sl, Int8ul, Int32ul, Int64ul, Struct

TRACE_RECORD = Struct(
    "type" / Enum(Int8ul, MALLOC=0, FREE=1, MEMCPY_BLOCKS=2, LOAD=3, STORE=4),
    "coreId" / Int8sl,
    "space" / Enum(Int8sl, PRIVATE=0, GM=1, L1=2, L0A=3, L0B=4, L0C=5, UB=6),
    "blockType" / Enum(Int8ul, AIV=0, AIC=1),
    "recordId" / Int32ul,
    "addr" / Int64ul,
    "memSize" / Int64ul,  # bytes [inferred: the document names no unit]
    "pc" / Int64ul,
)

CACHE_RECORD = Struct(
    "loadCount" / Int32ul,
    "storeCount" / Int32ul,
    "cacheLineId" / Int32ul,
    "hit" / Int32ul,
    "miss" / Int32ul,
    "allocate" / Int32ul,
    "evictAndWrite" / Int32ul,
    "evictWithoutWrite" / Int32ul,
)

RECORD_SIZE = 32
"""Bytes of either record: natural alignment leaves no gaps."""

SECTION_LENGTH = Int64ul
"""What precedes the records and the call stacks of 0x0A: their bytes [inferred: bytes or count]."""

assert TRACE_RECORD.sizeof() == CACHE_RECORD.sizeof() == RECORD_SIZE  # noqa: S101
