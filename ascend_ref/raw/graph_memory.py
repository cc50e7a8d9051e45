"""Memory of compiled graphs, as the graph engine planned it (raw-prof 4.4, ge-profiling 5.4)."""

from __future__ import annotations

from ascend_ref.capture import Capture
from ascend_ref.capture.records import Records
from ascend_spec import raw_catalog

from .machine import chip_of

KIND = "static_op_mem"
"""The kind of files, and their record of the recording."""
TO_THE_END = (1 << 32) - 2
"""Number of the operator at the end of what is kept as long as the graph (upstream-msprof
StaticOpMemBean)."""


def held_of_graph_memory(capture: Capture) -> Records:
    """The memory that raw files hold: all of it, where the chip has the file."""
    if (
        KIND not in capture.records
        or chip_of(capture.origin) not in raw_catalog().files[KIND].chips
    ):
        return {}
    return {KIND: capture.records[KIND]}
