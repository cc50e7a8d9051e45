"""operator_memory and memory_record of the PyTorch adapter (text-outputs.md 8)."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.derive.decimals import Form, decimal_texts
from ascend_ref.recorded import Recorded

from .cells import cells_of
from .columns import (
    Column,
    Columns,
    cards,
    dictionary,
    is_one_of,
    of_table,
    plain,
    present,
    reals,
    renamed,
    same,
    where,
)
from .memory import KIBIBYTE, kibibytes, printed_kibibytes
from .setting import Setting

MEBIBYTE = float(1 << 20)
PROCESS_TYPE, PROCESS, ENGINE = "app", "APP", "GE"
"""Type of NPU_MEM and component of memory_record of the process as msprof sees it; the component
of the graph engine."""
ENGINE_PREFIX = "cann::"
"""So the names of the graph engine's operators begin in operator_memory."""
AMOUNTS = {
    "Allocation Total Allocated(MB)": "allocationTotalAllocated",
    "Allocation Total Reserved(MB)": "allocationTotalReserved",
    "Allocation Total Active(MB)": "allocationTotalActive",
    "Release Total Allocated(MB)": "releaseTotalAllocated",
    "Release Total Reserved(MB)": "releaseTotalReserved",
    "Release Total Active(MB)": "releaseTotalActive",
}
"""Columns of operator_memory, and where OP_MEMORY has them."""


def operator_memory(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """OP_MEMORY, blocks of the framework and of the graph engine, which knows no streams.

    Durations of the engine's blocks keep the form of msprof's file (erratum T49).
    """
    table = recorded.table("OP_MEMORY")
    if not len(table):
        return
    of_engine = pa.array(~present(table["allocationTotalActive"]))
    name = dictionary(table["name"])
    engine_name = renamed(
        name,
        {text: ENGINE_PREFIX + text.removeprefix(ENGINE_PREFIX) for text in _texts(name)},
    )
    duration = plain(table["duration"])
    columns = {
        "Name": _choice(of_engine, engine_name, name),
        "Size(KB)": kibibytes(table["size"]),
        "Duration(us)": pc.if_else(
            of_engine,
            decimal_texts(duration, Form.REPR),
            cells_of(setting, "Duration(us)", duration),
        ),
        **{column: mebibytes(table[source]) for column, source in AMOUNTS.items()},
        "Device Type": cards(table["deviceId"]),
    }
    yield of_table("OP_MEMORY", table, columns)


def memory_record(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The process in NPU_MEM first, then MEMORY_RECORD."""
    table = recorded.table("NPU_MEM")
    table = table.filter(pa.array(is_one_of(table["type"], [PROCESS_TYPE])))
    rows = len(table)
    held = (reals(table["ddr"]) + reals(table["hbm"])) / KIBIBYTE
    held = printed_kibibytes(held, setting.engine_of("npu_mem")) / KIBIBYTE
    nothing = pa.nulls(rows)
    columns = {
        "Component": same(PROCESS, rows),
        "Timestamp(us)": plain(table["timestampNs"]),
        "Total Allocated(MB)": nothing,
        "Total Reserved(MB)": pa.array(held),
        "Total Active(MB)": nothing,
        "Stream Ptr": nothing,
        "Device Type": cards(table["deviceId"]),
    }
    yield of_table("NPU_MEM", table, columns)
    table = recorded.table("MEMORY_RECORD")
    of_engine = is_one_of(table["component"], [ENGINE])
    active = reals(table["totalActive"]) / MEBIBYTE
    columns = {
        "Total Allocated(MB)": mebibytes(table["totalAllocated"]),
        "Total Reserved(MB)": mebibytes(table["totalReserved"]),
        "Total Active(MB)": where(~of_engine & present(table["totalActive"]), active),
        "Device Type": cards(table["deviceId"]),
    }
    yield of_table("MEMORY_RECORD", table, columns)


def mebibytes(sizes: Column) -> pa.Array:
    """Byte as MB; NULL stays NULL."""
    return where(present(sizes), reals(sizes) / MEBIBYTE)


def _texts(column: pa.DictionaryArray) -> list[str]:
    texts: list[str] = column.dictionary.to_pylist()
    return texts


def _choice(
    condition: pa.BooleanArray, one: pa.DictionaryArray, other: pa.DictionaryArray
) -> pa.StringArray:
    return pc.if_else(condition, one.dictionary_decode(), other.dictionary_decode())
