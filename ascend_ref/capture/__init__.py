"""The Capture: what one rank's profiler saw, as columns; every deliverable is an encoding of it."""

from __future__ import annotations

from .batch import Batch, Integers, Reals
from .model import (
    Activities,
    Capture,
    Collections,
    Collectives,
    Copies,
    Counters,
    DeviceFacts,
    Frames,
    Groups,
    HostCalls,
    KernelKinds,
    Kernels,
    Links,
    Marks,
    MemoryBlocks,
    MemoryTotals,
    Origin,
    Schedules,
    Steps,
    SystemCalls,
    Tasks,
    Transfers,
    WorkspaceEvents,
)
from .records import RECORDS, Records
from .switches import Switches
from .texts import Texts

__all__ = [
    "RECORDS",
    "Activities",
    "Batch",
    "Capture",
    "Collections",
    "Collectives",
    "Copies",
    "Counters",
    "DeviceFacts",
    "Frames",
    "Groups",
    "HostCalls",
    "Integers",
    "KernelKinds",
    "Kernels",
    "Links",
    "Marks",
    "MemoryBlocks",
    "MemoryTotals",
    "Origin",
    "Reals",
    "Records",
    "Schedules",
    "Steps",
    "Switches",
    "SystemCalls",
    "Tasks",
    "Texts",
    "Transfers",
    "WorkspaceEvents",
]
