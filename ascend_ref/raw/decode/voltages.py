"""Voltages of the cores and of the bus, from their changes (raw-prof 4.7)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Origin, Records, Texts

from ..clocks import OUT_OF_RANGE
from ..context import Context
from ..voltages import FILE, as_record, has_voltages, stated, supplies
from .session import Session
from .times import times_of


def read_voltages(session: Session, origin: Origin, texts: Texts) -> Records:
    """The record of all devices, by device and supply in order of time."""
    parts = []
    for device, context in sorted(session.devices.items()):
        if has_voltages(context.side.chip):
            for number, name in supplies().items():
                time, value = read_changes(session, context, number)
                if len(time):
                    parts.append(stated(device, texts.number(name), time, value, origin))
    return as_record(parts)


def read_changes(session: Session, context: Context, number: int) -> tuple[Integers, Integers]:
    """What the records of a type hold in order of time."""
    rows = session.rows(context, FILE)
    rows = rows[rows["type"] == number]
    width = rows["lpmDataS"].shape[1]
    inside = np.arange(width) < np.minimum(rows["count"], width).astype(np.int64)[:, None]
    time = times_of(session, context, FILE, "device-counter", rows["lpmDataS"]["sysCnt"][inside])
    known = time != OUT_OF_RANGE
    time, value = time[known], rows["lpmDataS"]["value"][inside][known].astype(np.int64)
    order = np.argsort(time, kind="stable")
    return time[order], value[order]
