"""How long the host expects a task of communication to take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers, Reals


class Estimate(NamedTuple):
    """A constant in us, and the time for the data."""

    constant: float
    bytes_per_us: float = np.inf


ESTIMATES: Mapping[str, Estimate] = {
    "Notify_Record": Estimate(1.0),
    "Notify_Wait": Estimate(0.02),
    "Memcpy": Estimate(1.5, 19_300.0),
    "Reduce_Inline": Estimate(0.6, 19_300.0),
}
"""The host records it with each task, but no database holds it; these figures fit all 296 tasks of
one real timeline (fixtures-text-2025-01)."""
UNKNOWN = Estimate(0.0)


def transfer_estimates(kinds: pa.DictionaryArray, sizes: Integers) -> Reals:
    """The estimate of each task in us. kinds: names of the tasks; sizes: Byte, below 0 for none."""
    found = [ESTIMATES.get(kind, UNKNOWN) for kind in kinds.dictionary.to_pylist()]
    constant, rate = np.array(found or [UNKNOWN]).T
    kind = kinds.indices.to_numpy()
    times: Reals = constant[kind] + np.maximum(sizes, 0) / rate[kind]
    return times
