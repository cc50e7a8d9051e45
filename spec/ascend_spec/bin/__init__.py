"""``visualize_data.bin``: what the file of MindStudio Insight's operator pages is made of."""

from .catalog import BinCatalog, BlockType, Epoch
from .container import (
    ALIGNMENT,
    BLOCK,
    FILE,
    FILLER,
    HEADER,
    HEADER_SIZE,
    LEGACY_VERSION,
    PATH_SECTION,
    PATH_SECTION_SIZE,
    PATH_TYPE,
    VERSIONED_TYPE,
)
from .records import CACHE_RECORD, CACHE_RECORDS, MEMORY_TRACE, SECTION_LENGTH, TRACE_RECORD

__all__ = [
    "ALIGNMENT",
    "BLOCK",
    "CACHE_RECORD",
    "CACHE_RECORDS",
    "FILE",
    "FILLER",
    "HEADER",
    "HEADER_SIZE",
    "LEGACY_VERSION",
    "MEMORY_TRACE",
    "PATH_SECTION",
    "PATH_SECTION_SIZE",
    "PATH_TYPE",
    "SECTION_LENGTH",
    "TRACE_RECORD",
    "VERSIONED_TYPE",
    "BinCatalog",
    "BlockType",
    "Epoch",
]
