"""What a capture was asked to collect; each switch decides which tables and columns have rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AicMode = Literal["task-based", "sample-based"]
HostSampler = Literal["cpu", "mem", "disk", "network", "osrt"]
HostUsage = Literal["cpu", "mem"]


ONLY_BY_CANN = ("task_time", "hccl", "runtime_api")
"""Fields that the profiler of a framework sets itself, by its activity NPU and its level."""


@dataclass(frozen=True, slots=True)
class Switches:
    """The collection switches (spec: switches.yaml). Frequencies are samples per second, 0 is off.

    level: 0, 1 or 2 of the profiler; names, shapes and counters need 1, runtime calls need 2.
    cpu, npu: activities, the framework's calls and the device's work.
    task_time: tasks and what is about them, which npu collects unless it is off. hccl: whether
    collective communication was asked for by itself. runtime_api: calls of the runtime and copies;
    None leaves it to the level.
    aic_metrics: group of counters, such as ``PipeUtilization``; None collects no counters.
    sys_hardware_mem, sys_io, sys_interconnection: device samplers.
    The others make rows in text deliverables alone (msprof options of the same names): l2, soc_pmu,
    aicpu per task; sys_profiling, sys_pid (``--sys-pid-profiling``), sys_cpu, dvpp sample the
    device's system, its processes, its processors and its engines for images; instr: cycles between
    samples of the cores' pipes, 0 is off; host_sys_usage samples the host's system and processes.
    """

    level: Literal[0, 1, 2] = 1
    cpu: bool = True
    npu: bool = True
    task_time: bool = True
    hccl: bool = True
    runtime_api: bool | None = None
    aic_metrics: str | None = "PipeUtilization"
    aic_mode: AicMode = "task-based"
    memory: bool = False
    stack: bool = False
    record_shapes: bool = True
    mstx: bool = False
    l2: bool = False
    gc: bool = False
    sys_hardware_mem: int = 0
    sys_io: int = 0
    sys_interconnection: int = 0
    host_sys: tuple[HostSampler, ...] = ()
    aicpu: bool = False
    soc_pmu: bool = False
    sys_profiling: int = 0
    sys_pid: int = 0
    sys_cpu: int = 0
    dvpp: int = 0
    instr: int = 0
    host_sys_usage: tuple[HostUsage, ...] = ()
