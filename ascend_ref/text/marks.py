"""msprof_tx: what the program marked, on the host and on devices (text-outputs.md 3.8)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.derive.matching import NONE, pairs
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows

from .columns import Columns, ShownColumns, device_texts, integers, plain, where
from .order import ordered
from .setting import Setting

NO_MARK = (4_000_000_000, (1 << 32) - 1, NONE)
"""Connections of marks that no device saw (db-schema.md 4.4)."""


def msprof_tx(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """MSTX_EVENTS: a row for each mark on a device that one of the host has, or one without."""
    events, tasks = recorded.table("MSTX_EVENTS"), recorded.table("TASK")
    connection = integers(events["connectionId"])
    linked = np.where(np.isin(connection, NO_MARK), NONE, connection)
    event, task = pairs(linked, integers(tasks["connectionId"]), none=NONE)
    on_device = task != NONE
    thread = integers(events["globalTid"])[event]
    place = pa.array(event)

    def of_task(name: str) -> pa.Array:
        return where(on_device, np.append(integers(tasks[name]), NONE)[task])

    nothing = pa.array(np.zeros(len(event), np.int64))
    columns = ShownColumns(
        {
            "Device_id": device_texts(np.append(integers(tasks["deviceId"]), NONE)[task]),
            "pid": pa.array(thread >> 32),
            "tid": pa.array(thread & 0xFFFF_FFFF),
            "category": plain(events["category"]).take(place),
            "event_type": plain(events["eventType"]).take(place),
            "payload_type": nothing,
            "payload_value": nothing,
            "Start_time(us)": plain(events["startNs"]).take(place),
            "End_time(us)": plain(events["endNs"]).take(place),
            "message_type": nothing,
            "message": plain(events["message"]).take(place),
            "domain": plain(events["domainId"]).take(place),
            "Device Start_time(us)": of_task("startNs"),
            "Device End_time(us)": of_task("endNs"),
        },
        {"MSTX_EVENTS": TableRows(events, event), "TASK": TableRows(tasks, task)},
    )
    yield ordered(setting, columns)
