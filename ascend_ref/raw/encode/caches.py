"""What kernels asked of the L2 cache and of the TLB, a record for each task."""

from __future__ import annotations

from itertools import product

import numpy as np

from ascend_ref.capture import Capture

from ..caches import DATA, KINDS, Columns, as_events, held_of_caches, raw_record
from ..fields import joined
from .tree import RawTree, Rows


def write_caches(capture: Capture, tree: RawTree) -> None:
    """Write the events of all devices, in the order of the recording."""
    held = held_of_caches(capture)
    for kind, device in product(dict.fromkeys(KINDS.values()), tree.devices):
        parts = [
            _rows(tree, record, held[record], device) for record in held if KINDS[record] == kind
        ]
        if parts:
            tree.write(kind, joined(parts), device, record=raw_record(kind, tree.chip))


def _rows(tree: RawTree, record: str, table: Columns, device: int) -> Rows:
    own = np.flatnonzero(table["device"] == device)
    given = as_events(record, tree.chip, {name: one[own] for name, one in table.items()})
    rows = tree.rows(KINDS[record], len(own), raw_record(KINDS[record], tree.chip))
    rows["streamId"], rows["taskId"] = table["stream"][own], table["number"][own]
    rows["events"][:, : given.shape[1]] = given
    if "dataType" in (rows.dtype.names or ()):
        rows["dataType"] = DATA[record]
    return rows
