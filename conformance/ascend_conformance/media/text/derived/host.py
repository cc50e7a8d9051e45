"""What the host used and what it should have, computed again from samples."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ascend_ref.derive.host_usage import demand

from .reading import Asked, reals


def demands(asked: Asked) -> pa.Table:
    """Peak and recommendation of each column of samples."""
    samples = asked.rows()
    found: dict[str, pa.Array] = {}
    for name in samples.column_names:
        values = reals(samples, name)
        needed = demand(values[np.isfinite(values)])
        peak, recommended = (None, None) if needed is None else needed
        found[f"{name}_peak"] = pa.array([peak], pa.float64())
        found[f"{name}_recommended"] = pa.array([recommended], pa.float64())
    return pa.table(found)
