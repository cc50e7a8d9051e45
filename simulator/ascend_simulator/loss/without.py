"""A capture without some of its tasks, without its device or without its steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import (
    RECORDS,
    Capture,
    Copies,
    Counters,
    Integers,
    Kernels,
    Records,
    Schedules,
    Transfers,
)
from ascend_ref.capture.model import NONE
from ascend_ref.derive.transit import task_rows

from ..host.framework import STEP_NAME

Mask = npt.NDArray[np.bool_]
OfTask = TypeVar("OfTask", Kernels, Schedules, Copies, Transfers)
KEY = ("stream", "number", "name")
"""What the rows of a record that describes tasks name them by."""


def without_tasks(capture: Capture, lost: Mask) -> Capture:
    """Without some rows of Tasks and what describes them. The others are numbered densely anew.

    Samples and what CANN records apart from tasks, such as iterations of a graph, stay.
    """
    tasks = capture.tasks.take(~lost)
    number = np.full(int(capture.tasks.identity.max(initial=NONE)) + 1, NONE)
    number[np.sort(tasks.identity)] = np.arange(len(tasks))

    def left(batch: OfTask) -> OfTask:
        kept = batch.take(number[batch.task] != NONE)
        return replace(kept, task=number[kept.task])

    counters = capture.counters
    counted = number[counters.task] != NONE
    return replace(
        capture,
        tasks=replace(tasks, identity=number[tasks.identity]),
        kernels=left(capture.kernels),
        schedules=left(capture.schedules),
        copies=left(capture.copies),
        transfers=left(capture.transfers),
        counters=Counters(
            counters.metrics, number[counters.task[counted]], counters.values[counted]
        ),
        records=_records(capture, lost),
    )


def _records(capture: Capture, lost: Mask) -> Records:
    """The records without rows about kernels that are lost."""
    rows = task_rows(capture.tasks)[capture.kernels.task]
    order = np.argsort(rows, kind="stable")  # tasks stand in order of start
    ran, kind = rows[order], capture.kernels.kind[order]
    tasks = capture.tasks
    kernels = (tasks.stream[ran], tasks.number[ran], capture.kernel_kinds.name[kind])
    found = {}
    for name, columns in capture.records.items():
        if not {*KEY} <= RECORDS[name].columns.keys():
            found[name] = columns
            continue
        kept = ~_of_lost(kernels, lost[ran], tuple(columns[one] for one in KEY))
        if kept.any():
            found[name] = {column: values[kept] for column, values in columns.items()}
    return found


def _of_lost(kernels: tuple[Integers, ...], lost: Mask, rows: tuple[Integers, ...]) -> Mask:
    """Which rows describe a lost kernel; both stand in order of time.

    Numbers of tasks come again in a long session. As a record may lack a session's first kernels,
    those of one number are matched from the last one backwards.
    """
    both = np.stack([np.append(*pair) for pair in zip(kernels, rows, strict=True)])
    _, key = np.unique(both, axis=1, return_inverse=True)
    key = key.reshape(-1)
    count = len(lost)
    of_kernel, of_row = _backwards(key[:count]), _backwards(key[count:])
    most = int(max(of_kernel.max(initial=0), of_row.max(initial=0))) + 1
    gone = (key[:count] * most + of_kernel)[lost]
    found: Mask = np.isin(key[count:] * most + of_row, gone)
    return found


def _backwards(keys: Integers) -> Integers:
    """How many rows of the same key follow on each row."""
    order = np.argsort(keys[::-1], kind="stable")
    ascending = keys[::-1][order]
    place = np.arange(len(keys)) - np.searchsorted(ascending, ascending)
    found = np.empty(len(keys), np.int64)
    found[order] = place
    return found[::-1]


def without_device(capture: Capture) -> Capture:
    """Without anything that the device recorded or that was sampled of it."""
    left = without_tasks(capture, np.ones(len(capture.tasks), np.bool_))
    samples = {name: columns for name, columns in left.samples.items() if "deviceId" not in columns}
    records = {}
    for name, columns in left.records.items():
        host = columns["device"] == NONE if "device" in columns else None
        if host is None:
            records[name] = columns
        elif host.any():
            records[name] = {column: values[host] for column, values in columns.items()}
    return replace(left, samples=samples, records=records)


def without_steps(capture: Capture) -> Capture:
    """Without the steps and the framework's marks of them; the schedule is still known."""
    names = capture.texts.numbers(map(STEP_NAME.format, capture.steps.number.tolist()))
    activities, links, origin = capture.activities, capture.links, capture.origin
    kept = ~np.isin(activities.name, names)
    stacks = activities.stack[~kept]
    place = np.cumsum(kept) - 1
    linked = links.take(kept[links.activity])
    return replace(
        capture,
        origin=replace(origin, scheduled=origin.scheduled or capture.steps),
        activities=activities.take(kept),
        links=replace(linked, activity=place[linked.activity]),
        frames=capture.frames.take(~np.isin(capture.frames.stack, stacks)),
        steps=capture.steps.empty(),
        collectives=replace(capture.collectives, step=np.full(len(capture.collectives), NONE)),
    )
