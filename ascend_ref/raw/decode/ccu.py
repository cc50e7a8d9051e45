"""Missions and channels of the units for collective communication, and what HCCL reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import RECORDS, Integers, Records, Tasks, Texts
from ascend_ref.derive.ccu import CHANNELS, MISSIONS
from ascend_spec.core.packed import ClockName

from ..ccu import (
    CHANNEL_FILE,
    COMMON,
    ENDS,
    FIELDS,
    FULL_BITS,
    HALF_BITS,
    MISSION_FILE,
    NAMES,
    PARTS,
    Missions,
    ccu_table,
    channel_words,
    in_order_of_tasks,
    mission_rows,
)
from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..side import Unknown
from .nodes import text_numbers
from .session import Rows, Session
from .times import state_timeless, state_wrong, times_of

_COUNTER: ClockName = "device-counter"


def read_units(session: Session, tasks: Tasks, texts: Texts) -> Records:
    """The records of all devices by die, each in order of its file; those of the host by task."""
    parts: dict[str, list[Mapping[str, Integers]]] = {MISSIONS: [], CHANNELS: []}
    for device, context in sorted(session.devices.items()):
        for kind, record, read in (
            (MISSION_FILE, MISSIONS, _missions),
            (CHANNEL_FILE, CHANNELS, _channels),
        ):
            for die, rows in _by_die(session, context, kind):
                columns = read(session, context, rows, die, tasks, device)
                count = len(next(iter(columns.values()), ()))
                parts[record].append({"device": np.full(count, device), **columns})
    found: dict[str, Mapping[str, Integers]] = {
        record: {
            name: np.concatenate([one[name] for one in own if one["device"].size])
            for name in RECORDS[record].columns
        }
        for record, own in parts.items()
        if any(one["device"].size for one in own)
    }
    for kind in FIELDS:
        reports = _reports(session, texts, kind)
        if reports:
            found[kind] = reports
    return found


def units_table(
    session: Session, records: Records, tasks: Tasks, texts: Texts
) -> Mapping[str, npt.NDArray[Any]]:
    """The table that exporters make of them; nothing where no clock is known."""
    for context in session.devices.values():
        try:
            return ccu_table(records, tasks, texts, float(context.side.device.step))
        except Unknown:
            continue
    return {}


def _by_die(session: Session, context: Context, kind: str) -> list[tuple[int, Rows]]:
    found = [(int(parts["die"]), rows) for parts, rows in session.parts(context, kind)]
    return sorted(found, key=lambda one: one[0])


def _missions(
    session: Session, context: Context, rows: Rows, die: int, tasks: Tasks, device: int
) -> Mapping[str, Integers]:
    ends = rows["relEndTime"][:, ::-1].astype(np.int64)
    times = ("setckebitStartTime", "lpStartTime", "lpEndTime")
    right = np.all([rows[one] < LIMIT for one in times], axis=0)
    state_wrong(
        *(session, context, MISSION_FILE, int((~right).sum()), len(rows)),
        "have times that no clock shows",
    )
    rows, ends = rows[right], ends[right]
    begins = np.where(
        rows["setckebitStartTime"] > 0, rows["setckebitStartTime"], rows["lpStartTime"]
    )
    begun = begins > 0
    rows, ends = rows[begun], ends[begun]
    known = times_of(session, context, MISSION_FILE, _COUNTER, begins[begun]) != OUT_OF_RANGE
    rows, ends = rows[known], ends[known]
    if not len(rows):
        return {}
    high = rows["taskId"].astype(np.int64) << HALF_BITS
    found = Missions(
        die=np.full(len(rows), die),
        task=high | rows["streamId"].astype(np.int64),
        loop=rows["lpInstrId"].astype(np.int64),
        loop_start=rows["lpStartTime"].astype(np.int64),
        loop_end=rows["lpEndTime"].astype(np.int64),
        wait=rows["setckebitInstrId"].astype(np.int64),
        wait_start=rows["setckebitStartTime"].astype(np.int64),
        waits=ends,
    )
    return mission_rows(found, tasks, device, context.side.device)


def _channels(
    session: Session, context: Context, rows: Rows, die: int, _: Tasks, __: int
) -> Mapping[str, Integers]:
    """Channels without a time have none, as exporters take them."""
    if not len(rows):
        return {}
    place = channel_words()
    words = rows["words"]
    low, high = (words[:, place + at].astype(np.uint64) for at in range(2))
    ticks = (high << np.uint64(FULL_BITS) | low).reshape(-1)
    row, channel = np.divmod(np.flatnonzero(ticks > 0), len(place))
    ticks = ticks[ticks > 0]
    time = times_of(session, context, CHANNEL_FILE, _COUNTER, ticks)
    known = time != OUT_OF_RANGE
    row, channel = row[known], channel[known]
    if not len(row):
        return {}
    step = context.side.device.step
    return {
        "time": time[known],
        **{
            name: words[row, place[channel] + 2 + at].astype(np.int64)
            * step.numerator
            // step.denominator
            for at, name in enumerate(PARTS)
        },
        "die": np.full(len(row), die),
        "channel_id": channel,
    }


def _reports(session: Session, texts: Texts, kind: str) -> Mapping[str, Integers]:
    """The reports of one kind, a row for each channel that they name."""
    rows = session.rows(session.host, kind)
    if not len(rows):
        return {}
    row, ends = np.arange(len(rows)), {}
    if kind != next(iter(FIELDS)):
        there = np.all([rows[field] != nothing for field, nothing in ENDS.values()], axis=0)
        row, turn = np.nonzero(there)
        ends = {name: rows[field][row, turn].astype(np.int64) for name, (field, _) in ENDS.items()}
    if not len(row):
        return {}
    numbers = {
        name: rows[field][row].astype(np.int64)
        for name, field in {**COMMON, **FIELDS[kind]}.items()
    }
    named = {name: text_numbers(session, texts, rows[field][row]) for name, field in NAMES.items()}
    found = {**named, **numbers, **ends}
    state_timeless(session, session.host, kind, 0)
    return in_order_of_tasks({name: found[name] for name in RECORDS[kind].columns})
