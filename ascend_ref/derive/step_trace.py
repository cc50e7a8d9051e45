"""What the iterations of a graph consist of: step_trace files and layer (text-outputs.md 7.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture.batch import Integers

from .decimals import Engine
from .matching import groups, ranks


class IterationTimes(NamedTuple):
    """ns, null where a part is not known.

    iteration: from its start to its end. fp_to_bp: from the first forward operator to the end of
    the last backward one. refresh: from there to the end. bound: from the end of the iteration
    before to the first forward operator, which waited for data.
    """

    iteration: pa.Int64Array
    fp_to_bp: pa.Int64Array
    refresh: pa.Int64Array
    bound: pa.Int64Array


def iteration_times(
    start: Integers, fp_start: Integers, bp_end: Integers, end: Integers
) -> IterationTimes:
    """The parts of the iterations of one device, all models together, in order of their ends.

    Instants in ns; an unknown ``fp_start`` or ``bp_end`` is not positive. The iteration before is
    the last one that ended before the first forward operator.
    """
    forward, backward = fp_start > 0, bp_end > 0
    before = np.minimum(np.searchsorted(end, fp_start), np.arange(len(end))) - 1
    return IterationTimes(
        iteration=pa.array(end - start),
        fp_to_bp=_where(forward & backward, bp_end - fp_start),
        refresh=_where(backward, end - bp_end),
        bound=_where(forward & (before >= 0), fp_start - end[before]),
    )


def data_augmentation_starts(
    bp_end: Integers, end: Integers, bound: Integers, engine: Engine
) -> Integers:
    """Where the flow ``Data_aug Bound`` leaves an iteration, ns.

    In the middle of the refresh; the C++ engine lets it leave half the bound after the backward
    pass (erratum T43).
    """
    return bp_end + (end - bp_end if engine == "python" else bound) // 2


def reduce_numbers(
    device: Integers, model: Integers, iteration: Integers, engine: Engine
) -> Integers:
    """The number of each sum of gradients in its names, in order of start, from 0.

    The Python engine counts anew in every iteration, the C++ engine in every device (erratum
    T44).
    """
    keys = (device, model, iteration) if engine == "python" else (device,)
    return ranks(groups(*keys)[1])


def _where(known: npt.NDArray[np.bool_], values: Integers) -> pa.Int64Array:
    return pa.array(values, mask=~known)
