"""Memory and processors of the operating systems (text-outputs.md 3.3, 3.4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.derive.host_usage import (
    SHOWN_STATES,
    STATES,
    cycle_shares,
    process_shares,
    sample_means,
    state_shares,
)
from ascend_ref.derive.matching import ranks
from ascend_ref.derive.transit import groups
from ascend_ref.recorded import Recorded

from .columns import Columns, chosen, device_texts, dictionary, integers, renamed, text_numbers
from .order import ordered
from .setting import Setting

KIBIBYTE = 1024
SYSTEM_MEMORY = {
    "Memory Total(kB)": "total",
    "Memory Free(kB)": "free",
    "Buffers(kB)": "buffers",
    "Cached(kB)": "cached",
    "Share Memory(kB)": "shared",
    "Commit Limit(kB)": "commit_limit",
    "Committed AS(kB)": "committed",
}
SYSTEM_PAGES = {"Huge Pages Total(pages)": "huge_total", "Huge Pages Free(pages)": "huge_free"}
PROCESS_PAGES = {
    "Size(pages)": "size",
    "Resident(pages)": "resident",
    "Shared(pages)": "shared",
}
"""Columns, and where the records have them."""
PROCESS_TIMES = ("user", "sys", "children_user", "children_sys")
SHARES = {
    "User(%)": "user",
    "Sys(%)": "sys",
    "IoWait(%)": "iowait",
    "Irq(%)": "irq",
    "Soft(%)": "soft",
    "Idle(%)": "idle",
}
PROCESSORS = {"aicpu": "AI CPU", "ctrlcpu": "Ctrl CPU"}
"""Cpu Type by the type of the record."""
TOP_FUNCTIONS_OF_TS = 5
LAST = 1 << 40
"""Place of the host, behind all devices."""


def sys_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each system: means over the samples."""
    table = recorded.extras["sys_mem"]
    device = integers(table["device"])
    first, owner = groups(device)
    columns = {"Device_id": device_texts(device[first])}
    for name, column in SYSTEM_MEMORY.items():
        columns[name] = pa.array(sample_means(integers(table[column]) // KIBIBYTE, owner))
    for name, column in SYSTEM_PAGES.items():
        columns[name] = pa.array(sample_means(integers(table[column]), owner))
    yield ordered(setting, columns)


def process_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each process: means over the samples, those with most memory first."""
    table = recorded.extras["process_mem"]
    device, process = integers(table["device"]), integers(table["pid"])
    first, owner = groups(device, process)
    amounts = {
        name: sample_means(integers(table[column]), owner) for name, column in PROCESS_PAGES.items()
    }
    place = np.where(device < 0, LAST, device)[first]
    order = np.lexsort((-np.sum(list(amounts.values()), axis=0), place))
    row = pa.array(first[order])
    yield {
        "Device_id": device_texts(device[first][order]),
        "PID": pa.array(process[first][order]),
        "Name": dictionary(table["name"]).take(row),
        **{name: pa.array(values[order]) for name, values in amounts.items()},
    }


def cpu_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each kind of processor of a device, and of the host."""
    table = recorded.extras["cpu_usage"]
    device, kind = integers(table["device"]), dictionary(table["type"])
    first, owner = groups(device, text_numbers(kind))
    spent = np.stack([integers(table[state]) for state in STATES], axis=1)
    shares = dict(zip(SHOWN_STATES, state_shares(spent, owner).T, strict=True))
    yield ordered(
        setting,
        {
            "Device_id": device_texts(device[first]),
            "Cpu Type": renamed(kind, PROCESSORS).take(pa.array(first)),
            **{name: pa.array(shares[state].copy()) for name, state in SHARES.items()},
        },
    )


def process_cpu_usage(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """A row for each process: the mean of its shares of the processors."""
    table = recorded.extras["process_cpu_usage"]
    device, process = integers(table["device"]), integers(table["pid"])
    first, owner = groups(device, process)
    ran = np.sum([integers(table[name]) for name in PROCESS_TIMES], axis=0)
    yield ordered(
        setting,
        {
            "Device_id": device_texts(device[first]),
            "PID": pa.array(process[first]),
            "Name": dictionary(table["name"]).take(pa.array(first)),
            "CPU(%)": pa.array(process_shares(ran, integers(table["system"]), owner)),
        },
    )


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
