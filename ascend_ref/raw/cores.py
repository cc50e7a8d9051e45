"""Cores that are sampled by time: their records, and the two tables that are made of them.

Both directions. Sources: raw-prof 4.7; upstream-msprof ai_core_sample_parser.py, chip_model.py and
unified_pmu_processor.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers, Reals, Texts
from ascend_ref.derive.pmu import FIRST_INTERVAL, core_load, total_time
from ascend_ref.spill import InMemory, Spill
from ascend_spec import raw_catalog
from ascend_spec.core.packed import ClockName
from ascend_spec.text.model import Core, Mode

from .counters import Counts, Side, events_of, made_of, sides_of
from .fields import time_field
from .machine import chip_of, family_of
from .moments import Clocks

Columns = Mapping[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.bool_]

LOAD, SUMMARY = "SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"
SAMPLED: Mode = "sample-based"
TYPES: Mapping[str, Core] = {"AIC": "aic", "AIV": "aiv"}
"""Kinds of cores, by their names in the tables."""
_SEPARATE: Mapping[Core, str] = {"aic": "aicore", "aiv": "ai_vector_core"}
"""Kinds of files of chips whose kinds of cores have files of their own."""
_TOGETHER = "ffts_profile"
"""That of all cores of other chips; their numbers show which of both they are."""
MOST_CORES = 1 << 8
"""More than a record can number."""


class Source(NamedTuple):
    """Where the samples of some kinds of cores stand: a kind of files and the records in it.

    when: keys of side files and what each of them has then.
    """

    file: str
    record: str
    cores: tuple[Core, ...]
    when: tuple[tuple[str, str], ...]

    def clock(self) -> tuple[str, ClockName]:
        """The field of a record's time, and the name of its clock."""
        return time_field(raw_catalog().record(self.record))


def sources(chip: int) -> tuple[Source, ...]:
    """The files of samples that a chip has."""
    every = {_TOGETHER: tuple(TYPES.values()), **{file: (one,) for one, file in _SEPARATE.items()}}
    return tuple(
        Source(kind, member.record, cores, tuple(member.when.items()))
        for kind, cores in every.items()
        for member in raw_catalog().files[kind].members
        if chip in member.chips and f"table/{LOAD}" in member.feeds
    )


def is_of(core: Core, source: Source, chip: int, number: Integers) -> Mask:
    """Which cores of a file are of a kind: those before the first vector core are cubes."""
    if len(source.cores) == 1:
        return np.full(len(number), core in source.cores)
    is_vector = number >= raw_catalog().chips[chip].first_vector
    found: Mask = is_vector if core == "aiv" else ~is_vector
    return found


def distinct(spill: Spill, core: Integers, time: Integers) -> Integers:
    """The rows without those of the core and the time of the row before; in order of both."""
    if not len(time):
        return time

    def differs(own: Integers, before: Integers, at: Integers, earlier: Integers) -> Mask:
        found: Mask = (own != before) | (at != earlier)
        return found

    later = spill.where(differs, core[1:], core[:-1], time[1:], time[:-1])
    return spill.joined(np.zeros(1, np.int64), spill.made(lambda row: row + 1, later))


def intervals(spill: Spill, core: Integers, time: Integers) -> Integers:
    """ns since the sample before of the same core; rows are in order of core and time."""
    if not len(time):
        return time

    def since(own: Integers, before: Integers, at: Integers, earlier: Integers) -> Integers:
        return np.where(own == before, at - earlier, FIRST_INTERVAL)

    later = spill.made(since, core[1:], core[:-1], time[1:], time[:-1])
    return spill.joined(np.array([FIRST_INTERVAL]), later)


def load_table(
    spill: Spill, time: Integers, cycles: Integers, core: Integers, kind: int, frequency: int
) -> Columns:
    """Columns of SAMPLE_PMU_TIMELINE of one kind of core, but for the device.

    Rows are in order of core and time. kind: its number as a text. frequency: nominal, MHz, to
    which exporters relate the cycles of cubes and vectors alike.
    """
    load = partial(core_load, frequency=frequency)
    return {
        "timestampNs": time,
        "totalCycle": cycles,
        "usage": spill.made(load, cycles, intervals(spill, core, time), kind=np.float64),
        "freq": _constant(spill, frequency, len(time)),
        "coreId": core,
        "coreType": _constant(spill, kind, len(time)),
    }


def _constant(spill: Spill, value: int, rows: int) -> Integers:
    filled = (np.full(batch.stop - batch.start, value, np.int64) for batch in spill.batches(rows))
    return spill.array(filled, np.int64)


def summary_table(
    side: Side, family: str, cores: Integers, found: Counts, frequency: int, texts: Texts
) -> Columns:
    """Columns of SAMPLE_PMU_SUMMARY of one kind of core, but for the device: metric by metric.

    found: sums over the samples of each of the ``cores``.
    """
    time = total_time(found.cycles, np.ones(len(cores), np.int64), 1, frequency)
    values = made_of(side, family, found, time, frequency)
    kind = next(name for name, core in TYPES.items() if core == side.core)
    return {
        "metric": np.repeat(texts.numbers(side.names), len(cores)),
        "value": values.T.reshape(-1),
        "coreId": np.tile(cores, len(side.metrics)),
        "coreType": np.full(values.size, texts.number(kind)),
    }


