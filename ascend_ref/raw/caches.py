"""What kernels ask of the L2 cache and of the TLB: events that devices count for each task.

Which events there are sample.json states; a column of the recording is a sum of them that the chip
decides (upstream-msprof L2CacheConfig, SocPmuConfig).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.records import Records
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import records

from .machine import chip_of

Columns = Mapping[str, npt.NDArray[Any]]

FAULTS = "page_fault"
KINDS: Mapping[str, str] = {"l2_cache": "l2_cache", "soc_pmu": "soc_pmu", FAULTS: "soc_pmu"}
"""The kinds of files that hold the records of the recording."""
DATA: Mapping[str, int] = {
    "l2_cache": records.CACHE_DATA,
    "soc_pmu": records.TLB_DATA,
    FAULTS: records.FAULT_DATA,
}
"""Kinds of records in files that have several."""
MOST = 1 << 59
"""No counter shows as many events, so that no sum of some exceeds 64 bits."""
SETTINGS: Mapping[str, tuple[str, str]] = {
    "l2_cache": ("l2CacheTaskProfilingEvents", ""),
    "soc_pmu": ("npuEvents", "SMMU:"),
}
"""Keys of sample.json that list the events, and what stands in front of those of the record."""
_MINUS = "-"


def events_of(record: str, chip: int) -> tuple[str, ...]:
    """The events that a record of a chip needs, none where the chip has no such file."""
    if chip not in raw_catalog().files[record].chips:
        return ()
    columns = raw_catalog().chips[chip].events.get(record, {}).values()
    every = (one.removeprefix(_MINUS) for events in columns for one in events)
    return tuple(dict.fromkeys(every))


def listed_events(record: str, sample: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The numbers of the events in the order of the counters; ``None`` without such a list."""
    if record not in SETTINGS:
        return ()
    key, prefix = SETTINGS[record]
    for part in str(sample.get(key, "")).split(";"):
        if part.strip().upper().startswith(prefix):
            words = part.strip()[len(prefix) :].split(",")
            try:
                return tuple(int(one, 16) for one in words)
            except ValueError:
                continue
    return None


def sums_of(
    record: str, chip: int | None, listed: Sequence[int], events: Integers
) -> dict[str, Integers] | None:
    """The columns of a record from its counters; ``None`` where one that they need is not listed.

    events: one row for each task, in the order of the list. Page faults need no list.
    """
    if record == FAULTS:
        return {"faults": events[:, 0]}
    if chip is None:
        return None
    found = {}
    for column, wanted in raw_catalog().chips[chip].events[record].items():
        numbers = [int(one.removeprefix(_MINUS), 16) for one in wanted]
        if any(one not in listed[: events.shape[1]] for one in numbers):
            return None
        places = [listed.index(one) for one in numbers]
        found[column] = events[:, places] @ _signs(wanted)
    return found


def cache_settings(capture: Capture) -> dict[str, str]:
    """What sample.json states of the events that were counted."""
    return {
        key: prefix + ",".join(events_of(record, chip_of(capture.origin)))
        for record, (key, prefix) in SETTINGS.items()
        if record in capture.records and events_of(record, chip_of(capture.origin))
    }


def raw_record(kind: str, chip: int) -> str:
    """The declaration of the records in a kind of files of a chip."""
    file = raw_catalog().files[kind]
    (name,) = {one.record for one in file.members if chip in one.chips}
    return name


def mask_of(kind: str, chip: int) -> int:
    """The greatest number of a task that records of a chip have room for."""
    return int(np.iinfo(dtype_of(raw_catalog().record(raw_record(kind, chip)))["taskId"]).max)


def held_of_caches(capture: Capture) -> Records:
    """The records as raw files hold them; those that events cannot give are left out."""
    found = {}
    chip = chip_of(capture.origin)
    for record, kind in KINDS.items():
        table = capture.records.get(record)
        if table is None or chip not in raw_catalog().files[kind].chips:
            continue
        given = as_events(record, chip, table)
        own = np.flatnonzero(np.all(given >= 0, axis=1))
        number = table["number"] & mask_of(kind, chip)
        kept: dict[str, Integers] = {**table, "number": number}
        found[record] = {name: values[own] for name, values in kept.items()}
    return found


def as_events(record: str, chip: int, table: Columns) -> Integers:
    """Counters whose sums are the columns of a record, in the order of :func:`events_of`.

    A column of several events is given by the first of them that no other column has, so that
    columns that share events are consistent.
    """
    if record == FAULTS:
        return table["faults"][:, None]
    every = events_of(record, chip)
    columns = raw_catalog().chips[chip].events[record]
    count = len(next(iter(table.values())))
    found = np.zeros((count, len(every)), np.int64)
    done: set[str] = set()
    for column in sorted(columns, key=lambda one: len(columns[one])):
        names = [one.removeprefix(_MINUS) for one in columns[column]]
        signs = _signs(columns[column])
        places = [every.index(one) for one in names]
        rest = table[column] - found[:, places] @ signs
        own = next(at for at, one in enumerate(names) if one not in done)
        found[:, places[own]] = rest * signs[own]
        done.update(names)
    return found


def _signs(events: Sequence[str]) -> Integers:
    return np.array([-1 if one.startswith(_MINUS) else 1 for one in events], np.int64)
