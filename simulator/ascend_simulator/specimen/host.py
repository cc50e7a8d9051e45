"""Rows of the tables that sample or trace the host."""

from __future__ import annotations

from ..draws import Draws
from .samples import MEGABYTE, moments
from .shape import Shape
from .tasks import Row, Rows, global_tid
from .world import RELEASE_THREAD

CORES = 2
SYSTEM_CALLS = ("pthread_mutex_lock", "read", "ioctl")


def host_tables(shape: Shape) -> dict[str, Rows]:
    """Rows of the five host tables; usages are percent, rates Byte/s."""
    tables: dict[str, Rows] = {
        "CPU_USAGE": [],
        "HOST_MEM_USAGE": [],
        "HOST_DISK_USAGE": [],
        "HOST_NETWORK_USAGE": [],
        "OSRT_API": [],
    }
    if not shape.with_host:
        return tables
    draws = Draws(shape.seed, "host samples")

    def percent() -> float:
        return draws.one(0, 1_000) / 10

    for number, time in enumerate(moments()):
        at: Row = {"timestampNs": time}
        tables["CPU_USAGE"] += [{**at, "cpuId": core, "usage": percent()} for core in range(CORES)]
        tables["HOST_MEM_USAGE"].append({**at, "usage": percent()})
        read, written = draws.one(0, 90) * MEGABYTE, draws.one(0, 90) * MEGABYTE
        tables["HOST_DISK_USAGE"].append(
            {**at, "readRate": read, "writeRate": written, "usage": percent()}
        )
        speed = draws.one(0, 900) * MEGABYTE
        tables["HOST_NETWORK_USAGE"].append({**at, "usage": percent(), "speed": speed})
        tables["OSRT_API"].append(
            {
                "name": SYSTEM_CALLS[number % len(SYSTEM_CALLS)],
                "globalTid": global_tid(RELEASE_THREAD),
                "startNs": time,
                "endNs": time + draws.one(0, 90_000, 10),
            }
        )
    return tables
