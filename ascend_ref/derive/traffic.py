"""Figures from samples of links, ports and memories (text-outputs.md 3.5).

Data rates are Byte/s here as in the databases, shares are percent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import python_round
from .matching import divided, greatest, groups, least
from .transit import Mask

MEBIBYTE = float(1 << 20)
"""What the writers call a MB of traffic."""
RATE_PLACES = 6
"""Decimals of the rates of a cache."""
UNSET_RATE = 0xFFFFF * 1_000_000 % (1 << 32)
"""Smallest rate of a PCIe channel that saw none: 0xFFFFF Byte/us in the 32 bits of PCIE."""


class Means(NamedTuple):
    """Means by key; ``first``: for each key the first row that has it, ascending."""

    first: Integers
    mean: Reals


def means(values: Reals, *keys: Integers, counted: Mask | None = None) -> Means:
    """Mean of the values that have the same keys; 0 where none of them is ``counted``."""
    first, group = groups(*keys)
    kept = np.ones(len(values), np.bool_) if counted is None else counted
    count = np.bincount(group[kept], minlength=len(first))
    return Means(first, np.bincount(group[kept], values[kept], len(first)) / np.maximum(count, 1))


class Spread(NamedTuple):
    """Smallest, greatest and mean value by owner."""

    minimum: Reals
    maximum: Reals
    mean: Reals


def spread(owner: Integers, values: Reals) -> Spread:
    """Of a link's rate; ``owner`` from 0 without a gap."""
    count = np.bincount(owner)
    return Spread(
        least(owner, values, len(count)),
        greatest(owner, values, len(count)),
        np.bincount(owner, values) / count,
    )


def channel(
    owner: Integers, time: Integers, samples: Spread, *, last_only: bool, unset: int | None
) -> Spread:
    """A PCIe channel by owner, from samples that are themselves spreads.

    ``last_only``: the last sample counts alone, as on A2 and A3; else the mean of the samples whose
    greatest value is not below their smallest. A smallest value ``unset`` is shown as 0.
    """
    count = int(owner.max(initial=-1)) + 1
    if last_only:
        order = np.lexsort((time, owner))
        last = order[np.searchsorted(owner[order], np.arange(count), side="right") - 1]
        found = Spread(*(values[last] for values in samples))
    else:
        kept = samples.maximum >= samples.minimum
        rows = np.maximum(np.bincount(owner[kept], minlength=count), 1)
        found = Spread(
            *(np.bincount(owner[kept], values[kept], count) / rows for values in samples)
        )
    return found._replace(minimum=np.where(found.minimum == unset, 0.0, found.minimum))


def share(part: Reals, whole: Reals) -> Reals:
    """Percent that a part is of a whole, 0 of nothing."""
    return divided(100 * part, whole, whole > 0)


def cache_rates(part: Integers, request: Integers) -> Reals:
    """Hits or victims per request, six decimals; 0 without requests.

    On stars chips the hits cannot be counted and l2_cache says N/A, and victims may outnumber the
    requests (text-outputs.md 3.2).
    """
    return python_round(divided(part, request), RATE_PLACES)
