"""Runs of AI CPU kernels in their parts."""

from __future__ import annotations

import numpy as np

from .scene import Columns, KernelRuns, RecordScene

MICROSECOND = 1_000
DISPATCH_US = (2, 9)
SCHEDULE_US = (1, 6)
PREPARE_US = (1, 4)
COPY_US = (1, 3)
"""From the task's start until it is dispatched, until the kernel begins, until it computes; and of
copying at its end (inferred; figures of the documents show the same order of sizes)."""


def ai_cpu_runs(scene: RecordScene) -> KernelRuns:
    """The kernels on AI CPU, in order of start."""
    runs = scene.kernels
    return runs.take(scene.compiled.on_ai_cpu[runs.kind]) if len(runs.kind) else runs


def aicpu(scene: RecordScene) -> Columns:
    """A row for each task of an AI CPU kernel: the whole of it, and what it consists of.

    No part is longer than an eighth of a short task, dispatching than a quarter.
    """
    runs, draws = ai_cpu_runs(scene), scene.draws("aicpu")
    total = runs.end - runs.start
    parts = [
        np.minimum(draws.between(*bounds, len(total)) * MICROSECOND, total // least)
        for bounds, least in ((DISPATCH_US, 4), (SCHEDULE_US, 8), (PREPARE_US, 8), (COPY_US, 8))
    ]
    dispatch, schedule, prepare, copy = parts
    task = total - dispatch - schedule
    return {
        "time": runs.start + dispatch + schedule,
        "name": runs.name,
        "compute": task - prepare - copy,
        "memcpy": copy,
        "task": task,
        "dispatch": dispatch,
        "total": total,
        "stream": runs.stream,
        "number": runs.number,
    }
