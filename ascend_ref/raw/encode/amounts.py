"""Samples of amounts since the sample before: links, caches, memory, dies, the network card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers

from ..amounts import (
    ACCESSES,
    EVENTS,
    HCCS,
    HITS,
    NO_MASTER,
    PASSED,
    SIO,
    Columns,
    cache_counts,
    counter_of,
    ddr_event,
    die_amounts,
    dies_of,
    intervals,
    since,
)
from ..fields import put, taken
from ..lines import Entry
from ..rates import amounts
from ..vocabulary import numbered
from .tree import RawTree, Rows


def amount_settings(capture: Capture) -> dict[str, Any]:
    """What sample.json has to say for readers of LLC."""
    table = capture.samples.get("LLC", {})
    modes = {capture.texts.all[one] for one in np.unique(table.get("mode", ())).tolist()}
    return {"llc_profiling": modes.pop()} if len(modes) == 1 else {}


def write_amounts(
    capture: Capture, tree: RawTree, found: Mapping[str, Columns], device: int
) -> None:
    """Write the samples of one device that are there and that its chip has files for."""
    for name, (kind, write) in _WRITERS.items():
        if name in found and tree.writes(kind):
            write(capture, tree, found[name], device)


def die_rows(
    capture: Capture,
    table: Columns,
    declaration: construct.Struct,
    rows: Callable[[Integers], Rows],
) -> Rows:
    """Records of the dies, those before the first of each among them.

    declaration: of the records. rows: makes those of so many times.
    """
    every = capture.texts.all
    place, values = dies_of(declaration)
    known = numbered(values)
    die = np.array([known[every[one]] for one in table["name"].tolist()], np.int64)
    time = table["timestampNs"]
    length = intervals(time, die)
    first = np.flatnonzero(since(time, die) == 0)
    made = rows(np.concatenate([time[first] - length[first], time]))
    put(declaration, made, place, np.concatenate([die[first], die]))
    for field, column in SIO.items():
        made[field][len(first) :] = die_amounts(table[column], length)
    return made


def _write_links(_: Capture, tree: RawTree, table: Columns, device: int) -> None:
    length = intervals(table["timestampNs"], table["deviceId"])
    grown = {part: amounts(table[column], length) for part, column in HCCS.items()}
    names = Entry("header", {"names": "time tx rx"})
    lines = _growing(tree, "hccs", table["timestampNs"], length, grown, device)
    tree.write_lines("hccs", (names, *lines), device)


def _write_network(_: Capture, tree: RawTree, table: Columns, device: int) -> None:
    counters = {column: counter_of(column) for column in table if column not in _KEYS}
    grown = {part: table[column] for column, part in counters.items() if part is not None}
    length = intervals(table["timestampNs"], table["deviceId"])
    lines = _growing(tree, "netdev_stats", table["timestampNs"], length, grown, device)
    tree.write_lines("netdev_stats", lines, device)


def _growing(
    tree: RawTree,
    kind: str,
    time: Integers,
    length: Integers,
    grown: Mapping[str, Integers],
    device: int,
) -> Iterator[Entry]:
    """Lines of totals, which are 0 before the first row."""
    order = np.argsort(time, kind="stable")
    times = np.concatenate([time[order[:1]] - length[order[:1]], time[order]])
    totals = [np.append(0, np.cumsum(one[order])).tolist() for one in grown.values()]
    for tick, *row in zip(tree.ticks(kind, times, device).tolist(), *totals, strict=True):
        yield Entry("sample", {"time": tick, **dict(zip(grown, row, strict=True))})


def _write_memory(_: Capture, tree: RawTree, table: Columns, device: int) -> None:
    length, each = since(table["timestampNs"], table["deviceId"]), ddr_event(tree.chip)
    count = len(length)
    rows = tree.rows("ddr", 2 * count)
    ticks = tree.ticks("ddr", table["timestampNs"], device)
    rows["timestamp"] = np.repeat(ticks, 2)
    rows["eventType"] = np.tile([0, 1], count)
    rows["masterId"] = NO_MASTER
    for place, column in enumerate(("read", "write")):
        rows["count"][place::2] = amounts(table[column], length, each)
    tree.write("ddr", _in_order(rows), device)


def _write_caches(capture: Capture, tree: RawTree, table: Columns, device: int) -> None:
    modes = {capture.texts.all[one] for one in np.unique(table["mode"]).tolist()}
    if len(modes) != 1:
        return
    events = EVENTS[modes.pop()]
    passed, accesses, hits = cache_counts(table)
    count = np.zeros((len(passed), len(events)), np.int64)
    count[:, PASSED[0]] = passed
    count[:, ACCESSES[0]] = accesses
    count[:, HITS[0]] = hits
    rows = tree.rows("llc", count.size)
    ticks = tree.ticks("llc", table["timestampNs"], device)
    rows["timestamp"] = np.repeat(ticks, len(events))
    rows["count"] = count.reshape(-1)
    rows["eventId"] = np.tile(events, len(passed))
    rows["l3tId"] = np.repeat(table["llcId"], len(events))
    tree.write("llc", _in_order(rows), device)


def _in_order(rows: npt.NDArray[Any]) -> Rows:
    return taken(rows, np.argsort(rows["timestamp"], kind="stable"))


_KEYS = ("deviceId", "timestampNs")
_WRITERS: Mapping[str, tuple[str, Callable[[Capture, RawTree, Columns, int], None]]] = {
    "DDR": ("ddr", _write_memory),
    "HCCS": ("hccs", _write_links),
    "LLC": ("llc", _write_caches),
    "NETDEV_STATS": ("netdev_stats", _write_network),
}
"""Kinds of files by table, and what writes them."""
