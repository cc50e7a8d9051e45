"""Copies: records that agree with the launch of their task in thread and time."""

from __future__ import annotations

from ascend_ref.capture import Capture

from .tracks import Tracks, task_rows
from .tree import RawTree

_DIRECTIONS = 1 << 16


def write_copies(capture: Capture, tree: RawTree, tracks: Tracks) -> list[str]:
    """Write the copies. Returns what no record holds.

    The largest size of one task is a number whose lower half is the direction, so that readers that
    look there find it, too (raw-prof 4.3).
    """
    copies = capture.copies
    if not tree.writes("memcpy_info"):
        return [f"{len(copies):,} copies"] if len(copies) else []
    task = task_rows(capture, copies.task)
    track = tracks.of_task[task]
    rows = tree.rows("memcpy_info", len(copies))
    rows["threadId"] = tracks.thread[track]
    rows["timeStamp"] = tracks.moment[track]
    rows["dataSize"] = copies.size
    rows["maxSize"] = (copies.size // _DIRECTIONS + 1) * _DIRECTIONS + copies.operation
    rows["memcpyDirection"] = copies.operation
    tree.add("memcpy_info", rows)
    return []
