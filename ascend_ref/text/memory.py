"""What the program, components and operators took of the memory, in files of msprof and adapter."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import (
    dictionary,
    integers,
    is_one_of,
    one_piece,
    present,
    reals,
    renamed,
    same,
    where,
)
from ascend_ref.capture.batch import Reals
from ascend_ref.derive.decimals import Engine, Form, decimal_texts, python_round
from ascend_ref.derive.memory_blocks import memory_blocks
from ascend_ref.recorded import Recorded

from .cells import cells_of
from .columns import Columns, of_table
from .order import ordered
from .setting import Setting

KIBIBYTE = 1024.0
ALLOCATES = "allocate"
"""Type of the rows of NPU_OP_MEM that take memory."""
PROCESS_TYPE, PROCESS, ENGINE = "app", "APP", "GE"
"""Type of NPU_MEM and component of memory_record of the process as msprof sees it; the component
of the graph engine."""
ENGINE_PREFIX = "cann::"
"""So the names of the graph engine's operators begin in operator_memory."""


def npu_module_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_MODULE_MEM. The adapter divides what msprof's file says."""
    table = recorded.table("NPU_MODULE_MEM")
    printed = printed_kibibytes(reals(table["totalReserved"]) / KIBIBYTE, setting.engine)
    columns = {"Total Reserved(MB)": pa.array(printed / KIBIBYTE)}
    yield ordered(setting, of_table("NPU_MODULE_MEM", table, columns))


def engine_record(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_OP_MEM as memory_record of msprof: what the graph engine held after each event."""
    table = recorded.table("NPU_OP_MEM")
    levels = {
        "device": table["deviceId"],
        "component": table["component"],
        "time": table["timestampNs"],
        "allocated": table["totalAllocate"],
        "reserved": table["totalReserve"],
    }
    yield ordered(setting, of_table("memory_level", pa.table(levels)))


def engine_blocks(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """NPU_OP_MEM as operator_memory of msprof: each allocation with the release of its block."""
    table = recorded.table("NPU_OP_MEM")
    if not len(table):
        return
    time, device = integers(table["timestampNs"]), integers(table["deviceId"])
    allocates = is_one_of(table["type"], [ALLOCATES])
    found = memory_blocks(device, integers(table["addr"]), time, allocates)
    taken, given = found.taken >= 0, found.given >= 0
    row = np.where(taken, found.taken, found.given)
    sizes = integers(table["size"])[row]
    allocated, reserved = (integers(table[name]) for name in ("totalAllocate", "totalReserve"))
    blocks = {
        "device": device[row],
        "name": one_piece(table["operatorName"]).take(where(taken, row)),
        "size": np.where(taken, sizes, -sizes),
        "allocated": where(taken, time[found.taken]),
        "held": where(taken & given, time[found.given] - time[found.taken]),
        "total_allocated": where(taken, allocated[found.taken]),
        "total_reserved": where(taken, reserved[found.taken]),
        "release_total_allocated": where(given, allocated[found.given]),
        "release_total_reserved": where(given, reserved[found.given]),
    }
    yield ordered(setting, of_table("allocation", pa.table(blocks)))


def printed_kibibytes(sizes: Reals, engine: Engine) -> Reals:
    """KB as the file of an engine shows them: whole, or with three decimals."""
    return np.trunc(sizes) if engine == "cpp" else python_round(sizes)


def operator_memory(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """OP_MEMORY, blocks of the framework and of the graph engine, which knows no streams.

    Durations of the engine's blocks keep the form of msprof's file (erratum T49).
    """
    table = recorded.table("OP_MEMORY")
    if not len(table):
        return
    of_engine = pa.array(~present(table["allocationTotalActive"]))
    name = dictionary(table["name"])
    texts: list[str] = name.dictionary.to_pylist()
    prefixed = {text: ENGINE_PREFIX + text.removeprefix(ENGINE_PREFIX) for text in texts}
    engine_name = renamed(name, prefixed).dictionary_decode()
    duration = one_piece(table["duration"])
    columns = {
        "Name": pc.if_else(of_engine, engine_name, name.dictionary_decode()),
        "Duration(us)": pc.if_else(
            of_engine,
            decimal_texts(duration, Form.REPR),
            cells_of(setting, "Duration(us)", duration),
        ),
    }
    yield of_table("OP_MEMORY", table, columns)


def memory_record(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The process in NPU_MEM first, then MEMORY_RECORD."""
    table = recorded.table("NPU_MEM")
    table = table.filter(pa.array(is_one_of(table["type"], [PROCESS_TYPE])))
    held = (reals(table["ddr"]) + reals(table["hbm"])) / KIBIBYTE
    held = printed_kibibytes(held, setting.engine_of("npu_mem")) * KIBIBYTE
    levels = {
        "component": same(PROCESS, len(table)),
        "time": table["timestampNs"],
        "reserved": held,
        "device": table["deviceId"],
    }
    yield of_table("memory_level", pa.table(levels))
    table = recorded.table("MEMORY_RECORD")
    active = table.column_names.index("totalActive")
    known = pa.array(~is_one_of(table["component"], [ENGINE]))
    shown = pc.if_else(known, table["totalActive"], pa.scalar(None, pa.int64()))
    yield of_table("MEMORY_RECORD", table.set_column(active, "totalActive", shown))
