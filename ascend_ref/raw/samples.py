"""The sampled tables that are written as raw files and read from them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Integers, Origin
from ascend_ref.capture.switches import HostSampler
from ascend_spec import raw_catalog

CLOCK = "AICORE_FREQ"

HOST_TABLES: Mapping[HostSampler, str] = {
    "cpu": "CPU_USAGE",
    "mem": "HOST_MEM_USAGE",
    "disk": "HOST_DISK_USAGE",
    "network": "HOST_NETWORK_USAGE",
}
"""Tables of the host, by what --host-sys calls them."""

SOC = "stars_soc_profile"

FILES: Mapping[str, str] = {
    "ACC_PMU": SOC,
    CLOCK: "lpm_freq",
    "DDR": "ddr",
    "HBM": "hbm",
    "HCCS": "hccs",
    "LLC": "llc",
    "NETDEV_STATS": "netdev_stats",
    "NIC": "nic",
    "NPU_MEM": "npu_mem",
    "NPU_MODULE_MEM": "npu_module_mem",
    "PCIE": "pcie",
    "QOS": "qos",
    "ROCE": "roce",
    "SIO": SOC,
    "SOC_BANDWIDTH_LEVEL": SOC,
    HOST_TABLES["cpu"]: "host_cpu",
    HOST_TABLES["mem"]: "host_mem",
    HOST_TABLES["disk"]: "host_disk",
    HOST_TABLES["network"]: "host_network",
}
"""The kinds of files of the tables that are written and read; the others are not."""


DIES, ACCELERATOR, LEVELS, POWER, SERVICE = 25, 26, 28, 29, 24
"""Kinds of records of the SoC (raw-prof 4.9)."""


def file_of(table: str, chip: int) -> str | None:
    """The kind of files that has the samples of a table on a chip; None where none has."""
    for kind in dict.fromkeys((FILES.get(table, SOC), SOC)):
        file = raw_catalog().files[kind]
        fed = any(f"table/{table}" in one.feeds for one in file.members if chip in one.chips)
        # What a file feeds as a whole its members do not repeat.
        if chip in file.chips and (fed or not any(one.feeds for one in file.members)):
            return kind
    return None


def soc_record(kind: int, chip: int | None) -> str | None:
    """The declaration of a kind of records of the SoC on a chip; None where it has none."""
    members = raw_catalog().files[SOC].members
    found = (one.record for one in members if kind in one.values and chip in one.chips)
    return next(found, None)


def has_bounds(chip: int) -> bool:
    """Whether exporters add to the clock of the cores what holds at both ends of the session; of
    clocks that are sampled they show the samples alone.
    """
    return file_of(CLOCK, chip) == FILES[CLOCK]


NETWORK = ("NETDEV_STATS", "NIC", "ROCE")
"""Tables that --sys-io-profiling collects."""
LINKS = ("HCCS", "PCIE", "SIO")
"""Tables that --sys-interconnection-profiling collects; --sys-hardware-mem the others."""

OWNERS = ("app", "device")
"""Whose memory a sample of NPU_MEM is, by number (raw-prof 4.8)."""

APP = 0


def with_bounds(
    time: Integers, clock: Integers, nominal: int, origin: Origin
) -> tuple[Integers, Integers]:
    """The changes of a clock in order, as exporters show them: with what held at the start of the
    session, and once more at its end (raw-prof 6.1).
    """
    every = np.concatenate([[nominal], clock]).astype(np.int64)
    if origin.end is None:
        return np.concatenate([[origin.start], time]).astype(np.int64), every
    times = np.concatenate([[origin.start], time, [origin.end]]).astype(np.int64)
    return times, np.append(every, every[-1])
