"""Coarse load of the links between chips and of PCIe (raw-prof 4.9)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Records
from ascend_ref.capture.records import RECORDS
from ascend_spec.raw import records

from ..chip_links import FIELDS, KINDS, LINKS, OF_DIES, PCIE, PLAIN, declared
from ..context import Context
from ..fields import numbers
from ..samples import SOC
from .session import Rows, Session
from .times import timed

_LARGEST = (1 << 63) - 1


def read_chip_links(session: Session) -> Records:
    """The records of all devices, each in order of device and file."""
    found: dict[str, list[dict[str, Integers]]] = {LINKS: [], PCIE: []}
    for device, context in sorted(session.devices.items()):
        record = declared(context.side.chip)
        if record == PLAIN:
            for name in (LINKS, PCIE):
                found[name].append(_links(session, context, device, name))
        elif record == OF_DIES:
            found[PCIE].append(_dies(session, context, device))
    return {
        name: {
            column: np.concatenate([one[column] for one in parts])
            for column in RECORDS[name].columns
        }
        for name, parts in found.items()
        if sum(len(one["device"]) for one in parts)
    }


def _links(session: Session, context: Context, device: int, name: str) -> dict[str, Integers]:
    declaration = session.declaration(SOC, PLAIN)
    rows, time = timed(session, context, SOC, PLAIN)
    own = numbers(declaration, "accType", rows) == KINDS[name]
    rows, time = rows[own], time[own]
    link = rows["eventId"].astype(np.int64) & ((1 << records.LINK_BITS) - 1)
    first, second = FIELDS[name]
    return {
        "device": np.full(len(rows), device),
        "time": time,
        "link": link,
        first: _level(rows["rxOrWrite"]),
        second: _level(rows["txOrRead"]),
    }


def _dies(session: Session, context: Context, device: int) -> dict[str, Integers]:
    declaration = session.declaration(SOC, OF_DIES)
    rows, time = timed(
        session,
        context,
        SOC,
        OF_DIES,
        right=lambda some: (
            (some["writeBandwidth"] != records.NO_BANDWIDTH)
            & (some["readBandwidth"] != records.NO_BANDWIDTH)
        ),
    )
    first, second = FIELDS[PCIE]
    return {
        "device": np.full(len(rows), device),
        "time": time,
        "link": numbers(declaration, "dieId", rows),
        first: _level(rows["writeBandwidth"]),
        second: _level(rows["readBandwidth"]),
    }


def _level(values: Rows) -> Integers:
    return np.minimum(values, _LARGEST).astype(np.int64)
