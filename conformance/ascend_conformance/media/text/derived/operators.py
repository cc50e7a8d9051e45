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
from .reading import Asked, by_engine, integers, last_unit, read, reals, texts

DEVICE, BLOCKS, MIX_BLOCKS = "Device_id", "Block Num", "Mix Block Num"
UTILIZATION = "cube_utilization(%)"
NS_PER_US = 1e3
NUMBERS = range(1, 129)
"""Of cores of a kind; no device has more."""
CLOCKS = range(500, 2501)
"""MHz; the products of simulator/ascend_simulator/hardware/products.yaml run at 1000 to 1800."""
ROUND_CLOCK = 50
"""Rated clocks are multiples of it, in MHz."""
UNITS = (1.0, 1e3, 1e-3)
"""Of times: us, ms and ns."""
MOST = 1e12
"""us, cycles and blocks; what is more was not measured."""
SAMPLE = 4096
"""About the number of rows from which clock and cores are found."""
USUAL_ROWS = 16
"""Rows whose capacity is tried."""
NEARLY = 1 + 1e-9
CERTAIN = 0.9
"""The part of the rows from which clock and cores are certain, though no file states them."""


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
INPUTS = ("cycles", "blocks", "clock", "cores", "rounds")
"""What the time is computed from; the clock in MHz."""
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
    """Time on the cores and cube utilization of each row, with what they are computed from.

    The clock is that of the timeline's samples, else the one that the rows fit together with the
    number of cores, which no file states. ``{kind}_unknown``: why they do not fit.
    """
    names = FILES[asked.given["file"]]
    wanted = {DEVICE, names.start, names.duration, names.core, BLOCKS, MIX_BLOCKS, UTILIZATION}
    cores = {one for kind in KINDS.values() for one in (*kind.cycles, kind.time)}
    rows = asked.rows_with({*wanted, *RATIOS, *cores})
    found: dict[str, object] = {"file": rows["file"], "row": rows["row"]}
    clock = _clock(asked.facts, rows, names)
    for name, kind in KINDS.items():
        found |= {f"{name}{end}": values for end, values in _times_on(rows, names, kind, clock)}
    return pa.table({**found, **dict(_utilizations(rows, names, clock))})


def _times_on(
    rows: pa.Table, names: Names, kind: Kind, clock: Clock | None
) -> Iterator[tuple[str, pa.Array]]:
    """Time of each row on a kind of core and what it is computed from; NULL without any."""
    column = _first(rows, kind.cycles)
    if column is None:
        yield "", pa.nulls(len(rows), pa.float64())
        yield "_unknown", pa.nulls(len(rows), pa.string())
        yield from ((f"_{name}", pa.nulls(len(rows), pa.float64())) for name in INPUTS)
        return
    cycles, shown = integers(rows, column, 0), reals(rows, kind.time)
    blocks = _blocks(rows, names, kind)
    fit = _fit(cycles, blocks, shown, clock)
    times = total_time(cycles, blocks, fit.cores, fit.clock)
    # Where no row shows the clock, no cycles are no time all the same.
    hidden = ~np.isfinite(shown) | ((fit.tried == 0) & (cycles > 0))
    yield "", pa.array(times, mask=hidden)
    yield "_unknown", pa.array([fit.unknown] * len(rows), pa.string())
    cores = np.full(len(rows), fit.cores)
    inputs = (cycles, blocks, fit.clock, cores, _rounds(blocks, fit.cores))
    yield from zip((f"_{name}" for name in INPUTS), map(pa.array, inputs), strict=True)


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


class Fit(NamedTuple):
    """A clock in MHz for each row and a number of cores, of which samples of the rows fit some.

    ``states``: whether the timeline states the clock.
    """

    clock: Integers
    cores: int
    fits: int
    tried: int
    states: bool = False

    @property
    def unknown(self) -> str | None:
        """Why nothing can be computed with them."""
        if self.states or self.fits >= CERTAIN * self.tried:
            return None
        return (
            f"no clock from {CLOCKS[0]} to {CLOCKS[-1]:,} MHz and number of cores fit: the best, "
            f"{self.clock[0]:,} MHz and {self.cores}, fit {self.fits:,} of {self.tried:,} rows"
        )


