"""Files with a row for each record that no database has, or mark, and with what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import integers, where
from ascend_ref.derive.ccu import channel_rates
from ascend_ref.derive.matching import NONE, pairs
from ascend_ref.derive.traffic import cache_rates
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows, every_row
from ascend_spec import catalog

from .columns import Columns, ShownColumns, of_table, shown_table
from .order import ordered
from .setting import Setting

Formula: TypeAlias = Callable[[pa.Table], npt.NDArray[Any]]
"""A column that an entity has, from the columns of its record."""
MEMORY = ("input", "output", "weight", "workspace")
"""What an operator that was made of others holds."""
UNUSED = ("payload_type", "payload_value", "message_type")
"""Columns that are always 0."""


def _of_requests(counted: str) -> Formula:
    return lambda table: cache_rates(integers(table[counted]), integers(table["request"]))


DERIVED: Mapping[str, Mapping[str, Formula]] = {
    "l2_cache": {"hit_rate": _of_requests("hit"), "victim_rate": _of_requests("victim")},
    "soc_pmu": {"tlb_hit_rate": _of_requests("hit"), "tlb_miss_rate": _of_requests("miss")},
    "ccu_channel": {
        # A short delay is a great rate.
        "max_bandwidth": lambda table: channel_rates(integers(table["min_delay"])),
        "min_bandwidth": lambda table: channel_rates(integers(table["max_delay"])),
        "avg_bandwidth": lambda table: channel_rates(integers(table["avg_delay"])),
    },
    "dvpp": {"utilization": lambda table: integers(table["utilization"]) / 1_000},
    "fusion_op": {
        "total": lambda table: np.sum([integers(table[name]) for name in MEMORY], axis=0),
    },
}
"""What files show beyond the record of the same name."""


def one_row_each(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The rows of the record of the same name, as they stand."""
    yield _rows(setting, recorded.extras[setting.file.name])


def aicpu(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Runs of AI CPU kernels that ended in the session."""
    table = recorded.extras["aicpu"]
    ended = integers(table["time"]) + integers(table["task"]) >= recorded.origin.start
    yield _rows(setting, table.filter(pa.array(ended)))


def _rows(setting: Setting, table: pa.Table) -> Columns:
    name = setting.file.name
    columns = {one: table[one] for one in table.column_names}
    for one, values in columns.items():
        if pa.types.is_integer(values.type):
            # Negative numbers stand for no value.
            columns[one] = pc.if_else(pc.less(values, 0), pa.scalar(None, pa.int64()), values)
    columns |= {one: pa.array(formula(table)) for one, formula in DERIVED.get(name, {}).items()}
    if name == "l2_cache" and catalog().products[setting.family].can("stars"):
        # With STARS there is no hit rate (erratum T10).
        columns["hit_rate"] = pa.nulls(len(table))
    return ordered(setting, of_table(name, pa.table(columns)))


def msprof_tx(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """MSTX_EVENTS: a row for each mark on a device that one of the host has, or one without."""
    events = recorded.table("MSTX_EVENTS")
    own = ("connectionId", "deviceId", "startNs", "endNs")
    tasks = shown_table(recorded, setting, "TASK", *own)
    connection = integers(events["connectionId"])
    no_mark = catalog().tables["MSTX_EVENTS"].columns["connectionId"].none
    linked = np.where(np.isin(connection, no_mark), NONE, connection)
    event, task = pairs(linked, integers(tasks["connectionId"]), none=NONE)

    def of_task(name: str) -> pa.Array:
        return where(task != NONE, np.append(integers(tasks[name]), NONE)[task])

    on_device = {
        "device": of_task("deviceId"),
        "device_start": of_task("startNs"),
        "device_end": of_task("endNs"),
    }
    rows = {
        "MSTX_EVENTS": TableRows(events, event),
        "TASK": TableRows(tasks, task),
        "mark": every_row(pa.table(on_device)),
    }
    unused = dict.fromkeys(UNUSED, pa.array(np.zeros(len(event), np.int64)))
    yield ordered(setting, ShownColumns(unused, rows))
