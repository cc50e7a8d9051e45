"""The sampled tables that are written as raw files and read from them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Integers, Origin
from ascend_ref.capture.switches import HostSampler
from ascend_spec import raw_catalog
from ascend_spec.core.packed import ClockName

from .fields import time_field
from .vocabulary import names_of

CLOCK = "AICORE_FREQ"

HOST_TABLES: Mapping[HostSampler, str] = {
    "cpu": "CPU_USAGE",
    "mem": "HOST_MEM_USAGE",
    "disk": "HOST_DISK_USAGE",
    "network": "HOST_NETWORK_USAGE",
}
"""Tables of the host, by what --host-sys calls them."""

SOC = "stars_soc_profile"

MEMORY_FILES = ("npu_mem_app", "npu_mem")
"""The kinds of files of NPU_MEM, by whose memory they sample: a collector has a channel for each
(upstream-runtime ProfAppMemJob).
"""

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
    "UB": "ub",
    HOST_TABLES["cpu"]: "host_cpu",
    HOST_TABLES["mem"]: "host_mem",
    HOST_TABLES["disk"]: "host_disk",
    HOST_TABLES["network"]: "host_network",
}
"""The kinds of files of the tables that are written and read; the others are not."""


def file_of(table: str, chip: int) -> str | None:
    """The kind of files that has the samples of a table on a chip; None where none has."""
    for kind in dict.fromkeys((FILES.get(table, SOC), SOC)):
        file = raw_catalog().files[kind]
        fed = any(f"table/{table}" in one.feeds for one in file.members if chip in one.chips)
        # What a file feeds as a whole its members do not repeat.
        if chip in file.chips and (fed or not any(one.feeds for one in file.members)):
            return kind
    return None


def soc_record(table: str, chip: int | None) -> str | None:
    """The declaration of the records of the SoC that a table is made of; None where none is."""
    members = raw_catalog().files[SOC].members
    found = (one.record for one in members if f"table/{table}" in one.feeds and chip in one.chips)
    return next(found, None)


def has_bounds(chip: int) -> bool:
    """Whether exporters add to the clock of the cores what holds at both ends of the session; of
    clocks that are sampled they show the samples alone.
    """
    return file_of(CLOCK, chip) == FILES[CLOCK]


def owners() -> tuple[str, ...]:
    """Whose memory a sample of NPU_MEM is, by number."""
    return names_of("memory_owners")


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