class Sampled(NamedTuple):
    """The samples of one kind of core of a device, in order of core and time.

    side: what they counted; None where that is not known.
    """

    device: int
    kind: str
    source: Source
    side: Side | None
    time: Integers
    cycles: Integers
    core: Integers

    def in_order(self) -> Sampled:
        """In order, without further samples of a core at one time."""
        order = np.lexsort((self.time, self.core))
        order = order[distinct(InMemory(), self.core[order], self.time[order])]
        columns = (column[order] for column in (self.time, self.cycles, self.core))
        return Sampled(*self[:4], *columns)


def sampled_of(capture: Capture) -> list[Sampled]:
    """The samples of a capture that its chip has files for, cubes before vectors."""
    table = capture.samples.get(LOAD)
    if table is None or not len(table["timestampNs"]) or capture.origin.facts is None:
        return []
    sides = {one.core: one for one in sides_of(capture, SAMPLED)}
    chip, number = chip_of(capture.origin), table["coreId"]
    found = []
    for device in np.unique(table["deviceId"]).tolist():
        for source in sources(chip):
            for kind, core in TYPES.items():
                own = table["deviceId"] == device
                own &= table["coreType"] == capture.texts.number(kind)
                own &= (number >= 0) & (number < MOST_CORES) & is_of(core, source, chip, number)
                if core not in source.cores or not own.any():
                    continue
                columns = (table[name][own] for name in ("timestampNs", "totalCycle", "coreId"))
                found.append(Sampled(device, kind, source, sides.get(core), *columns).in_order())
    return found


def counts_of_cores(capture: Capture, one: Sampled) -> tuple[Integers, Counts]:
    """The cores of samples, and what each of them counted together, by SAMPLE_PMU_SUMMARY."""
    cores, place = np.unique(one.core, return_inverse=True)
    cycles = np.zeros(len(cores), np.int64)
    np.add.at(cycles, place, one.cycles)
    if one.side is None or capture.origin.facts is None:
        return cores, Counts(cycles, np.zeros((len(cores), 0), np.int64), 0 * cycles)
    events = events_of(
        one.side,
        family_of(capture.origin),
        _metrics_of(capture, one, cores),
        cycles,
        capture.origin.facts.frequency,
    )
    return cores, Counts(cycles, events, 0 * cycles)


def _metrics_of(capture: Capture, one: Sampled, cores: Integers) -> Mapping[str, Reals]:
    """The metrics of cores by name; 0 of those that have none."""
    table, every = capture.samples.get(SUMMARY), capture.texts.all
    if table is None:
        return {}
    own = (table["deviceId"] == one.device) & np.isin(table["coreId"], cores)
    own &= table["coreType"] == capture.texts.number(one.kind)
    place = np.searchsorted(cores, table["coreId"][own])
    found: dict[str, Reals] = {}
    for number in np.unique(table["metric"][own]).tolist():
        column = found.setdefault(every[number], np.zeros(len(cores)))
        mine = table["metric"][own] == number
        column[place[mine]] = table["value"][own][mine]
    return found


def held_of_cores(capture: Capture, clocks: Clocks, lost: list[str]) -> dict[str, Columns]:
    """The samples of cores that raw files hold, at the times that their clocks show.

    lost: gets what they do not hold, a phrase each.
    """
    facts, texts, spill = capture.origin.facts, capture.texts, InMemory()
    tables: dict[str, list[Columns]] = {LOAD: [], SUMMARY: []}
    for every in sampled_of(capture):
        clock = clocks.by_name(every.source.clock()[1])
        one = every._replace(time=clock.times(clock.ticks(every.time))).in_order()
        if facts is None:
            continue
        kind = texts.number(one.kind)
        load = load_table(spill, one.time, one.cycles, one.core, kind, facts.frequency)
        tables[LOAD].append(of_device(spill, load, one.device))
        if one.side is not None:
            cores, counts = counts_of_cores(capture, one)
            family = family_of(capture.origin)
            summary = summary_table(one.side, family, cores, counts, facts.frequency, texts)
            tables[SUMMARY].append(of_device(spill, summary, one.device))
    found = {name: joined_tables(spill, parts) for name, parts in tables.items() if parts}
    lost += [f"the samples of {name}" for name in tables if name in capture.samples.keys() - found]
    missing = _rows(capture.samples.get(LOAD)) - _rows(found.get(LOAD))
    if LOAD in found and missing:
        lost.append(f"{missing:,} samples of cores that the chip does not number so")
    return found


def _rows(table: Columns | None) -> int:
    return 0 if table is None else len(table["deviceId"])


def of_device(spill: Spill, table: Columns, device: int) -> Columns:
    """A table with the column of its device."""
    rows = len(next(iter(table.values())))
    return {"deviceId": _constant(spill, device, rows), **table}


def joined_tables(spill: Spill, parts: Sequence[Columns]) -> Columns:
    """Tables one behind the other."""
    return {
        name: spill.array(
            (one[name][batch] for one in parts for batch in spill.batches(len(one[name]))),
            column.dtype.type,
        )
        for name, column in parts[0].items()
    }
