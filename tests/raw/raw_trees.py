"""Raw folders made by hand, byte by byte as raw-prof.md describes them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

WALL_US = 1_770_000_000_000_000
"""collectionTimeBegin, of raw-prof.md 6.4."""
M0 = 10**12
HM, HC = M0 + 5_000_000, 7 * 10**9
"""The host's monotonic clock and its counter of 100 MHz at the same moment (raw-prof.md 6.1)."""
HM_DEV, DM, DC = M0 + 6_000_100, M0 + 6_000_000, 3 * 10**9
"""The same for the device, whose counter has 50 MHz; 100 ns off its own clock on purpose."""

CONV = 6251491202591237330
"""Number of Conv2D, a known answer of ge-profiling.md 5.7."""


def host_ticks(us: float) -> int:
    """The host's counter so many microseconds after the start of the capture."""
    return HC + round((us * 1000 - (HM - M0)) / 10)


def device_ticks(us: float) -> int:
    """The device's counter at the same."""
    return DC + round((us * 1000 - (HM_DEV - M0)) / 20)


def stars(kind: int, number: int, stream: int, task: int, ticks: int, sqe: int = 0) -> bytes:
    """A log record of 64 bytes of a stars chip."""
    head = kind | (number % 16) << 6 | sqe << 10
    return struct.pack("<HHHHQ48x", head, 0x6BD3, stream, task, ticks)


def api(level: int, kind: int, thread: int, begin: int, end: int, item: int = 0) -> bytes:
    """A call of 40 bytes."""
    return struct.pack("<HHIIIQQQ", 0x5A5A, level, kind, thread, 0, begin, end, item)


def task_track(thread: int, at: int, stream: int, task: int, kind: int, kernel: int) -> bytes:
    """A task as the host knows it, 64 bytes."""
    head = struct.pack("<HHIIIQ", 0x5A5A, 5000, 802, thread, 40, at)
    return head + struct.pack("<HHHHQQ16x", 0, stream, task, 0, kind, kernel)


def info(devices: str, **more: object) -> dict[str, object]:
    """What info.json must have, as in raw-prof.md 6.1."""
    return {
        "version": "1.0",
        "platform_version": "5",
        "devices": devices,
        "pid": "4242",
        "hostname": "node",
        "memoryTotal": 0,
        "netCard": [],
        "CPU": [{"Frequency": "100.000000"}],
        "DeviceInfo": [],
        **more,
    }


DEVICE = {
    "id": 0,
    "env_type": 3,
    "ctrl_cpu_id": "ARMv8_Cortex_A55",
    "ctrl_cpu_core_num": 1,
    "ctrl_cpu_endian_little": 1,
    "ts_cpu_core_num": 0,
    "ai_cpu_core_num": 6,
    "ai_core_num": 24,
    "ai_cpu_core_id": 2,
    "ai_core_id": 0,
    "aicpu_occupy_bitmap": 252,
    "ctrl_cpu": "0",
    "ai_cpu": "2,3,4,5,6,7",
    "aiv_num": 48,
    "hwts_frequency": "50.000000",
    "aic_frequency": "1800",
    "aiv_frequency": "1800",
}

START = {
    "collectionDateBegin": "2026-02-02 02:40:00.000000",
    "collectionTimeBegin": str(WALL_US),
    "clockMonotonicRaw": str(M0),
}
EVENTS = "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"
SAMPLE = {
    "ai_core_profiling": "on",
    "ai_core_metrics": "PipeUtilization",
    "ai_core_profiling_events": EVENTS,
    "ai_core_profiling_mode": "task-based",
    "aicore_sampling_interval": 10,
    "aiv_profiling": "on",
    "aiv_metrics": "PipeUtilization",
    "aiv_profiling_events": EVENTS,
    "aiv_profiling_mode": "task-based",
    "aiv_sampling_interval": 10,
    "llc_profiling": "read",
}


def write_tree(profile: Path, host: Mapping[str, bytes], device: Mapping[str, bytes]) -> Path:
    """A ``PROF_*`` folder of one device with its side files; the files in ``data`` as given."""
    sides: Mapping[str, Mapping[str, object]] = {
        "host/info.json": info("64"),
        "host/sample.json": {**SAMPLE, "devices": "64"},
        "host/start_info": START,
        "device_0/info.json.0": info("0", DeviceInfo=[DEVICE]),
        "device_0/sample.json": {**SAMPLE, "devices": "0"},
        "device_0/start_info.0": START,
    }
    log = f"clock_monotonic_raw:{{}}\ncntvct:{HC}\ncntvct_diff:0\n"
    texts = {
        "host/host_start.log": "[Host]\n" + log.format(HM),
        "device_0/host_start.log.0": "[Device0]\n" + log.format(HM_DEV),
        "device_0/dev_start.log.0": f"clock_monotonic_raw:{DM}\ncntvct:{DC}\n",
    }
    files = {name: json.dumps(document).encode() for name, document in sides.items()}
    files |= {name: text.encode() for name, text in texts.items()}
    files |= {f"host/data/{name}": content for name, content in host.items()}
    files |= {f"device_0/data/{name}": content for name, content in device.items()}
    for name, content in files.items():
        path = profile / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return profile
