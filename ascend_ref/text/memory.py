"""Memory files of msprof (text-outputs.md 3.3): what the program, components and operators took."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Reals
from ascend_ref.derive.decimals import Engine, python_round
from ascend_ref.derive.memory_blocks import memory_blocks
from ascend_ref.recorded import Recorded

from .columns import (
    Column,
    Columns,
    cards,
    devices,
    integers,
    is_one_of,
    of_table,
    plain,
    reals,
    renamed,
    where,
)
from .order import ordered
from .setting import Setting

KIBIBYTE = 1024.0
EVENTS = {"app": "APP", "device": "Device"}
"""Event of npu_mem by type of NPU_MEM."""
ALLOCATES = "allocate"
"""Type of the rows of NPU_OP_MEM that take memory."""


def npu_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_MEM; memory is DDR and HBM together."""
    table = recorded.table("NPU_MEM")
    columns = {
        "Device_id": devices(table["deviceId"]),
        "event": renamed(table["type"], EVENTS),
        "ddr(KB)": kibibytes(table["ddr"]),
        "hbm(KB)": kibibytes(table["hbm"]),
        "memory(KB)": pa.array((reals(table["ddr"]) + reals(table["hbm"])) / KIBIBYTE),
        "timestamp(us)": plain(table["timestampNs"]),
    }
    yield ordered(setting, of_table("NPU_MEM", table, columns))


def npu_module_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_MODULE_MEM. The adapter divides what msprof's file says."""
    table = recorded.table("NPU_MODULE_MEM")
    exact = reals(table["totalReserved"]) / KIBIBYTE
    printed = printed_kibibytes(exact, setting.engine)
    columns = {
        "Device_id": devices(table["deviceId"]),
        "Component": plain(table["moduleId"]),
        "Timestamp(us)": plain(table["timestampNs"]),
        "Total Reserved(KB)": pa.array(exact),
        "Total Reserved(MB)": pa.array(printed / KIBIBYTE),
        "Device": cards(table["deviceId"]),
    }
    yield ordered(setting, of_table("NPU_MODULE_MEM", table, columns))


def engine_record(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_OP_MEM as memory_record of msprof: what the graph engine held after each event."""
    table = recorded.table("NPU_OP_MEM")
    columns = {
        "Device_id": devices(table["deviceId"]),
        "Component": plain(table["component"]),
        "Timestamp(us)": plain(table["timestampNs"]),
        "Total Allocated(KB)": kibibytes(table["totalAllocate"]),
        "Total Reserved(KB)": kibibytes(table["totalReserve"]),
        "Device": cards(table["deviceId"]),
    }
    yield ordered(setting, of_table("NPU_OP_MEM", table, columns))


def engine_blocks(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_OP_MEM as operator_memory of msprof: each allocation with the release of its block."""
    table = recorded.table("NPU_OP_MEM")
    if not len(table):
        return
    time = integers(table["timestampNs"])
    found = memory_blocks(
        integers(table["deviceId"]),
        integers(table["addr"]),
        time,
        is_one_of(table["type"], [ALLOCATES]),
    )
    taken, given = found.taken >= 0, found.given >= 0
    both = taken & given
    row = np.where(taken, found.taken, found.given)
    sizes = reals(table["size"])[row] / KIBIBYTE
    device = plain(table["deviceId"]).take(pa.array(row))
    allocated, reserved = (reals(table[name]) for name in ("totalAllocate", "totalReserve"))
    yield ordered(
        setting,
        {
            "Device_id": devices(device),
            "Name": plain(table["operatorName"]).take(where(taken, row)),
            "Size(KB)": pa.array(np.where(taken, sizes, -sizes)),
            "Allocation Time(us)": where(taken, time[found.taken]),
            "Duration(us)": where(both, time[found.given] - time[found.taken]),
            "Allocation Total Allocated(KB)": where(taken, allocated[found.taken] / KIBIBYTE),
            "Allocation Total Reserved(KB)": where(taken, reserved[found.taken] / KIBIBYTE),
            "Release Total Allocated(KB)": where(given, allocated[found.given] / KIBIBYTE),
            "Release Total Reserved(KB)": where(given, reserved[found.given] / KIBIBYTE),
            "Device": cards(device),
        },
    )


def kibibytes(sizes: Column) -> pa.Array:
    """Byte as KB."""
    return pa.array(reals(sizes) / KIBIBYTE)


def printed_kibibytes(sizes: Reals, engine: Engine) -> Reals:
    """KB as the file of an engine shows them: whole, or with three decimals."""
    return np.trunc(sizes) if engine == "cpp" else python_round(sizes)
