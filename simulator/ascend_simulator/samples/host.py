"""The host that serves the devices: processors, memory, disk, network."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import Samples

from ..draws import Draws
from ..program.model import Copy, Prepare, Synchronize
from ..world.timeline import RankTimeline, Scene
from .scene import MILLION, Columns, Window, kept, per_second, period_of, regular
from .traffic import Curve, Flow, Traffic

FREQUENCY = 50
PROCESSORS = 64
KIBI = 1 << 10
IDLE_HUNDREDTHS = (0, 250)
MEMORY_HUNDREDTHS = (800, 2_400)
MEMORY_NOISE_HUNDREDTHS = (0, 6)
DISK_WRITE = (40_000, 400_000)
DISK_SPEED = 2_000 * MILLION
NETWORK_USED = (10_000, 300_000)
NETWORK_SPEED = 1_250 * MILLION
"""Byte/s: NVMe disks, and the 10 Gb/s of the card that manages the host."""
HOST_TO_DEVICE = "host to device"


def record_host_samples(scene: Scene, samplers: Collection[str] | None = None) -> Samples:
    """CPU_USAGE, HOST_MEM_USAGE, HOST_DISK_USAGE and HOST_NETWORK_USAGE of the rank's process.

    samplers: of ``capture.host_sys``; those of the scenario unless given.
    """
    window = Window.of(scene.timeline, Traffic())
    tables: dict[str, Columns] = {}
    for sampler, (table, columns) in TABLES.items():
        if sampler in (scene.scenario.capture.host_sys if samplers is None else samplers):
            draws = scene.draws(table)
            grid = regular(window, period_of(FREQUENCY), draws)
            found = columns(scene.timeline, grid[kept(grid, table, scene)], draws)
            if len(found["timestampNs"]):
                tables[table] = found
    return tables


def _cpu(timeline: RankTimeline, grid: Integers, draws: Draws) -> Columns:
    """Load of each processor; the threads of the rank keep one each."""
    length = np.diff(grid)
    usage = draws.between(*IDLE_HUNDREDTHS, PROCESSORS * len(length)).reshape(PROCESSORS, -1)
    first = draws.one(0, PROCESSORS - 1)
    for number, flow in enumerate(threads(timeline)):
        busy = np.diff(Curve(flow, grid).read(grid))
        usage[(first + number) % PROCESSORS] += busy * 10_000 // np.maximum(length, 1)
    return {
        "timestampNs": np.repeat(grid[1:], PROCESSORS),
        "cpuId": np.tile(np.arange(PROCESSORS, dtype=np.int64), len(length)),
        "usage": np.minimum(usage.T.reshape(-1), 10_000) / 100,
    }


def threads(timeline: RankTimeline) -> list[Flow]:
    """When the threads of a rank work; ``read`` is ns. Waiting for the device is not work."""
    host, program = timeline.host, timeline.program
    waits = np.array([isinstance(item, Synchronize) for item in program.items], bool)
    until = np.where(waits, host.handed, host.left)
    backward = np.array(
        [program.operators[item.operator].thread == "backward" for item in program.items], bool
    )
    queued = timeline.plan.occupied > 0
    spans = [
        (host.begin[:, ~backward], until[:, ~backward]),
        (host.begin[:, backward], until[:, backward]),
        (host.taken[:, queued], host.done[:, queued]),
    ]
    return [
        Flow(
            start.reshape(-1),
            end.reshape(-1),
            (end - start).reshape(-1),
            np.zeros(start.size, np.int64),
        )
        for start, end in spans
    ]


def _memory(_: RankTimeline, grid: Integers, draws: Draws) -> Columns:
    used = draws.one(*MEMORY_HUNDREDTHS) + draws.between(*MEMORY_NOISE_HUNDREDTHS, len(grid))
    return {"timestampNs": grid, "usage": used / 100}


def _disk(timeline: RankTimeline, grid: Integers, draws: Draws) -> Columns:
    """What the steps copy to the device is read while they prepare it."""
    reading = per_second(np.diff(Curve(_loading(timeline), grid).read(grid)), grid)
    writing = draws.between(*DISK_WRITE, len(reading))
    return {
        "timestampNs": grid[1:],
        "readRate": reading // KIBI * KIBI,
        "writeRate": writing // KIBI * KIBI,
        "usage": ((reading + writing) * 10_000 // DISK_SPEED) / 100,
    }


def _loading(timeline: RankTimeline) -> Flow:
    items = timeline.program.items
    places = [place for place, item in enumerate(items) if isinstance(item, Prepare)]
    size = sum(
        item.size for item in items if isinstance(item, Copy) and item.operation == HOST_TO_DEVICE
    )
    start = timeline.host.begin[:, places].reshape(-1)
    each = np.full(len(start), size // max(len(places), 1), np.int64)
    return Flow(start, timeline.host.handed[:, places].reshape(-1), each, np.zeros_like(each))


def _network(_: RankTimeline, grid: Integers, draws: Draws) -> Columns:
    speed = draws.between(*NETWORK_USED, len(grid))
    return {
        "timestampNs": grid,
        "usage": (speed * 10_000 // NETWORK_SPEED) / 100,
        "speed": speed // KIBI * KIBI,
    }


TABLES = {
    "cpu": ("CPU_USAGE", _cpu),
    "mem": ("HOST_MEM_USAGE", _memory),
    "disk": ("HOST_DISK_USAGE", _disk),
    "network": ("HOST_NETWORK_USAGE", _network),
}
