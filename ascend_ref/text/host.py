"""What the host used, and what it should have (text-outputs.md 3.7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import dictionary, integers, known_reals, reals, text_numbers
from ascend_ref.derive.host_usage import Demand, demand, memory_demand, processors, system_calls
from ascend_ref.derive.transit import groups
from ascend_ref.recorded import Recorded

from .columns import Columns
from .order import ordered
from .setting import Setting

KIBIBYTE = 1024.0
MICROSECOND = 1e3


def host_cpu_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """CPU_USAGE; only a record states how many processors there are."""
    total = _fact(recorded, "host_cpu_usage", "processors")
    table = recorded.table("CPU_USAGE")
    if total is None or not len(table):
        return
    found = processors(integers(table["cpuId"]), reals(table["usage"]))
    yield {
        "Total Cpu Numbers": pa.array([total]),
        "Occupied Cpu Numbers": pa.array([found.occupied]),
        "Recommend Cpu Numbers": pa.array([found.recommended]),
    }


def host_mem_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HOST_MEM_USAGE; only a record states how much memory there is."""
    total = _fact(recorded, "host_mem_usage", "total")
    if total is None:
        return
    amount = total / KIBIBYTE
    found = memory_demand(reals(recorded.table("HOST_MEM_USAGE")["usage"]), amount)
    yield {
        "Total Memory(KB)": pa.array([amount]),
        **_demanded("Peak Used Memory(KB)", "Recommend Memory(KB)", found),
    }


def host_disk_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HOST_DISK_USAGE."""
    table = recorded.table("HOST_DISK_USAGE")
    if not len(table):
        return
    read, write = (demand(reals(table[name]) / KIBIBYTE) for name in ("readRate", "writeRate"))
    yield {
        **_demanded("Peak Disk Read(KB/s)", "Recommend Disk Read(KB/s)", read),
        **_demanded("Peak Disk Write(KB/s)", "Recommend Disk Write(KB/s)", write),
    }


def host_network_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HOST_NETWORK_USAGE; only a record states how fast the network card is."""
    speed = _fact(recorded, "host_network_usage", "speed")
    if speed is None:
        return
    found = demand(reals(recorded.table("HOST_NETWORK_USAGE")["speed"]) / KIBIBYTE)
    yield {
        "Netcard Speed(KB/s)": pa.array([speed / KIBIBYTE]),
        **_demanded("Peak Used Speed(KB/s)", "Recommend Speed(KB/s)", found),
    }


def os_runtime_statistic(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """OSRT_API by function and thread."""
    table = recorded.table("OSRT_API")
    if not len(table):
        return
    thread, name = integers(table["globalTid"]), dictionary(table["name"])
    first, owner = groups(text_numbers(name), thread)
    found = system_calls(owner, integers(table["endNs"]) - integers(table["startNs"]))
    yield ordered(
        setting,
        {
            "Process ID": pa.array(thread[first] >> 32),
            "Thread ID": pa.array(thread[first] & 0xFFFF_FFFF),
            "Name": name.take(pa.array(first)),
            "Time(%)": pa.array(found.fraction),
            "Time(us)": pa.array(found.total),
            "Count": pa.array(found.calls),
            "Avg(us)": pa.array(found.average / MICROSECOND),
            "Max(us)": pa.array(found.longest),
            "Min(us)": pa.array(found.shortest),
        },
    )


def _fact(recorded: Recorded, record: str, column: str) -> int | None:
    """The value in a column of a record that has one row."""
    table = recorded.extras.get(record)
    return None if table is None or not len(table) else int(integers(table[column])[0])


def _demanded(peak: str, recommended: str, found: Demand | None) -> dict[str, pa.Array]:
    values = (np.nan, np.nan) if found is None else found
    return {
        name: known_reals(np.array([value]))
        for name, value in zip((peak, recommended), values, strict=True)
    }
