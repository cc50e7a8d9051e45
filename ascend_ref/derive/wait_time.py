"""How long a device waited before each task (text-outputs.md 7.3)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import Engine, python_round, unit_floats


def wait_times(start: Integers, duration: Integers, engine: Engine) -> Reals:
    """Time between the end of the row before and the start of each row, in us; 0 for the first.

    start, duration: ns, rows in order of start, those of communication included. The Python engine
    takes one device at a time and rounds to three decimals. The C++ engine takes all rows of the
    file, computes with floats of the instants in us, which are a quarter of a us apart, and prints
    six decimals.
    """
    waited = np.zeros(len(start))
    if engine == "python":
        idle = start[1:] - start[:-1] - duration[:-1]
        waited[1:] = python_round(np.maximum(idle, 0) / 1e3)
    else:
        instants, times = unit_floats(start), unit_floats(duration)
        waited[1:] = np.maximum(instants[1:] - instants[:-1] - times[:-1], 0.0)
    return waited
