"""Tables of what happened on the host below the framework."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE

from .recording import Recording, Rows


def marks(recording: Recording) -> Rows:
    """Marks of the program; what becomes of one on a device has a connection."""
    batch = recording.capture.marks
    connection = np.where(
        batch.device_link == NONE, NONE, FIRST_MARK_CONNECTION + batch.device_link
    )
    rows = recording.rows(batch)
    ends = {"end_process": rows["process"], "end_thread": batch.thread}
    return {**rows, **ends, "connection": connection}
