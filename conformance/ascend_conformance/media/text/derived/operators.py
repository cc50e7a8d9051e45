"""What the files of operators state about waiting and performance counters, computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.pmu import cube_utilization, frequencies_in_force, total_time
from ascend_ref.derive.statistics import wait_times

from ..database import Facts
from .reading import Asked, by_engine, integers, read, reals, texts

DEVICE, BLOCKS, MIX_BLOCKS = "Device_id", "Block Num", "Mix Block Num"
UTILIZATION = "cube_utilization(%)"
NS_PER_US = 1e3
NUMBERS = range(1, 129)
"""Of cores of a kind; no device has more."""
SAMPLE = 4096
"""About the number of rows from which the number of cores is found."""
PRECISION = 0.0011
"""How far values of three decimals may lie apart."""
CLOCKS_OF_FEW_TICKS = 1e-4
"""The clock is stated in whole MHz."""


class Names(NamedTuple):
    """What columns of a file of operators are called."""

    name: str
    start: str
    duration: str
    core: str


FILES: Mapping[str, Names] = {
    "op_summary": Names("Op Name", "Task Start Time(us)", "Task Duration(us)", "Task Type"),
    "kernel_details": Names("Name", "Start Time(us)", "Duration(us)", "Accelerator Core"),
}


class Kind(NamedTuple):
    """A kind of core: the columns of its cycles and time, and the mixed tasks of which it is not
    the main kind.
    """

    cycles: tuple[str, ...]
    time: str
    mixed: str


KINDS: Mapping[str, Kind] = {
    "cube": Kind(("aic_total_cycles", "total_cycles"), "aicore_time(us)", "MIX_AIV"),
    "vector": Kind(("aiv_total_cycles",), "aiv_time(us)", "MIX_AIC"),
}
RATIOS = ("aic_mac_ratio", "mac_ratio", "mac_exe_ratio")
"""The share of the cube in the cycles, by layout."""


def wait(asked: Asked) -> pa.Table:
    """Wait times of the rows by engine, from their starts and durations."""
    rows = asked.rows()
    place, owner = rows.select(["file", "row"]), integers(rows, "device")
    start, duration = integers(rows, "start", 0), integers(rows, "duration", 0)
    whole = [0, len(rows)]
    by_device = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(rows)]
    parts = []
    for engine in get_args(Engine):
        bounds = by_device if engine == "python" else whole
        waits = [
            wait_times(start[low:high], duration[low:high], engine)
            for low, high in pairwise(bounds)
        ]
        parts.append((engine, place.append_column("wait", pa.array(np.concatenate(waits)))))
    return by_engine(parts)


def core_times(asked: Asked) -> pa.Table:
    """Time on the cores and cube utilization of each row, from its cycles and blocks.

    No file states the number of cores: it is the number that fits most rows. The clock is that of
    the timeline's samples, else the one that most rows show.
    """
    names = FILES[asked.given["file"]]
    wanted = {DEVICE, names.start, names.duration, names.core, BLOCKS, MIX_BLOCKS, UTILIZATION}
    cores = {one for kind in KINDS.values() for one in (*kind.cycles, kind.time)}
    rows = asked.rows_with({*wanted, *RATIOS, *cores})
    found: dict[str, object] = {"file": rows["file"], "row": rows["row"]}
    clock = _clock(asked.facts, rows, names)
    for name, kind in KINDS.items():
        found[name] = _time_on(rows, names, kind, clock)
    return pa.table({**found, **dict(_utilizations(rows, names, clock))})


def _time_on(rows: pa.Table, names: Names, kind: Kind, clock: Clock | None) -> pa.Array:
    """Time of each row on a kind of core; NULL where the file shows none."""
    column = _first(rows, kind.cycles)
    if column is None or not {kind.time, BLOCKS} <= set(rows.column_names):
        return pa.nulls(len(rows), pa.float64())
    cycles, shown = integers(rows, column, 0), reals(rows, kind.time)
    blocks = _blocks(rows, names, kind)
    frequency = (clock or _usual_clock(cycles, blocks, shown)).in_force

    def computed(number: int, some: Integers) -> Reals:
        return total_time(cycles[some], blocks[some], number, frequency[some])

    times = computed(_fitting(shown, computed), np.arange(len(rows)))
    return pa.array(times, mask=~np.isfinite(shown))


def _blocks(rows: pa.Table, names: Names, kind: Kind) -> Integers:
    """Blocks of each row on a kind of core."""
    blocks = integers(rows, BLOCKS, 0)
    if MIX_BLOCKS not in rows.column_names:
        return blocks
    mixed = np.array([core == kind.mixed for core in texts(rows, names.core)], np.bool_)
    return np.where(mixed, integers(rows, MIX_BLOCKS, 0), blocks)


class Clock(NamedTuple):
    """The clock in MHz at the end of each row, and the nominal one: the highest that is known."""

    in_force: Integers
    nominal: int


def _clock(facts: Facts, rows: pa.Table, names: Names) -> Clock | None:
    """The clock by the samples of the row's device, which begin with the session; None without."""
    if not facts.columns("trace.ai_core_freq"):
        return None
    samples = read(
        facts,
        'SELECT e.ts, coalesce(e."MHz", e.value) AS clock, p.device FROM trace.ai_core_freq e '
        "LEFT JOIN trace.process p ON p.file = e.file AND p.pid = e.pid "
        "WHERE e.ts IS NOT NULL ORDER BY e.ts, e.row",
    )
    moment, clock = integers(samples, "ts"), integers(samples, "clock", 0)
    if not len(clock) or not clock.all():
        return None
    length = np.nan_to_num(reals(rows, names.duration)).clip(0, 1e12) * NS_PER_US
    end = integers(rows, names.start) + np.rint(length).astype(np.int64)
    in_force = frequencies_in_force(moment, clock, end, int(clock[0]))
    if DEVICE in rows.column_names:
        sampled, device = integers(samples, "device"), integers(rows, DEVICE)
        for one in np.intersect1d(sampled, device).tolist():
            own, here = sampled == one, device == one
            first = int(clock[own][0])
            in_force[here] = frequencies_in_force(moment[own], clock[own], end[here], first)
    return Clock(in_force, int(clock.max()))


