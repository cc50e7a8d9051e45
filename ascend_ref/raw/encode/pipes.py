"""What groups of cores moved and how long their pipes worked, a record for each period."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE

from ..fields import put_split
from ..pipes import (
    CUBE_FILE,
    CYCLES,
    FLOW,
    OTHERS,
    PIPES,
    TRAFFIC,
    VECTOR_FILE,
    cores_of,
    period_of,
)
from .tree import RawTree

_OF_CYCLES = ("timestamp_lsb0", "timestamp_lsb1", "timestamp_msb0", "timestamp_msb1")
_TIMES: Mapping[str, tuple[str, ...]] = {
    CUBE_FILE: ("timestamp_low", "timestamp_high"),
    VECTOR_FILE: (*_OF_CYCLES, "timestamp_msb2"),
}
"""The parts of the time that readers take, the lowest bits first."""


def write_pipes(capture: Capture, tree: RawTree) -> None:
    """Write the files of each core. Times are the cycles since the first sample."""
    period = period_of(capture)
    if period is None or not tree.writes(CUBE_FILE):
        return
    for device in tree.devices:
        for core, cycles, flow in cores_of(capture, device):
            kind = CUBE_FILE if core.vector == NONE else VECTOR_FILE
            rows, declared = tree.rows(kind, len(cycles)), tree.declaration(kind)
            for name, parts in PIPES.items():
                worked = capture.records[CYCLES][name][cycles]
                worked = worked * 0 if name == OTHERS[core.type] else worked
                put_split(declared, rows, parts, np.cumsum(worked))
            for name, parts in TRAFFIC.items() if len(flow) else ():
                put_split(declared, rows, parts, capture.records[FLOW][name][flow])
            put_split(declared, rows, _TIMES[kind], np.arange(len(rows)) * period)
            named = {} if core.vector == NONE else {"vector": f"aiv{core.vector}"}
            tree.write(kind, rows, device, group=core.group, **named)
