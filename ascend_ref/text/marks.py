"""msprof_tx: what the program marked, on the host and on devices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers, where
from ascend_ref.derive.matching import NONE, pairs
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows, every_row
from ascend_spec import catalog

from .columns import Columns, ShownColumns
from .order import ordered
from .setting import Setting

UNUSED = ("payload_type", "payload_value", "message_type")
"""Columns that are always 0."""


def msprof_tx(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """MSTX_EVENTS: a row for each mark on a device that one of the host has, or one without."""
    events, tasks = recorded.table("MSTX_EVENTS"), recorded.table("TASK")
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
