"""What the switches of a capture let through (spec: switches.yaml; db-schema.md 2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ascend_ref.capture import Activities, Batch, Capture, Integers, Links, Switches
from ascend_ref.capture.kinds import COMMUNICATION, MARK, NODE, RUNTIME, TRACE
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_ref.spill import InMemory, Spill, is_ascending
from ascend_spec.db.model import Table

Taken = TypeVar("Taken", bound=Batch)

OF_DEVICE = (
    "tasks",
    "kernels",
    "schedules",
    "copies",
    "counters",
    "collectives",
    "transfers",
    "calls",
    "links",
    "workspace_events",
)
"""What a capture holds of devices and of CANN."""
OF_TASKS = ("tasks", "kernels", "schedules", "copies", "counters", "collectives", "transfers")
"""What of it are tasks of devices, names one, or has the times of some."""


def _host_sampler(name: str) -> Callable[[Switches], bool]:
    return lambda switches: name in switches.host_sys


def _core_counters(mode: str) -> Callable[[Switches], bool]:
    return lambda switches: (
        switches.npu
        and (switches.task_time or mode == "sample-based")
        and switches.level > 0
        and switches.aic_metrics is not None
        and switches.aic_mode == mode
    )


SWITCHED: Mapping[str, Callable[[Switches], bool]] = {
    "task-time": lambda switches: switches.npu and switches.task_time,
    "ascendcl": lambda switches: switches.npu,
    "hccl": lambda switches: switches.npu and switches.hccl,
    "runtime-api": lambda switches: (
        switches.npu
        and (switches.level == 2 if switches.runtime_api is None else switches.runtime_api)
    ),
    "msproftx": lambda switches: switches.mstx,
    "ai-core-task-based": _core_counters("task-based"),
    "ai-core-sample-based": _core_counters("sample-based"),
    "sys-io": lambda switches: switches.sys_io > 0,
    "sys-interconnection": lambda switches: switches.sys_interconnection > 0,
    "sys-hardware-mem": lambda switches: switches.sys_hardware_mem > 0,
    "task-memory": lambda switches: switches.memory and switches.npu,
    "profile-memory": lambda switches: switches.memory,
    "host-sys-cpu": _host_sampler("cpu"),
    "host-sys-mem": _host_sampler("mem"),
    "host-sys-disk": _host_sampler("disk"),
    "host-sys-network": _host_sampler("network"),
    "host-sys-osrt": _host_sampler("osrt"),
    "activity-cpu": lambda switches: switches.cpu,
    "with-stack": lambda switches: switches.cpu and switches.stack,
    "schedule": lambda switches: switches.cpu,
    "gc-detect": lambda switches: switches.cpu and switches.gc,
}
"""How the switches of the spec follow from those of a capture. The profiler of the framework sets
task-time, ascendcl and hccl with its activity NPU, and runtime-api with its level 2. Counters of
tasks are those of tasks that are known."""


def collects(table: Table, switches: Switches, *, switched: bool = True) -> bool:
    """Whether a table can have rows: one of its switches is on, and the level collects it.

    What CANN's profiler writes needs it to run, which the activity NPU makes it do, but for the
    tables that every file has (db-schema.md 1.1). Not ``switched``: the level alone decides.
    """
    if not switched:
        return switches.level in table.levels
    on = not table.switches or any(SWITCHED[switch](switches) for switch in table.switches)
    runs = switches.npu or table.writer != "msprof" or "always" in table.carriers.values()
    return on and runs and switches.level in table.levels


def collected(capture: Capture, spill: Spill | None = None) -> Capture:
    """The capture without what its switches do not collect; numbers of texts stay."""
    spill = spill or InMemory()
    switches = capture.switches
    kept = replace(capture) if switches.npu else _without(capture, OF_DEVICE)
    if not SWITCHED["task-time"](switches):
        kept = _without(kept, OF_TASKS)
    if not switches.mstx:
        others = spill.where(lambda one: one < FIRST_MARK_CONNECTION, kept.tasks.connection)
        kept = replace(kept, tasks=taken(spill, kept.tasks, others))
    if not SWITCHED["runtime-api"](switches):
        kept = _without(kept, ("copies",))
    unwanted = uncollected_levels(switches)
    if unwanted:
        others = spill.where(lambda level: ~np.isin(level, unwanted), kept.calls.level)
        kept = replace(kept, calls=taken(spill, kept.calls, others))
    return _with_activities_of(switches, kept)


def uncollected_levels(switches: Switches) -> list[int]:
    """The levels of host calls that switches do not collect. Launches are reported with the times
    of tasks (ge-profiling 5.11, ge-profiling 6).
    """
    found = [] if SWITCHED["task-time"](switches) else [NODE, COMMUNICATION]
    return found if SWITCHED["runtime-api"](switches) else [*found, RUNTIME]


def taken(spill: Spill, batch: Taken, rows: Integers) -> Taken:
    """These rows of a batch, each of them once."""
    if len(rows) == len(batch) and is_ascending(spill, rows):
        return batch
    return type(batch)(**{name: spill.taken(one, rows) for name, one in batch.columns()})


def _without(capture: Capture, names: Collection[str]) -> Capture:
    """Without some tables; no mark leads to a task where there are none."""
    marks = capture.marks
    if "tasks" in names:
        marks = replace(marks, device_link=np.full(len(marks), NONE))
    empty = {name: getattr(capture, name).empty() for name in names}
    return replace(capture, **empty, marks=marks)


def _with_activities_of(switches: Switches, capture: Capture) -> Capture:
    """Activities by the switches, links by the activities, frames by the stacks still used."""
    activities = capture.activities
    if not switches.cpu:
        return replace(
            capture, activities=activities.empty(), links=Links.empty(), steps=capture.steps.empty()
        )
    unwanted = np.zeros(len(activities), np.bool_)
    if not switches.stack:
        unwanted |= activities.kind == TRACE
    if not switches.mstx:
        unwanted |= activities.kind == MARK
    links = capture.links
    if unwanted.any():
        place = np.cumsum(~unwanted) - 1
        remaining = links.take(~unwanted[links.activity])
        links = replace(remaining, activity=place[remaining.activity])
        activities = activities.take(~unwanted)
    return replace(capture, activities=_with_columns_of(switches, activities), links=links)


def _with_columns_of(switches: Switches, activities: Activities) -> Activities:
    none = np.full(len(activities), NONE)
    if not switches.record_shapes:
        activities = replace(activities, data_types=none, shapes=none)
    if not switches.stack:
        activities = replace(activities, stack=none)
    return activities
