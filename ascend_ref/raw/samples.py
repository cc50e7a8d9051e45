"""The sampled tables that are written as raw files and read from them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Integers, Origin
from ascend_ref.capture.switches import HostSampler
from ascend_spec import raw_catalog
from ascend_spec.core.packed import ClockName

from .fields import time_field

CLOCK = "AICORE_FREQ"

HOST_TABLES: Mapping[HostSampler, str] = {
    "cpu": "CPU_USAGE",
    "mem": "HOST_MEM_USAGE",
    "disk": "HOST_DISK_USAGE",
    "network": "HOST_NETWORK_USAGE",
}
"""Tables of the host, by what --host-sys calls them."""

FILES: Mapping[str, str] = {
    "ACC_PMU": "stars_soc_profile",
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
    "SIO": "stars_soc_profile",
    "SOC_BANDWIDTH_LEVEL": "stars_soc_profile",
    HOST_TABLES["cpu"]: "host_cpu",
    HOST_TABLES["mem"]: "host_mem",
    HOST_TABLES["disk"]: "host_disk",
    HOST_TABLES["network"]: "host_network",
}
"""The kinds of files of the tables that are written and read; the others are not."""

NETWORK = ("NETDEV_STATS", "NIC", "ROCE")
"""Tables that --sys-io-profiling collects."""
LINKS = ("HCCS", "PCIE", "SIO")
"""Tables that --sys-interconnection-profiling collects; --sys-hardware-mem the others."""

OWNERS = ("app", "device")
"""Whose memory a sample of NPU_MEM is, by number (raw-prof 4.8)."""

APP = 0


def clock_name(kind: str) -> ClockName:
    """The clock of the samples of a kind of files; ``KeyError`` where none is named."""
    file = raw_catalog().files[kind]
    if file.grammar is None:
        return time_field(raw_catalog().record(file.members[0].record))[1]
    clock = raw_catalog().grammar_of(kind).parts["time"].clock
    if clock is None:
        raise KeyError(f"no clock of {kind}")
    return clock


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
