"""What the two forms of block 0x02 share: the document around the events, and its lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ascend_ref.bin import canonical
from ascend_spec import bin_catalog

from ..world import World

UNORDERED, ORDERED = 1, 2
"""schemaVersion: without and with the order of the lanes (bin-blocks.md 3.2)."""


def document(events: Iterable[bytes], version: int) -> bytes:
    """The payload around events; traceEvents stays the last key, where the viewer looks for it."""
    head = canonical({"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": version})
    return head[:-1] + b',"traceEvents":[' + b",".join(events) + b"]}"


def colour(lane: str) -> str:
    """The colour of a lane's events."""
    found = next(
        one for one in bin_catalog().enums["lanes"].members if one.value in (lane, "WARP_")
    )
    return str(found.colour)


def lane_orders() -> dict[str, int]:
    """Lanes with their order, those of warps left out."""
    members = bin_catalog().enums["lanes"].members
    return {str(one.value): int(one.order or 0) for one in members if one.value != "WARP_"}


def sub_cores(world: World) -> Iterator[tuple[int, int, str]]:
    """Block, unit and core of everything that ran."""
    for block in range(world.program.block_dim):
        for unit in range(len(world.program.units)):
            yield block, unit, world.program.core_name(block, unit)


def sort_index(name: str, process: str, lane: str, order: int) -> dict[str, Any]:
    """The event that gives a process or a lane its place."""
    return {
        "args": {"sort_index": order},
        "name": name,
        "ph": "M",
        "pid": process,
        "tid": lane,
    }
