"""What marks of the program and the tasks that note them have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture

MARK = "MsTx"
"""What exporters call the task by which a device notes a mark."""

MARK_TAG = 11
"""Tag of such a task in the record of the run (ge-profiling 3.1)."""

FIRST_MARK = 1
"""Number of the first mark; exporters add it to 4000000000 for a connection (db-schema 4.4)."""

WHOLE, EXTENDED = 0, 1
"""Kinds of records: a whole mark, and a segment of one; files of text show the domain of the latter
alone (raw-prof 4.6).
"""


def is_mark(capture: Capture) -> npt.NDArray[np.bool_]:
    """Which tasks note a mark."""
    every = capture.texts.all
    names = [one for one in np.unique(capture.tasks.kind).tolist() if every[one] == MARK]
    return np.isin(capture.tasks.kind, names)
