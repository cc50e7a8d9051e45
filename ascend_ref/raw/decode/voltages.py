"""Voltages of the cores and of the bus, from their changes (raw-prof 4.7)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Origin, Records, Texts

from ..clocks import OUT_OF_RANGE
from ..context import Context
from ..voltages import FILE, as_record, has_voltages, stated, supplies
from .session import Rows, Session
from .times import times_of


def read_voltages(session: Session, origin: Origin, texts: Texts) -> Records:
    """The record of all devices, by device and supply in order of time."""
    parts = []
    for device, context in sorted(session.devices.items()):
        if not has_voltages(context.side.chip):
            continue
        rows = session.rows(context, FILE)
        for number, name in supplies().items():
            own = rows[rows["type"] == number]
            time, value = read_changes(session, context, FILE, own, "value")
            if len(time):
                supply, clock = texts.number(name), context.side.device
                parts.append(stated(device, supply, time, value, origin, clock))
    return as_record(parts)


def read_changes(
    session: Session, context: Context, kind: str, rows: Rows, field: str
) -> tuple[Integers, Integers]:
    """The samples of records in order of time; field: the one with the value."""
    width = rows["lpmDataS"].shape[1]
    inside = np.arange(width) < np.minimum(rows["count"], width).astype(np.int64)[:, None]
    samples = rows["lpmDataS"][inside]
    time = times_of(session, context, kind, "device-counter", samples["sysCnt"])
    known = time != OUT_OF_RANGE
    time, value = time[known], samples[field][known].astype(np.int64)
    order = np.argsort(time, kind="stable")
    return time[order], value[order]
