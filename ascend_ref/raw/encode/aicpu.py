"""Runs of AI CPU kernels, and readings of prepared data."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_spec import raw_catalog

from ..aicpu import (
    KIND,
    PREPARATION,
    PREPARATIONS,
    QUEUE_TAG,
    READING,
    READINGS,
    RUN,
    RUNS,
    TEXTS,
    held_of_aicpu,
    run_ticks,
)
from ..fields import joined, time_field
from ..moments import MICROSECOND
from .tree import RawTree, Rows

Table = dict[str, Integers]


def write_aicpu(capture: Capture, tree: RawTree) -> None:
    """Write what the AI CPUs of all devices noted, the runs first."""
    for device in tree.devices:
        held = held_of_aicpu(capture, tree.side[device].device)
        parts = []
        for record, made in (
            (RUNS, _runs),
            (READINGS, _readings),
            (PREPARATIONS, _preparations),
        ):
            table = held.get(record, {})
            if table:
                own = np.flatnonzero(table["device"] == device)
                part = {name: one[own] for name, one in table.items()}
                parts.append(made(capture, part, tree, device))
        if parts:
            tree.write(KIND, joined(parts), device, record=RUN)


def _runs(_: Capture, table: Table, tree: RawTree, device: int) -> Rows:
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


def _readings(_: Capture, table: Table, tree: RawTree, device: int) -> Rows:
    rows = _rows(tree, READING, len(table["start"]))
    rows["timeStamp"] = tree.side[device].device.ticks(table["end"])
    rows["nodeTag"], rows["queueSize"] = QUEUE_TAG, table["size"]
    rows["runStartTime"] = table["start"] // MICROSECOND
    rows["runEndTime"] = table["end"] // MICROSECOND
    return rows


def _preparations(capture: Capture, table: Table, tree: RawTree, device: int) -> Rows:
    rows = _rows(tree, PREPARATION, len(table["time"]))
    every = capture.texts.all
    field, clock = time_field(raw_catalog().record(PREPARATION))
    rows[field] = tree.side[device].by_name(clock).ticks(table["time"])
    for name in TEXTS:
        rows[name] = [every[one].encode() for one in table[name].tolist()]
    rows["index"], rows["size"] = np.arange(len(rows)), table["buffered"]
    return rows


def _rows(tree: RawTree, record: str, count: int) -> Rows:
    rows = tree.rows(KIND, count, record)
    rows["type"] = tree.kind(KIND, record)
    return rows
