"""Memory of the device's and the host's systems, and of their processes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Integers

from ..samples.held import held_by_process
from ..samples.host import record_host_samples
from ..samples.scene import Columns
from .processors import DEVICE_PROCESSES, host_processes
from .scene import HOST, RecordScene, by_device

PAGE = 4_096
HOST_BYTES = 512 << 30
DEVICE_SYSTEM_BYTES = 224 << 20
"""What the device's own system holds (db-schema.md 7.7)."""
HUNDREDTHS = 10_000
BUFFERED_PER_MILLE = (5, 15)
CACHED_PER_MILLE = (60, 140)
"""Of the free memory."""
OWN_PER_MILLE = (500, 700)
"""Of the host's used memory, what the profiled process holds."""
SHARED_PER_MILLE = 120
VIRTUAL = 5
"""A process's address space is so many times as large as its memory."""


def sys_mem(scene: RecordScene) -> Columns:
    """Of the device as far as it is sampled, then of the host."""
    parts = {}
    switches = scene.scenario.capture
    if switches.sys_profiling:
        grid = scene.sampled("sys_mem", switches.sys_profiling)
        total = scene.machine.chip.memory
        held = held_by_process(scene.timeline.program, scene.footprint, grid)
        used = held + DEVICE_SYSTEM_BYTES
        parts[scene.timeline.device] = _system(scene, "sys_mem device", grid, total, used)
    if "mem" in switches.host_sys_usage:
        grid, used = host_memory(scene)
        parts[HOST] = _system(scene, "sys_mem host", grid, HOST_BYTES, used)
    return by_device(parts)


def _system(scene: RecordScene, record: str, grid: Integers, total: int, used: Integers) -> Columns:
    """What is not used is free, but for what the system keeps of files."""
    draws = scene.noise(record)
    rest = np.maximum(total - used, 0)
    buffers = rest * draws.one(*BUFFERED_PER_MILLE) // 1_000 // PAGE * PAGE
    cached = rest * draws.one(*CACHED_PER_MILLE) // 1_000 // PAGE * PAGE
    zero = np.zeros(len(grid), np.int64)
    return {
        "time": grid,
        "total": zero + total,
        "free": rest - buffers - cached,
        "buffers": buffers,
        "cached": cached,
        "shared": cached // 16 // PAGE * PAGE,
        "commit_limit": zero + total // 2,
        "committed": used * 5 // 4 // PAGE * PAGE,
        "huge_total": zero,
        "huge_free": zero,
    }


def host_memory(scene: RecordScene) -> tuple[Integers, Integers]:
    """When HOST_MEM_USAGE is sampled, or would be, and the Byte that are then in use."""
    found = record_host_samples(scene, ["mem"]).get("HOST_MEM_USAGE", {})
    empty = np.empty(0, np.int64)
    hundredths = np.rint(found.get("usage", empty) * 100).astype(np.int64)
    return found.get("timestampNs", empty), HOST_BYTES * hundredths // HUNDREDTHS // PAGE * PAGE


def process_mem(scene: RecordScene) -> Columns:
    """Of the device's processes as far as they are sampled, then of the host's."""
    parts = {}
    switches = scene.scenario.capture
    if switches.sys_pid:
        grid = scene.sampled("process_mem", switches.sys_pid)
        used = np.full(len(grid), DEVICE_SYSTEM_BYTES)
        found = _processes(scene, "process_mem device", grid, used, DEVICE_PROCESSES)
        parts[scene.timeline.device] = found
    if "mem" in switches.host_sys_usage:
        grid, used = host_memory(scene)
        parts[HOST] = _processes(scene, "process_mem host", grid, used, host_processes(scene))
    return by_device(parts)


def _processes(
    scene: RecordScene, record: str, grid: Integers, used: Integers, names: Mapping[int, str]
) -> Columns:
    """The first process holds more than half of what is used, each further one an eighth of the
    rest, so that together they hold less than that.
    """
    draws = scene.noise(record)
    own = used * draws.one(*OWN_PER_MILLE) // 1_000 // PAGE
    other = (used // PAGE - own) // 8
    resident = np.stack([own, *[other] * (len(names) - 1)], axis=-1).reshape(-1)
    count = len(grid)
    return {
        "time": np.repeat(grid, len(names)),
        "pid": np.tile(np.array(list(names), np.int64), count),
        "name": np.tile(scene.texts.numbers(names.values()), count),
        "size": resident * VIRTUAL,
        "resident": resident,
        "shared": resident * SHARED_PER_MILLE // 1_000,
    }
