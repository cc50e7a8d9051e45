"""Memory and processors of the systems of devices and of the host, and of their processes.

Files hold what the kernel prints of them; what is quantised there is quantised here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import RECORDS, Capture, Integers, Records
from ascend_ref.capture.model import NONE
from ascend_spec import raw_catalog
from ascend_spec.core.packed import ClockName

from .machine import chip_of
from .moments import Clocks

KIBIBYTE = 1 << 10


class Kinds(NamedTuple):
    """The kinds of files that hold a record of devices, and of the host."""

    device: str
    host: str

    def of(self, device: int) -> str:
        """That of a device, or of the host."""
        return self.host if device == NONE else self.device


FILES: Mapping[str, Kinds] = {
    "sys_mem": Kinds("memory", "host_sys_mem"),
    "process_mem": Kinds("process_memory", "host_process_memory"),
    "cpu_usage": Kinds("system_cpu", "host_sys_cpu"),
    "process_cpu_usage": Kinds("process_cpu", "host_process_cpu"),
}
FIGURES: Mapping[str, str] = {
    "MemTotal": "total",
    "MemFree": "free",
    "Buffers": "buffers",
    "Cached": "cached",
    "Shmem": "shared",
    "CommitLimit": "commit_limit",
    "Committed_AS": "committed",
    "HugePages_Total": "huge_total",
    "HugePages_Free": "huge_free",
}
"""Columns of sys_mem by what /proc/meminfo calls them."""
PAGES = ("size", "resident", "shared")
"""Columns of process_mem that /proc/pid/statm begins with."""
TIMES = ("user", "sys", "children_user", "children_sys")
"""Columns of process_cpu_usage that are the 14th to the 17th value of /proc/pid/stat."""
PROCESSORS = {"ctrlcpu": "ctrl_cpu", "aicpu": "ai_cpu"}
"""What info.json calls the processors of a device of each type; readers show no others."""
OF_HOST = "host"
"""The type of the processors of the host."""


def clock_of(device: int) -> ClockName:
    """The clock of samples of a device, or of the host."""
    return "host-monotonic" if device == NONE else "device-monotonic"


def of_sizes(record: str) -> list[str]:
    """The columns of a record that hold sizes."""
    return [name for name, kind in RECORDS[record].columns.items() if kind == "size"]


def in_order(record: str, columns: Mapping[str, Integers]) -> dict[str, Integers]:
    """The rows of devices and then of the host, by time and then by what was sampled."""
    device = columns["device"]
    keys = [np.where(device == NONE, np.iinfo(np.int64).max, device), columns["time"]]
    keys += [columns[name] for name in ("pid", "cpu") if name in columns]
    order = np.lexsort(keys[::-1])
    return {name: columns[name][order] for name in RECORDS[record].columns}


def held_of_system_load(capture: Capture, clocks: Clocks) -> Records:
    """The records that raw files hold, at the times that their clocks show."""
    chip, files = chip_of(capture.origin), raw_catalog().files
    found = {}
    for record, kinds in FILES.items():
        table = capture.records.get(record)
        if table is None:
            continue
        owners = [
            one for one in (NONE, *capture.origin.devices) if chip in files[kinds.of(one)].chips
        ]
        kept = np.isin(table["device"], owners)
        held = {name: column[kept] for name, column in table.items()}
        for name in of_sizes(record):
            held[name] = held[name] // KIBIBYTE * KIBIBYTE
        for device in owners:
            own, clock = held["device"] == device, clocks.by_name(clock_of(device))
            time = held["time"]
            held["time"] = np.where(own, clock.times(clock.ticks(time)), time)
        if "type" in held:
            texts = capture.texts.all
            types = np.array([texts[number] for number in held["type"].tolist()], object)
            shown = np.where(
                held["device"] == NONE, types == OF_HOST, np.isin(types, [*PROCESSORS])
            )
            held = {name: column[shown] for name, column in held.items()}
            kept = shown
        if kept.any():
            found[record] = in_order(record, held)
    return found
