"""Traces of communication: a folder of each operator, a file of each iteration of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.transit import task_rows
from ascend_ref.raw.moments import MICROSECOND
from ascend_spec import catalog
from ascend_spec.mindspore import UNRANKED
from ascend_spec.mindspore.records import TICK

from .job import Job

KIND = "hccl_trace"
FOLDER = "hccl_info"

_NUMBER = 1
"""Behind the number of an operator, in the names of folders of real captures."""


def write_hccl(job: Job) -> None:
    """Write the traces, on days that have such files, where there are collectives.

    Sums of gradients have the first numbers of their type, by which parsers find their names.
    """
    if not job.writes(KIND):
        return
    parts = _Parts.of(job)
    for collective, folder, iteration in _operators(job, parts):
        document = {
            "device id": str(job.device),
            "iteration": iteration + 1,
            "traceEvents": [parts.event(row) for row in parts.rows[collective]],
        }
        content = json.dumps(document, indent=4).encode()
        place = f"{FOLDER}/{folder}"
        job.write_content(KIND, content, place, iteration=iteration + 1)


def _operators(job: Job, parts: _Parts) -> Iterator[tuple[int, str, int]]:
    """Rows of collectives that ran, with the folder of their operator, and the iteration."""
    steps = job.graph.iterations
    summed = {
        one.collective: number for some in steps.reductions for number, one in enumerate(some, 1)
    }
    most = max(summed.values(), default=0)
    counted: Counter[tuple[str, int]] = Counter()
    for collective, rows in parts.rows.items():
        kind = job.text(int(job.capture.collectives.kind[collective]))
        start = job.capture.tasks.start[parts.task[rows[:1]]]
        iteration = int(steps.of(start)[0])
        number = summed.get(collective)
        if number is None:
            counted[kind, iteration] += 1
            number = most + counted[kind, iteration]
        yield collective, f"{kind}_{number}_{_NUMBER}", iteration


@dataclass(frozen=True)
class _Parts:
    """``task``: the row of Tasks of each transfer. ``rows``: transfers of each collective that ran
    on the device, in order of time.
    """

    job: Job
    task: Integers
    rows: dict[int, list[int]]
    transports: dict[int, str]
    planes: int

    @classmethod
    def of(cls, job: Job) -> _Parts:
        capture = job.capture
        task = task_rows(capture.tasks)[capture.transfers.task]
        own = np.flatnonzero(capture.tasks.device[task] == job.device)
        order = own[np.argsort(capture.tasks.start[task[own]], kind="stable")]
        rows: dict[int, list[int]] = {}
        owners = capture.transfers.collective[order].tolist()
        for row, collective in zip(order.tolist(), owners, strict=True):
            rows.setdefault(collective, []).append(row)
        members = catalog().enums["ENUM_HCCL_TRANSPORT_TYPE"].members
        transports = {int(one.id): one.name for one in members}
        planes = int(capture.transfers.plane.max(initial=0))
        return cls(job, task, rows, transports, planes)

    def event(self, row: int) -> dict[str, Any]:
        """One part as an event; the main stream is the thread with the greatest number."""
        capture, transfers, tasks = self.job.capture, self.job.capture.transfers, self.task
        task = int(tasks[row])
        start, end = int(capture.tasks.start[task]), int(capture.tasks.end[task])
        name = self.job.text(int(transfers.kind[row])).replace("_", " ")
        length = round((end - start) / MICROSECOND, 2)
        size, notify = int(transfers.size[row]), int(transfers.notify[row])
        moves = size > 0
        bandwidth = round(size / max(end - start, 1), 4) if moves else "NULL"
        ranks = (
            _rank(capture, int(transfers.collective[row]), int(place[row]))
            for place in (transfers.source, transfers.target)
        )
        args = {
            "notify id": "NULL" if notify == NONE else f"0x{notify:016x}",
            "duration estimated": length,
            "stage": "0",
            "step": "0",
            "bandwidth": bandwidth,
            "stream id": self.job.graph.device_stream(int(capture.tasks.stream[task])),
            "task id": int(self.job.graph.number[task]),
            "task type": name,
            **dict(zip(("src rank", "dst rank"), ranks, strict=True)),
            "transport type": self.transports.get(int(transfers.transport[row]), "LOCAL"),
            "size": f"0x{size:x}" if moves else None,
        }
        return {
            "tid": self.planes - int(transfers.plane[row]) + 1,
            "pid": str(self.job.device),
            "ts": self.job.tick(start) * TICK / MICROSECOND,
            "dur": length,
            "ph": "X",
            "name": name,
            "args": args,
        }


def _rank(capture: Capture, collective: int, place: int) -> int:
    """The global rank at a place in the group of a collective."""
    if place == NONE:
        return UNRANKED
    group = int(capture.collectives.group[collective])
    return int(capture.group_ranks[int(capture.groups.first[group]) + place])