def _usual_clock(cycles: Integers, blocks: Integers, shown: Reals) -> Clock:
    """The clock in MHz that fits most of the rows that need one round of the cores."""
    usable = np.isfinite(shown) & (shown > 1) & (blocks > 0) & (cycles > 0)
    clocks = np.rint(cycles[usable] / blocks[usable] / shown[usable])
    values, count = np.unique(clocks, return_counts=True)
    usual = int(values[np.argmax(count)]) if len(values) else 1
    return Clock(np.full(len(cycles), usual), usual)


def _fitting(shown: Reals, computed: Callable[[int, Integers], Reals]) -> int:
    """The number of cores with which most of what rows show can be computed, of a sample."""
    rows = np.flatnonzero(np.isfinite(shown) & (shown != 0))
    rows = rows[:: max(1, len(rows) // SAMPLE)]
    fits = [
        int((np.abs(computed(number, rows) - shown[rows]) <= _slack(shown[rows])).sum())
        for number in NUMBERS
    ]
    return NUMBERS[int(np.argmax(fits))]


def _slack(shown: Reals) -> Reals:
    return PRECISION + CLOCKS_OF_FEW_TICKS * np.abs(shown)


def _utilizations(
    rows: pa.Table, names: Names, clock: Clock | None
) -> Iterator[tuple[str, pa.Array]]:
    """Cube utilization by engine; ``slack``: how far the rounding of the duration moves it."""
    cycles_of, ratio_of = _first(rows, KINDS["cube"].cycles), _first(rows, RATIOS)
    engines = get_args(Engine)
    if cycles_of is None or ratio_of is None or UTILIZATION not in rows.column_names:
        yield from ((f"utilization_{one}", pa.nulls(len(rows), pa.float64())) for one in engines)
        yield "slack", pa.nulls(len(rows), pa.float64())
        return
    cycles, ratio = integers(rows, cycles_of, 0), reals(rows, ratio_of)
    duration, shown = reals(rows, names.duration), reals(rows, UTILIZATION)
    # A ratio that is printed as 0 may be a small one, with which there is a utilization.
    ratio = np.where((ratio == 0) & (np.nan_to_num(shown) != 0), 1.0, ratio)
    if clock is None:
        time = reals(rows, KINDS["cube"].time)
        clock = _usual_clock(cycles, integers(rows, BLOCKS, 0), time)
    nominal = float(clock.nominal)

    def computed(number: int, some: Integers, engine: Engine = "python") -> Reals:
        return cube_utilization(
            cycles[some],
            ratio[some],
            duration[some],
            cores=number,
            frequency=nominal,
            engine=engine,
        )

    number, every = _fitting(shown, computed), np.arange(len(rows))
    for engine in engines:
        found = computed(number, every, engine)
        yield f"utilization_{engine}", pa.array(found, mask=~np.isfinite(found))
    moved = np.zeros(len(rows))
    np.divide(np.abs(shown) * 0.0006, duration, out=moved, where=duration > 0)
    yield "slack", pa.array(np.nan_to_num(moved))


def _first(rows: pa.Table, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in rows.column_names), None)