def _fit(cycles: Integers, blocks: Integers, shown: Reals, clock: Clock | None) -> Fit:
    """The clock and the number of cores that fit most rows.

    A clock that samples state counts, unless one that never changes fits far better: older writers
    do not heed the samples. Times in another unit fit no clock, but still show it.
    """
    unit = last_unit(shown)
    usable = (shown > 2 * unit) & (shown < MOST) & (blocks > 0) & (blocks < MOST)
    rows = np.flatnonzero(usable & (cycles > 0) & (cycles < MOST))
    rows = rows[:: max(1, len(rows) // SAMPLE)]
    some = cycles[rows], blocks[rows], shown[rows]
    if clock is not None:
        fits, cores, _ = _best_fit(*some, unit, clock.in_force[rows])
        stated = Fit(clock.in_force, cores, fits, len(rows), states=True)
        if fits >= CERTAIN * len(rows):
            return stated
    found = []
    for by in UNITS:
        fits, cores, usual = _best_fit(*some[:2], some[2] * by, unit * by)
        found.append(Fit(np.full(len(shown), usual), cores, fits, len(rows)))
    known = next((one for one in found if one.unknown is None), None)
    return known or (found[0] if clock is None else stated)


def _best_fit(
    cycles: Integers, blocks: Integers, shown: Reals, unit: float, stated: Integers | None = None
) -> tuple[int, int, int]:
    """How many rows fit at most, the number of cores, and the clock if none is stated."""
    best = (-1, False, 0, -1), 1
    for cores in NUMBERS:
        rounds = _rounds(blocks, cores)
        work = cycles / blocks * rounds
        if stated is not None:
            usual = [(int((np.abs(work / stated - shown) <= unit * NEARLY).sum()), 1)]
        else:
            usual = _usual_clocks(work, shown, unit)
        for fits, clock in usual:
            order = (fits, clock % ROUND_CLOCK == 0, -int(rounds.sum()), -cores)
            best = max(best, (order, clock))
    (fits, _, _, cores), clock = best
    return fits, -cores, clock


def _rounds(blocks: Integers, cores: int) -> Integers:
    """How often the blocks fill the cores."""
    return (blocks + cores - 1) // cores


def _usual_clocks(work: Reals, shown: Reals, unit: float) -> list[tuple[int, int]]:
    """Of all clocks and of the round ones that which most rows fit: their number, the clock in MHz.

    work: cycles that each row takes. shown: us.
    """
    low = np.ceil(work / (shown + unit * NEARLY)).clip(CLOCKS[0], CLOCKS[-1] + 1)
    high = np.floor(work / (shown - unit * NEARLY)).clip(CLOCKS[0] - 1, CLOCKS[-1])
    some = low <= high
    steps = np.zeros(len(CLOCKS) + 1, np.int64)
    np.add.at(steps, low[some].astype(np.int64) - CLOCKS[0], 1)
    np.add.at(steps, high[some].astype(np.int64) - CLOCKS[0] + 1, -1)
    fits = np.cumsum(steps[:-1])
    is_round = np.arange(CLOCKS[0], CLOCKS[-1] + 1) % ROUND_CLOCK == 0
    found = (int(np.argmax(one)) for one in (fits, np.where(is_round, fits, -1)))
    return [(int(fits[place]), CLOCKS[place]) for place in found]


def _utilizations(
    rows: pa.Table, names: Names, clock: Clock | None
) -> Iterator[tuple[str, pa.Array]]:
    """Cube utilization by engine, with ``capacity``: clock in MHz times cores."""
    cycles_of, ratio_of = _first(rows, KINDS["cube"].cycles), _first(rows, RATIOS)
    engines = get_args(Engine)
    if cycles_of is None or ratio_of is None or UTILIZATION not in rows.column_names:
        for one in engines:
            yield f"utilization_{one}", pa.nulls(len(rows), pa.float64())
            yield f"unknown_{one}", pa.nulls(len(rows), pa.string())
            yield f"capacity_{one}", pa.nulls(len(rows), pa.float64())
        return
    cycles, ratio = integers(rows, cycles_of, 0), reals(rows, ratio_of)
    duration, shown = reals(rows, names.duration), reals(rows, UTILIZATION)
    # A ratio that is printed as 0 may be a small one, with which there is a utilization.
    ratio = np.where((ratio == 0) & (np.nan_to_num(shown) != 0), 1.0, ratio)
    for engine in engines:

        def computed(some: Integers, capacity: float, engine: Engine = engine) -> Reals:
            return cube_utilization(
                cycles[some],
                ratio[some],
                duration[some],
                cores=1,
                frequency=capacity,
                engine=engine,
            )

        capacity, unknown = _capacity(cycles, duration, shown, clock, computed)
        found = computed(np.arange(len(rows)), capacity)
        hidden = ~np.isfinite(found) | ~np.isfinite(shown)
        yield f"utilization_{engine}", pa.array(found, mask=hidden)
        yield f"unknown_{engine}", pa.array([unknown] * len(rows), pa.string())
        yield f"capacity_{engine}", pa.array(np.full(len(rows), capacity))


def _capacity(
    cycles: Integers,
    duration: Reals,
    shown: Reals,
    clock: Clock | None,
    computed: Callable[[Integers, float], Reals],
) -> tuple[float, str | None]:
    """Clock in MHz times cores, with which most of what rows show can be computed.

    With the reason why it is unknown, where no samples state the clock and too few rows fit.
    """
    unit = last_unit(shown)
    usable = (shown >= unit) & (shown < MOST) & (duration >= unit) & (duration < MOST)
    rows = np.flatnonzero(usable & (cycles > 0))
    rows = rows[:: max(1, len(rows) // SAMPLE)]
    if not len(rows):
        return 1.0, None
    inexact = unit + shown[rows] * last_unit(duration) / duration[rows]
    if clock is not None:
        tried = [float(clock.nominal * number) for number in NUMBERS]
    else:
        best = rows[np.argsort(inexact / shown[rows], kind="stable")[:USUAL_ROWS]]
        tried = (cycles[best] / duration[best] / shown[best] * 100).tolist()
    fits = [int((np.abs(computed(rows, one) - shown[rows]) <= inexact).sum()) for one in tried]
    most = int(np.argmax(fits))
    if clock is not None or fits[most] >= CERTAIN * len(rows):
        return tried[most], None
    return tried[most], (
        f"no clock and number of cores fit: the best, together {tried[most]:,.0f} MHz, fit "
        f"{fits[most]:,} of {len(rows):,} rows"
    )


def _first(rows: pa.Table, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in rows.column_names), None)
