"""Stars Chip Trans: coarse load of the links between chips and of PCIe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_spec.timeline import Layer

from ..events import Events, Item
from ..notation import wholes
from ..session import Session, total
from .counters import side_by_side

LAYER = "Stars Chip Trans"
THREADS = {"pcie_link": "pcie", "pa_link": "pa-link"}
"""Threads by the extra of a recording, in the order of the file."""
APART = ("cpp",)
"""Engines that show each die by an event of its own."""
OF_DIES = "pcie-of-dies"
SERIES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "pa_link": {
        "pa-link-received": ("PA Link Rx", "received"),
        "pa-link-sent": ("PA Link Tx", "sent"),
    },
    "pcie_link": {
        "pcie-read": ("PCIE Read Bandwidth", "read"),
        "pcie-write": ("PCIE Write Bandwidth", "written"),
    },
}
"""By extra and event the arg with the level, and the column that it shows."""
IDS = {"pa_link": "PA Link ID", "pcie_link": "PCIE ID"}
WAYS = {"Read": "read", "Write": "written"}
"""Directions and columns of PCIe by die."""


def chip_links(session: Session) -> Iterator[Item]:
    """What links between chips and PCIe carry, device by device."""
    layer = session.layer(LAYER)
    extras = {name: session.recorded.extras.get(name) for name in THREADS}
    tables = {name: table for name, table in extras.items() if table is not None}
    if layer is None or not tables:
        return
    devices = np.unique(np.concatenate([integers(one["device"], 0) for one in tables.values()]))
    for home in devices.tolist():
        yield from session.process(layer, home)
        for name, table in tables.items():
            own = np.flatnonzero(integers(table["device"], 0) == home)
            if len(own):
                yield from session.thread(layer, THREADS[name], home)
                yield from _links(session, layer, name, table.take(pa.array(own)), home)


def _links(
    session: Session, layer: Layer, name: str, table: pa.Table, home: int
) -> Iterator[Events]:
    thread = session.thread_kind(layer, THREADS[name])
    tid = 0 if thread is None else total(thread.tid, {})
    time, link = integers(table["time"]), integers(table["link"], 0)
    levels = {column: integers(table[column], 0) for _, column in SERIES[name].values()}
    if session.recorded.origin.family not in layer.event(OF_DIES).families:
        for event, (arg, column) in SERIES[name].items():
            args = {arg: wholes(levels[column]), IDS[name]: wholes(link)}
            yield Events(layer, layer.event(event), time, home, tid, args=args)
        return
    # The C++ engine writes an event for each die, the other one for all of a moment.
    moment = np.arange(len(time)) if session.engine in APART else time
    numbers, series = np.unique(link, return_inverse=True)
    for shown, row_of in side_by_side(moment, series):
        for way, column in WAYS.items():
            args = {
                f"U-Die{numbers[one]}": wholes(levels[column][own]) for one, own in row_of.items()
            }
            kind, parts = layer.event(OF_DIES), {"direction": way}
            yield Events(layer, kind, time[shown], home, tid, parts=parts, args=args)
