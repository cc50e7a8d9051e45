"""Voltages of the cores and of the bus, a record for up to so many changes of one of them."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture
from ascend_spec.raw import records

from ..fields import joined
from ..voltages import FILE, RECORD, changes, rows_of, supplies
from .tree import RawTree


def write_voltages(capture: Capture, tree: RawTree) -> None:
    """Write the changes; exporters add what holds at the first and the last moment."""
    if RECORD not in capture.records or not tree.writes(FILE):
        return
    table, texts = capture.records[RECORD], capture.texts.all
    numbers = {name: number for number, name in supplies().items()}
    for device in tree.devices:
        parts = []
        for home, supply, rows in rows_of(capture):
            own = changes(capture, rows)
            if home != device or not len(own):
                continue
            made = tree.rows(FILE, -(-len(own) // records.LPM_SAMPLES))
            place, at = np.divmod(np.arange(len(own)), records.LPM_SAMPLES)
            np.add.at(made["count"], place, 1)
            made["type"] = numbers[texts[supply]]
            ticks = tree.side[device].device.ticks(table["time"][own])
            made["lpmDataS"]["sysCnt"][place, at] = ticks
            made["lpmDataS"]["value"][place, at] = table["millivolts"][own]
            parts.append(made)
        if parts:
            tree.write(FILE, joined(parts), device)
