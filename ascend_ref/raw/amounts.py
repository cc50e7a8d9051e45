"""Amounts since the sample before: what they are in raw files and in tables (raw-prof 4.8, 4.9).

Each function of :data:`RATES` gives the values of a table that raw files can hold, in its units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Reals
from ascend_ref.derive.matching import groups
from ascend_spec import raw_catalog

from .fields import field_showing
from .rates import amounts, rates

Columns = Mapping[str, npt.NDArray[Any]]

PERIOD = 20_000_000
"""ns before the only sample of a series; msprof samples 50 times per second by default."""

NO_MASTER = np.iinfo(np.uint32).max
"""Master of accesses to the DDR memory that are not of one master alone."""
HCCS = {"sent": "txThroughput", "received": "rxThroughput"}
"""Columns by the parts of a line that they are the growth of."""

SIO = {
    f"{kind}{way.capitalize()}": f"{way}{kind.capitalize()}"
    for way in ("rx", "tx")
    for kind in ("req", "rsp", "snp", "dat")
}
"""Columns by the fields of a record."""
LINE = 64 * 64
"""Byte that one event of a cache stands for: exporters multiply by the size of a line twice."""
PASSED = (0, 1)
"""Events that pass data, by their place in the lists of :data:`EVENTS`."""
HITS = (2, 3, 5, 7)
ACCESSES = (4, 6)
EVENTS: Mapping[str, tuple[int, ...]] = {
    "read": (0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36),
    "write": (0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37),
}
"""Numbers of the events of a cache by mode (raw-prof 4.8)."""
_PARTS_OF_HITS = 1_000


def counter_of(column: str) -> str | None:
    """The part of a line of netdev_stats that a column of NETDEV_STATS is the growth of.

    ``None`` for bandwidths, which follow.
    """
    if column.endswith("Bandwidth"):
        return None
    name = re.sub("([A-Z])", r"_\1", column).lower()
    for end, counted in (("_byte", "_oct_num"), ("_pkt", "_pkt_num"), ("_rty", "_rty_num")):
        if name.endswith(end):
            name = name.removesuffix(end) + counted
    inserted = {"mac": "total_", "roce": "all_", "nic": "all_"}
    layer, way, rest = name.split("_", 2)
    if rest in ("oct_num", "pkt_num"):
        rest = inserted[layer] + rest
    return f"{layer}_{way}_{rest}"


def dies_of(declaration: construct.Struct) -> tuple[str, str]:
    """The field of a record of SIO that holds the die, and the set that names its numbers."""
    field = field_showing(declaration, "sio.channel")
    return str(field.name), field.facts.values or ""


def since(time: Integers, *series: Integers) -> Integers:
    """ns from the sample before of the same series, 0 for the first one of a series."""
    _, group = groups(*series)
    order = np.lexsort((time, group))
    found = np.zeros(len(time), np.int64)
    same = group[order][1:] == group[order][:-1]
    found[order[1:][same]] = np.diff(time[order])[same]
    return found


def intervals(time: Integers, *series: Integers) -> Integers:
    """ns that the amounts of samples are of; of the first one of a series as many as of the next.

    Tables show no sample to which the first is compared, raw files have one.
    """
    _, group = groups(*series)
    order = np.lexsort((time, group))
    found = since(time, *series)
    first = np.append(True, np.diff(group[order]) != 0)[: len(order)]
    following = np.append(found[order][1:], 0)
    alone = np.append(first[1:], True)[: len(order)]
    found[order[first]] = np.where(alone, PERIOD, following)[first]
    return found


def ddr_event(chip: int) -> int:
    """Byte that one event of the DDR memory of a chip counts."""
    return raw_catalog().chips[chip].ddr_bits // 8


def cache_counts(table: Columns) -> tuple[Integers, Integers, Integers]:
    """Events of the caches that pass data, accesses and hits, from rates and shares."""
    length = since(table["timestampNs"], table["deviceId"], table["llcId"])
    passed = amounts(table["throughput"], length, LINE)
    accesses = -(-np.maximum(passed, 1) * (LINE // 64) // _PARTS_OF_HITS) * _PARTS_OF_HITS
    hits = np.rint(table["hitRate"] * accesses / 100).astype(np.int64)
    return passed, accesses, hits


def hit_rates(hits: Integers, accesses: Integers) -> Reals:
    """Percent of the accesses, 0 of none."""
    return np.where(accesses > 0, hits / np.maximum(accesses, 1) * 100, 0.0)


def _of_hccs(table: Columns, _: int) -> Columns:
    length = intervals(table["timestampNs"], table["deviceId"])
    return {
        **table,
        **{name: rates(amounts(table[name], length), length) for name in HCCS.values()},
    }


def _of_network(table: Columns, _: int) -> Columns:
    length = intervals(table["timestampNs"], table["deviceId"])
    return {**table, **network_rates(table, length)}


def network_rates(table: Columns, length: Integers) -> Columns:
    """The bandwidths of NETDEV_STATS, each from the bytes of the same layer and direction."""
    return {
        name.replace("Byte", "Bandwidth"): rates(column, length)
        for name, column in table.items()
        if name.replace("Byte", "Bandwidth") in table and name.endswith("Byte")
    }


def _of_ddr(table: Columns, chip: int) -> Columns:
    length, each = since(table["timestampNs"], table["deviceId"]), ddr_event(chip)
    return {
        **table,
        **{
            name: rates(amounts(table[name], length, each), length, each)
            for name in ("read", "write")
        },
    }


def _of_cache(table: Columns, _: int) -> Columns:
    length = since(table["timestampNs"], table["deviceId"], table["llcId"])
    passed, accesses, hits = cache_counts(table)
    return {
        **table,
        "throughput": rates(passed, length, LINE),
        "hitRate": hit_rates(hits, accesses),
    }


def _of_dies(table: Columns, _: int) -> Columns:
    length = intervals(table["timestampNs"], table["deviceId"], table["name"])
    return {
        **table,
        **{name: rates(die_amounts(table[name], length), length) for name in SIO.values()},
    }


def die_amounts(rate: Integers, length: Integers) -> Integers:
    """What a record of SIO has for a rate; its fields have 32 bits."""
    return np.minimum(amounts(rate, length), np.iinfo(np.uint32).max)


RATES: Mapping[str, Callable[[Columns, int], Columns]] = {
    "DDR": _of_ddr,
    "HCCS": _of_hccs,
    "LLC": _of_cache,
    "NETDEV_STATS": _of_network,
    "SIO": _of_dies,
}
"""Tables of amounts that raw files hold, from the table and the number of the chip."""
