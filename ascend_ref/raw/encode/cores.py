"""What the cores counted since the sample before (raw-prof 4.7)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture, Integers

from ..cores import Sampled, counts_of_cores, sampled_of
from ..fields import joined, taken
from .tree import RawTree, Rows

_MODE = 1
"""Of every record; readers stop at 0."""


def write_cores(capture: Capture, tree: RawTree) -> None:
    """Write the samples of the cores of every device."""
    files: dict[tuple[int, str, str], list[Rows]] = {}
    for one in sampled_of(capture):
        place = one.device, one.source.file, one.source.record
        files.setdefault(place, []).append(_records(capture, tree, one))
    for (device, file, record), parts in files.items():
        rows = joined(parts)
        order = np.lexsort((rows["coreId"], rows["timestamp"]))
        tree.write(file, taken(rows, order), device, record=record)


def _records(capture: Capture, tree: RawTree, one: Sampled) -> Rows:
    field, clock = one.source.clock()
    rows = tree.rows(one.source.file, len(one.time), one.source.record)
    cores, counts = counts_of_cores(capture, one)
    place = np.searchsorted(cores, one.core)
    shares = _shares(counts.events, one.cycles, place)
    rows["mode"] = _MODE
    rows[field] = tree.side[one.device].by_name(clock).ticks(one.time)
    rows["taskCyc"], rows["coreId"] = one.cycles, one.core
    rows["eventCount"][:, : shares.shape[1]] = shares
    rows["countNum"] = rows["eventCount"].shape[1]
    return rows


def _shares(events: Integers, cycles: Integers, place: Integers) -> Integers:
    """The events of cores, dealt to their samples as their cycles are; of rows in their order."""
    before = np.cumsum(cycles) - cycles
    begin = np.searchsorted(place, np.arange(len(events)))
    until = before + cycles - before[begin][place]
    whole = np.zeros(len(events), np.int64)
    np.add.at(whole, place, cycles)
    # A core without cycles has all of its events in its first sample.
    share = np.where(whole[place] > 0, until / np.maximum(whole[place], 1), 1.0)
    upto = np.floor(events[place] * share[:, None]).astype(np.int64)
    earlier = np.concatenate([upto[:1] * 0, upto[:-1]])
    earlier[begin] = 0
    found: Integers = upto - earlier
    return found
