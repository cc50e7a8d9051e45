"""Voltages of the AI cores and of the bus."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.raw.moments import MOMENTS
from ascend_ref.raw.voltages import UNTIL_KNOWN

from ..samples.cores import clock_changes
from ..samples.scene import Columns
from .scene import RecordScene, stacked

CORES, BUS = "Aicore Voltage", "Bus Voltage"
RATED_MV = {CORES: (840, 920), BUS: (780, 860)}
"""Millivolts at the rated clock; each chip has its own, in steps of STEP_MV (inferred)."""
STEP_MV = 5
AT_REST = 60
"""Percent of it that a clock near 0 would need; the rest grows with the clock (inferred)."""


def voltage(scene: RecordScene) -> Columns:
    """The voltage of the cores changes with their clock, that of the bus stays.

    Until the first reading, which comes soon after the start, the exporter states a figure of its
    own, from the moment on when the counter of the device was read.
    """
    time, clock = clock_changes(scene)
    read = round(MOMENTS.clocks(int(time[0])).device.ns)
    time[0] = min([read, *(time[1:2] - 1).tolist()])
    draws, parts = scene.noise("voltage"), []
    for supply, bounds in RATED_MV.items():
        rated = draws.one(*bounds) // STEP_MV * STEP_MV
        varies = supply == CORES
        values = (
            _of_clock(clock, scene.machine.chip.frequency, rated) if varies else 0 * clock + rated
        )
        values[0] = UNTIL_KNOWN
        kept = np.append(True, np.diff(values) != 0) | (time == time[-1])
        parts.append(
            {
                "supply": np.full(int(kept.sum()), scene.texts.number(supply)),
                "time": time[kept],
                "millivolts": values[kept],
            }
        )
    return stacked(parts)


def _of_clock(clock: Integers, nominal: int, rated: int) -> Integers:
    needed = rated * (AT_REST * nominal + (100 - AT_REST) * clock) // (100 * nominal)
    found: Integers = needed // STEP_MV * STEP_MV
    return found
