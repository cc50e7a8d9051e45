"""operator_memory and memory_record of the PyTorch adapter."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import dictionary, is_one_of, one_piece, present, reals, renamed, same
from ascend_ref.derive.decimals import Form, decimal_texts
from ascend_ref.recorded import Recorded

from .cells import cells_of
from .columns import Columns, of_table
from .memory import KIBIBYTE, printed_kibibytes
from .setting import Setting

PROCESS_TYPE, PROCESS, ENGINE = "app", "APP", "GE"
"""Type of NPU_MEM and component of memory_record of the process as msprof sees it; the component
of the graph engine."""
ENGINE_PREFIX = "cann::"
"""So the names of the graph engine's operators begin in operator_memory."""


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
