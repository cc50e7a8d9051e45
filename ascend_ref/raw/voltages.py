"""Voltages of the cores and of the bus, whenever they change (raw-prof 4.7).

The one exporter that shows them states what holds from the moment when the counter of the device
was read until the end of the session; before the first change that is a figure of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ascend_ref.capture import Capture, Integers, Origin, Records
from ascend_ref.capture.records import RECORDS
from ascend_spec import raw_catalog

from .clocks import Clock
from .machine import chip_of
from .samples import with_bounds
from .vocabulary import named

RECORD, FILE = "voltage", "lpm_info"
"""The record of the recording, and the files that hold it."""
TYPES = "lpm_types"
FREQUENCY = 0
"""The type of records whose samples are clocks."""
UNTIL_KNOWN = 900
"""Millivolts before the first change (upstream-msprof LpmInfoConvParser)."""

Own = tuple[int, int, Integers]
"""A device, the number of a supply's name, and its rows in order of time."""


def supplies() -> Mapping[int, str]:
    """The types of records that measure voltages, and what they measure."""
    return {number: name for number, name in named(TYPES).items() if number != FREQUENCY}


def rows_of(capture: Capture) -> Iterator[Own]:
    """The rows of each device and supply of a recording."""
    table, names = capture.records[RECORD], capture.texts.all
    known = set(supplies().values())
    for device in np.unique(table["device"]).tolist():
        for supply in np.unique(table["supply"]).tolist():
            own = np.flatnonzero((table["device"] == device) & (table["supply"] == supply))
            if len(own) and names[supply] in known:
                order = np.argsort(table["time"][own], kind="stable")
                yield device, supply, own[order]


def changes(capture: Capture, rows: Integers) -> Integers:
    """The rows of a supply that are changes, and no figures of exporters."""
    inner = capture.records[RECORD]["time"][rows] != capture.origin.end
    inner[:1] = False
    found: Integers = rows[inner]
    return found


def held_of_voltages(capture: Capture, clock: Clock) -> Records:
    """The record as raw files hold it; ``clock``: that of the device."""
    if RECORD not in capture.records or not has_voltages(chip_of(capture.origin)):
        return {}
    table = capture.records[RECORD]
    parts = []
    for device, supply, rows in rows_of(capture):
        own = changes(capture, rows)
        if len(own):
            time = clock.times(clock.ticks(table["time"][own]))
            values = table["millivolts"][own]
            parts.append(stated(device, supply, time, values, capture.origin, clock))
    return as_record(parts)


def stated(
    device: int,
    supply: int,
    time: Integers,
    millivolts: Integers,
    origin: Origin,
    clock: Clock,
) -> dict[str, Integers]:
    """The rows that exporters make of changes, in order. What was read before the counter of the
    device was, at ``clock.ns``, holds then.
    """
    start = round(clock.ns)
    early = int(np.searchsorted(time, start))
    first = int(millivolts[early - 1]) if early else UNTIL_KNOWN
    session = replace(origin, start=start)
    times, values = with_bounds(time[early:], millivolts[early:], first, session)
    same = {"device": device, "supply": supply}
    alike = {name: np.full(len(times), value, np.int64) for name, value in same.items()}
    return {**alike, "time": times, "millivolts": values}


def as_record(parts: list[dict[str, Integers]]) -> Records:
    """The record made of parts, none without any."""
    if not parts:
        return {}
    names = RECORDS[RECORD].columns
    return {RECORD: {name: np.concatenate([one[name] for one in parts]) for name in names}}


def has_voltages(chip: int | None) -> bool:
    """Whether devices of a chip record their voltages."""
    return chip in raw_catalog().files[FILE].chips
