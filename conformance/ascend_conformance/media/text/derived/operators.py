"""What the files of operators tell of waiting and of performance counters, computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.decimals import Engine
from ascend_ref.derive.pmu import cube_utilization, frequencies_in_force, total_time
from ascend_ref.derive.wait_time import wait_times
from ascend_spec import text_catalog

from ....compare.match import Cell
from ....compare.sql import quoted, text_literal
from ..database import Facts
from ..made import Derived, Input
from .reading import integers, read, reals, texts

DEVICE, BLOCKS, MIX_BLOCKS = "Device_id", "Block Num", "Mix Block Num"
UTILIZATION = "cube_utilization(%)"
NS_PER_US = 1e3
NUMBERS = range(1, 129)
"""Of cores of a kind; no device has more."""
SAMPLE = 4096
"""Rows from which the number of cores is told."""
PRECISION = 0.0011
"""How far values of three decimals may lie apart."""
CLOCKS_OF_FEW_TICKS = 1e-4
"""The clock is told in whole MHz."""


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


def _wait(file: str, facts: Facts) -> pa.Table:
    """Wait times of the rows by engine, from their starts and durations."""
    names = FILES[file]
    device = quoted(DEVICE) if DEVICE in facts.columns(f"csv.{file}") else "NULL"
    rows = read(
        facts,
        f"SELECT file, row, {device} AS device, {quoted(names.start)} AS start, "
        f"ns({quoted(names.duration)}) AS duration FROM csv.{file} ORDER BY file, row",
    )
    owner = integers(rows, "device")
    start, duration = integers(rows, "start", 0), integers(rows, "duration", 0)
    parts = []
    for engine in get_args(Engine):
        bounds = [0, len(rows)]
        if engine == "python":
            bounds = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(rows)]
        waits = [
            wait_times(start[low:high], duration[low:high], engine)
            for low, high in pairwise(bounds)
        ]
        table = rows.select(["file", "row"]).append_column("wait", pa.array(np.concatenate(waits)))
        parts.append(table.append_column("engine", pa.array([engine] * len(rows), pa.string())))
    return pa.concat_tables(parts)


def _counters(file: str, facts: Facts) -> pa.Table:
    """Every counter of every row, by the name that it has in TASK_PMU_INFO and in its unit there.

    ``scale`` is what one unit of the file is in the database, where times are ns.
    """
    have = facts.columns(f"csv.{file}")
    keys = ", ".join(
        f"{quoted(column) if column in have else 'NULL::BIGINT'} AS {name}"
        for name, column in {
            "device": DEVICE,
            "stream": "Stream ID",
            "task": "Task ID",
            "context": "Context ID",
            "start": FILES[file].start,
        }.items()
    )
    totals = dict(_totals(have))
    metrics = {
        column.name: (
            totals.get(column.name, column.metric).lower(),
            NS_PER_US if column.unit == "us" else 1.0,
        )
        for column in text_catalog().csv[file].columns
        if column.metric is not None and column.name in have
    }
    parts = [
        f'SELECT file, row, {keys}, {text_literal(name)} AS "column", '
        f"{text_literal(metric)} AS metric, {scale} * {quoted(name)} AS value, "
        f"{scale}::DOUBLE AS scale FROM csv.{file} WHERE {quoted(name)} IS NOT NULL"
        for name, (metric, scale) in metrics.items()
    ]
    nothing = (
        f"SELECT file, row, {keys}, '' AS \"column\", '' AS metric, 0.0::DOUBLE AS value, "
        f"1.0::DOUBLE AS scale FROM csv.{file} WHERE false"
    )
    return read(facts, " UNION ALL ".join([nothing, *parts]))


def _totals(have: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Headers of totals with their metrics; the block tells which one aicore_time(us) is."""
    for layout in text_catalog().pmu.layouts:
        for block in layout.blocks:
            if {text for text, _ in block.totals} <= set(have):
                yield from ((text, block.prefix + name) for text, name in block.totals)


def _core_times(file: str, facts: Facts) -> pa.Table:
    """Time on the cores and cube utilization of each row, from its cycles and blocks.

    How many cores there are no file tells: it is the number that fits most rows. The clock is that
    of the timeline's samples, else the one that most rows tell.
    """
    names, have = FILES[file], facts.columns(f"csv.{file}")
    wanted = [DEVICE, names.start, names.duration, names.core, BLOCKS, MIX_BLOCKS]
    wanted += [UTILIZATION, *RATIOS]
    wanted += [one for kind in KINDS.values() for one in (*kind.cycles, kind.time)]
    known = ", ".join(quoted(one) for one in dict.fromkeys(wanted) if one in have)
    rows = read(facts, f"SELECT file, row, {known} FROM csv.{file} ORDER BY file, row")
    found: dict[str, object] = {"file": rows["file"], "row": rows["row"]}
    clock = _clock(facts, rows, names)
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
    """The clock in MHz at the end of each row, and the nominal one: the fastest that is told."""

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
    """The clock in MHz that most rows tell that need one round of the cores."""
    told = np.isfinite(shown) & (shown > 1) & (blocks > 0) & (cycles > 0)
    clocks = np.rint(cycles[told] / blocks[told] / shown[told])
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


def _tables(file: str) -> Iterator[Derived]:
    source, start = f"csv.{file}", FILES[file].start
    yield Derived(
        f"wait_time_of_{file}",
        "Gaps before the rows, us.",
        (source,),
        partial(_wait, file),
        of=source,
        cells={"wait": Cell(source, FILES[file].duration)},
        inputs=(Input(source, FILES[file].duration), Input(source, start)),
    )
    yield Derived(
        f"counters_of_{file}",
        "Performance counters, a row for each.",
        (source,),
        partial(_counters, file),
        of=source,
        cells={
            "value": Cell(source, "@column"),
            "start": Cell(source, start),
            "device": Cell(source, DEVICE),
            "stream": Cell(source, "Stream ID"),
            "task": Cell(source, "Task ID"),
            "context": Cell(source, "Context ID"),
        },
    )
    yield Derived(
        f"core_time_of_{file}",
        "Time on cube and vector cores in us and cube utilization in percent.",
        (source,),
        partial(_core_times, file),
        of=source,
        cells={
            "cube": Cell(source, "aic_total_cycles"),
            "vector": Cell(source, "aiv_total_cycles"),
            "utilization_python": Cell(source, "aic_total_cycles"),
            "utilization_cpp": Cell(source, "aic_total_cycles"),
        },
    )


TABLES = tuple(table for file in FILES for table in _tables(file))
