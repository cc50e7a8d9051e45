"""Memory that operators of the graph engine take and give back."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture

from .tree import RawTree


def write_workspace(capture: Capture, tree: RawTree) -> None:
    """Write the events; what is released has a negative size (raw-prof 4.4)."""
    events = capture.workspace_events
    rows = tree.rows("task_memory_info", len(events))
    rows["threadId"] = events.thread
    rows["timeStamp"] = tree.host.host.ticks(events.time)
    rows["addr"] = events.address
    rows["size"] = np.where(events.allocate == 1, events.size, -events.size)
    rows["nodeId"] = tree.hashes(capture.texts, events.name)
    rows["totalAllocateMemory"] = events.total_allocated
    rows["totalReserveMemory"] = events.total_reserved
    rows["deviceId"] = events.device
    tree.add("task_memory_info", rows)
