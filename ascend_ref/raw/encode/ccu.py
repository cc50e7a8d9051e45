"""Missions and channels of the units for collective communication, and what HCCL reports."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_ref.derive.ccu import CHANNELS, MISSIONS
from ascend_ref.derive.matching import counterparts, groups
from ascend_spec.raw.records import CCU_RANKS

from ..ccu import (
    CHANNEL_FILE,
    COMMON,
    ENDS,
    FIELDS,
    FULL,
    FULL_BITS,
    HALF,
    HALF_BITS,
    MISSION_FILE,
    NAMES,
    PARTS,
    channel_words,
    delay_ticks,
    missions_of,
    of_device,
)
from .tracks import Tracks
from .tree import RawTree


def write_units(capture: Capture, tree: RawTree, tracks: Tracks) -> None:
    """Write the files of each die, and those of the host."""
    if not tree.writes(MISSION_FILE):
        return
    for device in tree.devices:
        _write_missions(capture, tree, device)
        _write_channels(capture, tree, device)
    for kind in FIELDS:
        _write_reports(capture, tree, tracks, kind)


def _write_missions(capture: Capture, tree: RawTree, device: int) -> None:
    table = of_device(capture.records.get(MISSIONS), device)
    if not table or not len(table["device"]):
        return
    found = missions_of(table, tree.side[device].device)
    rows = tree.rows(MISSION_FILE, len(found.die))
    # The last rank comes first.
    rows["relEndTime"] = found.waits[:, ::-1]
    rows["setckebitStartTime"], rows["setckebitInstrId"] = found.wait_start, found.wait
    rows["lpStartTime"], rows["lpEndTime"] = found.loop_start, found.loop_end
    rows["lpInstrId"] = found.loop
    rows["streamId"], rows["taskId"] = found.task & HALF, found.task >> HALF_BITS
    for die in np.unique(found.die).tolist():
        tree.write(MISSION_FILE, rows[found.die == die], device, die=die)


def _write_channels(capture: Capture, tree: RawTree, device: int) -> None:
    table = of_device(capture.records.get(CHANNELS), device)
    if not table or not len(table["device"]):
        return
    clock = tree.side[device].device
    ticks = clock.ticks(table["time"])
    first, owner = groups(table["die"], ticks)
    rows = tree.rows(CHANNEL_FILE, len(first))
    place = channel_words()[table["channel_id"]]
    words = rows["words"]
    words[owner, place], words[owner, place + 1] = ticks & FULL, ticks >> FULL_BITS
    for at, name in enumerate(PARTS):
        words[owner, place + 2 + at] = delay_ticks(table[name], clock)
    die = table["die"][first]
    for one in np.unique(die).tolist():
        tree.write(CHANNEL_FILE, rows[die == one], device, die=one)


def _write_reports(capture: Capture, tree: RawTree, tracks: Tracks, kind: str) -> None:
    """The reports of one kind, those of a channel each; of a task at the moment of its launch."""
    table = capture.records.get(kind)
    if table is None or not len(table["task_id"]):
        return
    columns = [column for name, column in table.items() if name not in ENDS]
    first, owner = groups(*columns)
    rows = tree.rows(kind, len(first))
    found = counterparts(table["task_id"][first], 0, capture.tasks.number)
    known = found != NONE
    track = tracks.of_task[found[known]]
    rows["timeStamp"] = tree.host.host.ticks(np.array([capture.origin.start], np.int64))
    rows["threadId"][known] = tracks.thread[track]
    rows["timeStamp"][known] = tracks.moment[track]
    for name, field in {**COMMON, **FIELDS[kind]}.items():
        rows[field] = table[name][first]
    for name, field in NAMES.items():
        rows[field] = tree.hashes(capture.texts, table[name][first])
    if "channel" in table:
        turn = np.arange(len(owner)) - first[owner]
        for name, (field, nothing) in ENDS.items():
            rows[field] = nothing
            kept = turn < CCU_RANKS
            rows[field][owner[kept], turn[kept]] = table[name][kept]
    tree.add(kind, rows)
