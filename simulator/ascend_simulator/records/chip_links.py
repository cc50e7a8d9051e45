"""Coarse load of the links between chips and of PCIe.

Of the scale nothing is documented but that it is coarse: a level here is a share of what the link
can carry, and 0 where it carried nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ascend_ref.capture import Integers

from ..program.writer import HOST_COPY_RATE
from ..samples.scene import MILLION, Columns, per_second
from .scene import RecordScene

PA_LINKS = 8
"""Links of a chip; one of number 7 is documented (doc-msprof, Stars Chip Trans)."""
LEVELS = 7
"""Of a link that carries all it can (inferred)."""


def pa_link(scene: RecordScene) -> Columns:
    """The traffic over HCCS, evenly over all links; on chips that sample dies apart none."""
    if scene.machine.chip.dies:
        return {}
    grid, link = _grid(scene, "pa_link"), scene.machine.inside
    limit = link.bytes_per_microsecond * max(scene.machine.devices_per_host - 1, 1)
    limit = link.port or limit
    moved = replace(scene, grids={"pa_link": grid}, _curves={})
    received, sent = (
        _levels(amount, grid, limit)
        for amount in (moved.read(grid, "hccs"), moved.written(grid, "hccs"))
    )
    return {
        "time": np.repeat(grid[1:], PA_LINKS),
        "link": np.tile(np.arange(PA_LINKS), len(received)),
        "received": np.repeat(received, PA_LINKS),
        "sent": np.repeat(sent, PA_LINKS),
    }


def pcie_link(scene: RecordScene) -> Columns:
    """The traffic with the host, evenly over the dies of chips that sample these apart; the others
    do not show it (doc-msprof, Stars Chip Trans).
    """
    dies = scene.machine.chip.dies
    if not dies:
        return {}
    grid = _grid(scene, "pcie_link")
    moved = replace(scene, grids={"pcie_link": grid}, _curves={})
    written, read = (
        _levels(amount, grid, HOST_COPY_RATE)
        for amount in (moved.written(grid, "pcie"), moved.read(grid, "pcie"))
    )
    count = len(written)
    return {
        "time": np.repeat(grid[1:], len(dies)),
        "link": np.tile(np.array(dies, np.int64), count),
        "written": np.repeat(written, len(dies)),
        "read": np.repeat(read, len(dies)),
    }


def _grid(scene: RecordScene, record: str) -> Integers:
    return scene.sampled(record, scene.scenario.capture.sys_interconnection)


def _levels(amount: Integers, grid: Integers, limit: int) -> Integers:
    """Levels of Byte between the moments of a grid; limit: Byte per microsecond."""
    rate = per_second(amount, grid)
    found: Integers = np.minimum(-(-rate * LEVELS // (limit * MILLION)), LEVELS)
    return found
