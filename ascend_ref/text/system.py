"""Memory, processors, disks and networks of the systems (text-outputs.md 3.3, 3.4, 3.7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import (
    chosen,
    dictionary,
    integers,
    known_reals,
    reals,
    renamed,
    text_numbers,
)
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.host_usage import (
    STATES,
    Demand,
    cycle_shares,
    demand,
    memory_demand,
    process_shares,
    processors,
    sample_means,
    state_shares,
    system_calls,
)
from ascend_ref.derive.matching import groups, ranks
from ascend_ref.recorded import Recorded

from .columns import Columns, device_texts, of_formula, of_table
from .order import ordered
from .setting import Setting

SIZES = {"KiB": 1 << 10, "page": 1}
"""Units of the files in those of the records."""
PROCESS_TIMES = ("user", "sys", "children_user", "children_sys")
SHARES = ("user", "sys", "io_wait", "irq", "soft", "idle")
"""Columns of cpu_usage for SHOWN_STATES."""
PROCESSORS = {"aicpu": "AI CPU", "ctrlcpu": "Ctrl CPU"}
"""Cpu Type by the type of the record."""
TOP_FUNCTIONS_OF_TS = 5
KIBIBYTE = 1024.0
MICROSECOND = 1e3
LAST = 1 << 40
"""Place of the host, behind all devices."""


def sys_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each system: means over the samples."""
    table = recorded.extras["sys_mem"]
    device = integers(table["device"])
    first, owner = groups(device)
    yield ordered(
        setting,
        {
            "Device_id": device_texts(device[first]),
            **{name: pa.array(one) for name, one in _means(setting, table, owner).items()},
        },
    )


def process_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each process: means over the samples, those with most memory first.

    Of equal ones SQLite gives the greatest number first, as it groups in the order of the sums.
    """
    table = recorded.extras["process_mem"]
    device, process = integers(table["device"]), integers(table["pid"])
    first, owner = groups(device, process)
    amounts = _means(setting, table, owner)
    place = np.where(device < 0, LAST, device)[first]
    most = -np.sum(list(amounts.values()), axis=0)
    order = np.lexsort((-process[first], most, place))
    row = pa.array(first[order])
    yield {
        "Device_id": device_texts(device[first][order]),
        "PID": pa.array(process[first][order]),
        "Name": dictionary(table["name"]).take(row),
        **{name: pa.array(values[order]) for name, values in amounts.items()},
    }


def _means(setting: Setting, table: pa.Table, owner: Integers) -> dict[str, Integers]:
    """The columns that show amounts, as their mean in the unit of the file; by owner."""
    found = {}
    for column in setting.columns():
        if column.unit in SIZES:
            _, _, sampled = column.shows.of[0].partition(".")
            values = integers(table[sampled]) // SIZES[column.unit]
            found[column.name] = sample_means(values, owner)
    return found


def cpu_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each kind of processor of a device, and of the host."""
    table = recorded.extras["cpu_usage"]
    device, kind = integers(table["device"]), dictionary(table["type"])
    first, owner = groups(device, text_numbers(kind))
    spent = np.stack([integers(table[state]) for state in STATES], axis=1)
    usage = {
        "device": device[first],
        "cpu_type": renamed(kind, PROCESSORS).take(pa.array(first)),
        **dict(zip(SHARES, state_shares(spent, owner).T.copy(), strict=True)),
    }
    yield ordered(setting, of_table("cpu_usage", pa.table(usage)))


def process_cpu_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each process: the mean of its shares of the processors."""
    table = recorded.extras["process_cpu_usage"]
    device, process = integers(table["device"]), integers(table["pid"])
    first, owner = groups(device, process)
    ran = np.sum([integers(table[name]) for name in PROCESS_TIMES], axis=0)
    usage = {
        "device": device[first],
        "pid": process[first],
        "name": dictionary(table["name"]).take(pa.array(first)),
        "cpu": process_shares(ran, integers(table["system"]), owner),
    }
    yield ordered(setting, of_table("process_cpu_usage", pa.table(usage)))


def top_function(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Functions of one kind of processor by cycles; of TS CPU the first five."""
    table = recorded.extras[setting.file.name]
    device, cycles = integers(table["device"]), integers(table["cycles"])
    share = np.zeros(len(table))
    for one in np.unique(device).tolist():
        own = device == one
        share[own] = cycle_shares(cycles[own])
    columns = {
        "Device_id": device_texts(device),
        "Function": dictionary(table["function"]),
        "Module": dictionary(table["module"]),
        "Cycles": pa.array(cycles),
        "Cycles(%)": pa.array(share),
    }
    if setting.file.name == "ts_cpu_top_function":
        most = np.lexsort((-cycles, device))
        kept = np.sort(most[ranks(device[most]) < TOP_FUNCTIONS_OF_TS])
        columns = {name: column.take(pa.array(kept)) for name, column in columns.items()}
    yield ordered(setting, columns)


def pmu_events(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Events of one kind of processor."""
    table = recorded.extras[setting.file.name]
    found, place = np.unique(integers(table["event"]), return_inverse=True)
    names = dictionary(table["name"])
    capital = {text: text.capitalize() for text in names.dictionary.to_pylist()}
    yield ordered(
        setting,
        {
            "Device_id": device_texts(integers(table["device"])),
            "Event": chosen([hex(one) for one in found.tolist()], place),
            "Name": renamed(names, capital),
            "Count": pa.array(integers(table["count"])),
        },
    )


def host_cpu_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """CPU_USAGE; only a record states how many processors there are."""
    total = _fact(recorded, "host_cpu_usage", "processors")
    table = recorded.table("CPU_USAGE")
    if total is None or not len(table):
        return
    found = processors(integers(table["cpuId"]), reals(table["usage"]))
    yield {
        "Total Cpu Numbers": pa.array([total]),
        **of_formula(setting, "processors", ([one] for one in found)),
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
        **of_formula(setting, "memory_demand", _known(found)),
    }


def host_disk_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HOST_DISK_USAGE."""
    table = recorded.table("HOST_DISK_USAGE")
    if not len(table):
        return
    read, write = (demand(reals(table[name]) / KIBIBYTE) for name in ("readRate", "writeRate"))
    yield of_formula(setting, "demand", [*_known(read), *_known(write)])


def host_network_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """HOST_NETWORK_USAGE; only a record states how fast the network card is."""
    speed = _fact(recorded, "host_network_usage", "speed")
    if speed is None:
        return
    found = demand(reals(recorded.table("HOST_NETWORK_USAGE")["speed"]) / KIBIBYTE)
    yield {
        "Netcard Speed(KB/s)": pa.array([speed / KIBIBYTE]),
        **of_formula(setting, "demand", _known(found)),
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
            **of_formula(
                setting, "system_calls", found._replace(average=found.average / MICROSECOND)
            ),
        },
    )


def _fact(recorded: Recorded, record: str, column: str) -> int | None:
    """The value in a column of a record that has one row."""
    table = recorded.extras.get(record)
    return None if table is None or not len(table) else int(integers(table[column])[0])


def _known(found: Demand | None) -> Iterator[pa.Array]:
    """Peak and recommendation, NULL without samples."""
    return (known_reals(np.array([one])) for one in found or (np.nan, np.nan))
