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

STREAM = "QoS "
"""So names of streams begin in QOS.eventName, and neither in sample.json nor in the fields of the
timeline (db-schema QOS)."""
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


class Counters(NamedTuple):
    """What the samples of one direction of a port count, as in the databases."""

    packet_rate: Reals
    bytes: Reals
    packets: Reals
    errors: Reals
    dropped: Reals


class PortTraffic(NamedTuple):
    """Figures of one direction by port."""

    efficiency: Reals
    packet_rate: Reals
    error_rate: Reals
    dropped_rate: Reals


def port_traffic(
    port: Integers,
    length: Integers,
    bandwidth: Reals,
    counters: Counters,
    *,
    wrong_of: Integers,
    is_mean_dropped: bool,
) -> PortTraffic:
    """Figures of one direction as msprof's nic_model.py and roce_model.py have them.

    port: of each sample, from 0 without a gap. length: ns from the first to the last sample,
    which the models divide by as if it were seconds; bandwidth: both by port. wrong_of: owner of
    each sample over whose samples the counter of errors is averaged. is_mean_dropped: that of drops
    is averaged as well, else added up.
    """
    count = len(length)
    samples = np.bincount(port, minlength=count)
    is_one, is_long = samples == 1, length > 0
    grown = greatest(port, counters.bytes, count) - least(port, counters.bytes, count)
    packets = np.bincount(port, counters.packet_rate, count)
    errors = np.bincount(wrong_of, counters.errors) / np.maximum(np.bincount(wrong_of), 1)
    owner = np.zeros(count, np.int64)
    owner[port] = wrong_of
    dropped = np.bincount(port, counters.dropped, count).astype(np.float64)
    first = np.unique(port, return_index=True)[1]

    def rate(several: Reals, one: Reals) -> Reals:
        whole = counters.packets[first]
        single = python_round(divided(one[first], whole, whole > 0))
        known = is_long & (packets > 0)
        return np.where(is_one, single, 100 * python_round(divided(several, packets, known)))

    ns = length.astype(np.float64)
    return PortTraffic(
        python_round(divided(8 * grown, ns * bandwidth, is_long & (bandwidth > 0))),
        np.where(is_one, packets, python_round(divided(packets, ns, is_long))),
        rate(errors[owner], counters.errors),
        rate(divided(dropped, samples) if is_mean_dropped else dropped, counters.dropped),
    )


def share(part: Reals, whole: Reals) -> Reals:
    """Percent that a part is of a whole, 0 of nothing."""
    return divided(100 * part, whole, whole > 0)


def cache_rates(part: Integers, request: Integers) -> Reals:
    """Hits or victims per request, six decimals; 0 without requests.

    On stars chips the hits cannot be counted and l2_cache says N/A, and victims may outnumber the
    requests (text-outputs.md 3.2).
    """
    return python_round(divided(part, request), RATE_PLACES)
