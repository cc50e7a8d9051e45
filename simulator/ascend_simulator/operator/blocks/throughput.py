"""The counters of block 0x02: what MTE2 and MTE3 moved in each microsecond.

A sample stands at the end of its microsecond: viewers drop what lies at 0 (bin-blocks.md 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import bin_catalog

from ..world import World

MEBI = 1 << 20
COUNTED = {
    "MOV_OUT_TO_UB_ALIGN": "GM_TO_UB",
    "MOV_OUT_TO_L1_MULTI_ND2NZ": "GM_TO_L1",
    "MOV_UB_TO_OUT_ALIGN": "UB_TO_GM",
}
"""Counters by instruction; what FIXP moves is in none."""
TOTALS = {"GM_TO_TOTAL": ("GM_TO_UB", "GM_TO_L1"), "TOTAL_TO_GM": ("UB_TO_GM", "L1_TO_GM")}


def throughput(world: World) -> Iterator[dict[str, Any]]:
    """Events of all counters, microsecond by microsecond, and a last one that closes them."""
    begin, end, size, name = _copies(world)
    if not len(begin):
        return
    points = int(end.max()) // world.frequency + 1
    moved = {counter: np.zeros(points) for counter in _names()}
    for counter in set(COUNTED.values()):
        own = name == counter
        moved[counter] += _spread(world, begin[own], end[own], size[own], points)
    for total, parts in TOTALS.items():
        moved[total] = sum((moved[part] for part in parts), np.zeros(points))
    for point in range(points + 1):
        for counter in _names():
            value = float(moved[counter][point]) * 1e6 / MEBI if point < points else 0.0
            yield {
                "args": {"throughput(MB/s)": value},
                "name": counter,
                "ph": "C",
                "pid": "MTE Throughput",
                "tid": 0,
                "ts": point + 1,
            }


def _names() -> list[str]:
    return [str(one.value) for one in bin_catalog().enums["counters"].members]


def _copies(world: World) -> tuple[Integers, Integers, Integers, Any]:
    """First and last cycle, Byte and counter of every copy."""
    transfers = world.transfers
    begin, end = world.moments
    names = [COUNTED.get(one.name, "") for one in world.program.code.instructions]
    name = np.array(names)[transfers.code]
    counted = name != ""
    return begin[counted], end[counted], transfers.size[counted], name[counted]


def _spread(world: World, begin: Integers, end: Integers, size: Integers, points: int) -> Any:
    """Byte in each microsecond, when copies run evenly."""
    width = world.frequency
    first, last = begin // width, (end - 1) // width
    count = last - first + 1
    owner = np.repeat(np.arange(len(begin)), count)
    point = first[owner] + np.arange(len(owner)) - (np.cumsum(count) - count)[owner]
    low = np.maximum(begin[owner], point * width)
    high = np.minimum(end[owner], (point + 1) * width)
    share = size[owner] * (high - low) / (end - begin)[owner]
    return np.bincount(point, share, points)
