"""Runs of AI CPU kernels, and which functions kept AI CPU, Ctrl CPU and TS CPU busy meanwhile."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from ascend_ref.capture.model import NONE
from ascend_ref.raw.processors import CYCLES, EVENT_NAMES
from ascend_ref.raw.vocabulary import numbered

from ..samples.scene import Columns
from .scene import KernelRuns, RecordScene

MICROSECOND = 1_000
DISPATCH_US = (2, 9)
SCHEDULE_US = (1, 6)
PREPARE_US = (1, 4)
COPY_US = (1, 3)
NOTICED_NS = 400
"""From the task's start until it is dispatched, until the kernel begins, until it computes; of
copying at its end; and until the task has ended (inferred; figures of the documents show the same
order of sizes)."""


def ai_cpu_runs(scene: RecordScene) -> KernelRuns:
    """The kernels on AI CPU, in order of start."""
    runs = scene.kernels
    return runs.take(scene.compiled.on_ai_cpu[runs.kind]) if len(runs.kind) else runs


def aicpu(scene: RecordScene) -> Columns:
    """A row for each task of an AI CPU kernel: the run of it, and what that consists of.

    The scheduler notices the end of a run a little later. No part is longer than an eighth of a
    short task, dispatching than a quarter.
    """
    runs, draws = ai_cpu_runs(scene), scene.noise("aicpu")
    length = runs.end - runs.start
    total = length - np.minimum(NOTICED_NS, length // 8)
    parts = [
        np.minimum(draws.between(*bounds, len(total)) * MICROSECOND, total // least)
        for bounds, least in ((DISPATCH_US, 4), (SCHEDULE_US, 8), (PREPARE_US, 8), (COPY_US, 8))
    ]
    dispatch, schedule, prepare, copy = parts
    task = total - dispatch - schedule
    return {
        "time": runs.start + dispatch + schedule,
        # Level 0 does not record which kernels run on AI CPUs.
        "name": runs.name if scene.capture.switches.level else np.full(len(total), NONE),
        "compute": task - prepare - copy,
        "memcpy": copy,
        "task": task,
        "dispatch": dispatch,
        "total": total,
        "stream": runs.stream,
        "number": runs.number,
    }


Processor: TypeAlias = Literal["ai_cpu", "ctrl_cpu", "ts_cpu"]
PROCESSORS: tuple[Processor, ...] = get_args(Processor)
Function: TypeAlias = tuple[str, str | None]
"""Name and module."""

MHZ = 2_000
"""Clock of AI CPU and Ctrl CPU (inferred)."""
SCHEDULER: Function = "aicpu::AicpuSchedule", "libaicpu_processer.so"
SCHEDULED_CYCLES = 24_000
"""Of AI CPU for each kernel, in addition to those of its run."""
KERNELS = "libcpu_kernels.so"
CONTROL: dict[Function, int] = {
    ("drv_hdc_task_recv", "drv_hdc.ko"): 9_000,
    ("drv_event_submit", "drv_event_sched.ko"): 5_000,
    ("__memcpy_generic", "libc.so.6"): 2_500,
}
"""Of Ctrl CPU for each call that launches something."""
CONTROL_IDLE_CYCLES = 120
"""For each microsecond of the session."""
CONTROL_IDLE: Function = "cpu_startup_entry", "[kernel.kallsyms]"
TASK_CYCLES = {"0xffffff0480012a40": 900, "0xffffff0480014c88": 420, "0xffffff04800102f0": 260}
"""Of TS CPU for each task, by the addresses of its functions, which have no names."""
POLLING = "0xffffff0480008d14"
POLLING_CYCLES = 30
"""For each microsecond of the session."""
EVENTS = (CYCLES, "INST_RETIRED")
"""Events that are counted."""
INSTRUCTIONS_PER_MILLE = (600, 1_400)
"""For 1000 cycles."""


def functions(scene: RecordScene, processor: Processor) -> dict[Function, int]:
    """Cycles by function."""
    length = (scene.timeline.session[1] - scene.timeline.session[0]) // 1_000
    if processor == "ts_cpu":
        tasks = len(scene.capture.tasks)
        found: dict[Function, int] = {
            (address, None): each * tasks for address, each in TASK_CYCLES.items()
        }
        return {**found, (POLLING, None): POLLING_CYCLES * length}
    if processor == "ctrl_cpu":
        launches = len(np.unique(scene.capture.tasks.connection))
        found = {function: each * launches for function, each in CONTROL.items()}
        return {**found, CONTROL_IDLE: CONTROL_IDLE_CYCLES * length}
    runs = ai_cpu_runs(scene)
    found = {}
    for kind in np.unique(runs.kind).tolist():
        own = runs.kind == kind
        name = f"aicpu::{scene.compiled.kinds[kind].op_type}CpuKernel::Compute", KERNELS
        cycles = int((runs.end - runs.start)[own].sum()) * MHZ // 1_000
        found[name] = found.get(name, 0) + cycles
    if found:
        found[SCHEDULER] = SCHEDULED_CYCLES * len(runs.kind)
    return found


def top_function(scene: RecordScene, processor: Processor) -> Columns:
    """Every function that took any cycles, the most first."""
    found = [entry for entry in functions(scene, processor).items() if entry[1]]
    found.sort(key=lambda entry: -entry[1])
    modules = [module for (_, module), _ in found]
    named = all(module is not None for module in modules)
    return {
        "function": scene.texts.numbers(name for (name, _), _ in found),
        "module": scene.texts.numbers(str(module) for module in modules)
        if named
        else np.full(len(found), NONE),
        "cycles": np.array([cycles for _, cycles in found], np.int64),
    }


def pmu_events(scene: RecordScene, processor: Processor) -> Columns:
    """The cycles of all functions together, and the instructions in them."""
    cycles = sum(functions(scene, processor).values())
    if not cycles:
        return {}
    rate = scene.noise(f"{processor}_pmu_events").one(*INSTRUCTIONS_PER_MILLE)
    return {
        "event": np.array([numbered(EVENT_NAMES)[name] for name in EVENTS], np.int64),
        "name": scene.texts.numbers(EVENTS),
        "count": np.array([cycles, cycles * rate // 1_000], np.int64),
    }
