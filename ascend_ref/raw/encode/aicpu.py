"""Runs of AI CPU kernels, and readings of prepared data."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture, Integers

from ..aicpu import KIND, QUEUE_TAG, READING, READINGS, RUN, RUNS, held_of_aicpu, run_ticks
from ..fields import joined
from ..moments import MICROSECOND
from .tree import RawTree, Rows


def write_aicpu(capture: Capture, tree: RawTree) -> None:
    """Write what the AI CPUs of all devices noted, the runs first."""
    for device in tree.devices:
        held = held_of_aicpu(capture, tree.side[device].device)
        parts = []
        for record, made in ((RUNS, _runs), (READINGS, _readings)):
            table = held.get(record, {})
            if table:
                own = np.flatnonzero(table["device"] == device)
                parts.append(made({name: one[own] for name, one in table.items()}, tree, device))
        if parts:
            tree.write(KIND, joined(parts), device, record=RUN)


def _runs(table: dict[str, Integers], tree: RawTree, device: int) -> Rows:
    rows = _rows(tree, RUN, len(table["time"]))
    submitted, began, ended = run_ticks(table, tree.side[device].device)
    end = tree.host.monotonic.ticks(table["time"] + table["task"]) // MICROSECOND
    copied = end - table["memcpy"] // MICROSECOND
    rows["timeStamp"] = ended
    rows["streamId"], rows["taskId"] = table["stream"], table["number"]
    rows["runStartTime"] = tree.host.monotonic.ticks(table["time"]) // MICROSECOND
    rows["runStartTick"], rows["runEndTick"] = began, ended
    rows["computeStartTime"] = copied - table["compute"] // MICROSECOND
    rows["memcpyStartTime"], rows["memcpyEndTime"], rows["runEndTime"] = copied, end, end
    rows["deviceId"] = device
    rows["submitTick"], rows["scheduleTick"] = submitted, began
    rows["tickBeforeRun"], rows["tickAfterRun"] = began, ended
    rows["dispatchTime"] = table["dispatch"] // MICROSECOND
    rows["totalTime"] = table["total"] // MICROSECOND
    return rows


def _readings(table: dict[str, Integers], tree: RawTree, device: int) -> Rows:
    rows = _rows(tree, READING, len(table["start"]))
    rows["timeStamp"] = tree.side[device].device.ticks(table["end"])
    rows["nodeTag"], rows["queueSize"] = QUEUE_TAG, table["size"]
    rows["runStartTime"] = table["start"] // MICROSECOND
    rows["runEndTime"] = table["end"] // MICROSECOND
    return rows


def _rows(tree: RawTree, record: str, count: int) -> Rows:
    rows = tree.rows(KIND, count, record)
    rows["type"] = tree.kind(KIND, record)
    return rows
