"""What kernels asked of the L2 cache and of the TLB, a record for each task."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture
from ascend_spec.raw import records

from ..caches import as_events, held_of_caches, raw_record
from .tree import RawTree


def write_caches(capture: Capture, tree: RawTree) -> None:
    """Write the events of all devices, in the order of the recording."""
    for record, table in held_of_caches(capture).items():
        for device in tree.devices:
            own = np.flatnonzero(table["device"] == device)
            given = as_events(record, tree.chip, {name: one[own] for name, one in table.items()})
            rows = tree.rows(record, len(own), raw_record(record, tree.chip))
            rows["streamId"], rows["taskId"] = table["stream"][own], table["number"][own]
            rows["events"][:, : given.shape[1]] = given
            if "dataType" in (rows.dtype.names or ()):
                rows["dataType"] = records.TLB_DATA
            tree.write(record, rows, device, record=raw_record(record, tree.chip))
