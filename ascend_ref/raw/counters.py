"""Counters of the cores: events, which raw records hold, and the metrics that tables have of them.

Both directions, so that writing, reading and the view of what raw files hold agree. Sources:
raw-prof 3.2, 4.7 and 7.1; which events and formulas, text/pmu.yaml says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, DeviceFacts, Integers, Reals
from ascend_ref.derive.matching import counterparts
from ascend_ref.derive.pmu import (
    Convention,
    Runs,
    frequencies_in_force,
    metric_values,
    total_time,
)
from ascend_spec import catalog, text_catalog
from ascend_spec.text import PmuGroup, PmuMetric
from ascend_spec.text.model import Core, Mode
from ascend_spec.text.pmu import Coefficients

from .machine import family_of

Columns = Mapping[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.bool_]

CORE_SETTINGS: Mapping[Core, str] = {"aic": "ai_core", "aiv": "aiv"}
"""How the keys of sample.json begin for each kind of core; of the only kind they say the same."""
AIC_ONLY, AIV_ONLY, FFTS, MIX_AIC = "AIC only", "AIV only", "FFTS+", "MIX AIC"
"""Ways in which a task is made of sub-tasks, by their names in the vocabulary ffts_types."""
_CUBE = ("AI_CORE", "MIX_AIC")
"""Kinds of kernels that are of the cube cores, where these are apart."""
_COEFFICIENTS: Mapping[Mode, Coefficients] = {"task-based": "C", "sample-based": "S"}
"""Coefficients of the engine that makes the table of a mode."""
_PER_ACCESS = 8
"""Cycles for an access to the cache of instructions; no table has their number (inferred)."""


@dataclass(frozen=True)
class Side:
    """One kind of core of a chip: what its counters count, and what is made of that.

    prefix: of its metrics. core: None where the chip has one kind. cores: how many of them.
    events: in the order of the counters. metrics: those of the table, in order. name: what
    ``sample.json`` calls the list of events. mode: whether tasks are counted, or cores by time.
    """

    prefix: str
    core: Core | None
    cores: int
    events: tuple[int, ...]
    metrics: tuple[PmuMetric, ...]
    name: str
    mode: Mode = "task-based"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics in the table."""
        return tuple(f"{self.prefix}{one.shown}" for one in self.metrics)

    def unit(self, metric: PmuMetric, family: str) -> int:
        """How many units of the table one unit of a metric is."""
        return text_catalog().pmu.kinds[metric.kind].in_table(family, self.mode)

    def convention(self, family: str) -> Convention:
        """By which coefficients the table has its metrics."""
        return Convention(_COEFFICIENTS[self.mode], family)


class Counts(NamedTuple):
    """What the cores of a side counted of tasks: ``cycles``, and ``events``, one column each.

    ticks: of the device's counter, from their first cycle to the last one; 0 where records that
    count tasks have no times of the cores.
    """

    cycles: Integers
    events: Integers
    ticks: Integers


def sides(
    group: str, family: str, facts: DeviceFacts, mode: Mode = "task-based"
) -> tuple[Side, ...]:
    """The kinds of cores of a family as the collector programs them for a group; none unless it is
    known how.

    Sampled, vector cores are apart on every family, as far as there are records of them.
    """
    pmu = text_catalog().pmu
    chosen = pmu.group(group)
    if chosen is None or family not in chosen.families:
        return ()
    kinds: Iterable[tuple[str, Core | None]] = (("", core) for core in CORE_SETTINGS)
    if mode == "task-based":
        kinds = ((block.prefix, block.core) for block in pmu.blocks(mode, family))
    found = []
    for prefix, core in kinds:
        listed = next((one for one in chosen.programmed if one.holds(family, core)), None)
        if listed is None:
            return ()
        cores = facts.vector_cores if core == "aiv" else facts.cube_cores
        side = Side(prefix, core, cores, (), (), listed.name or chosen.name, mode)
        found.append(counting(side, chosen, family, listed.events))
    return tuple(found)


def counting(side: Side, group: PmuGroup, family: str, events: tuple[int, ...]) -> Side:
    """A side that counts these events, with the metrics that follow from them.

    Those of the list that a kind of core has, or of the one that cores have otherwise: collectors
    program either (raw-prof 3.2).
    """
    pmu, known = text_catalog().pmu, set(events)
    lists = [pmu.table_metrics(group, family, core, side.mode) for core in (side.core, None)]
    own, otherwise = (
        tuple(one for one in metrics if known.issuperset(_events(one))) for metrics in lists
    )
    return replace(side, events=events, metrics=otherwise if len(otherwise) > len(own) else own)


def sides_of(capture: Capture, mode: Mode = "task-based") -> tuple[Side, ...]:
    """Those of a capture, by its switches; none where the cores were not counted in this mode."""
    switches, facts = capture.switches, capture.origin.facts
    counts = switches.npu and switches.level > 0 and switches.aic_mode == mode
    if not counts or switches.aic_metrics is None or facts is None:
        return ()
    return sides(switches.aic_metrics, family_of(capture.origin), facts, mode)


def has_times(family: str) -> bool:
    """Whether the times of counters are those that the device's counter shows."""
    return catalog().products[family].can("pmu-times")


def counts(
    side: Side, family: str, values: Mapping[str, Reals], frequency: int, tick: float
) -> Counts:
    """The counts from which the metrics of a table follow, as far as integers can.

    values: by name of the metric, all of one length. frequency: nominal, MHz. tick: of the device's
    counter, ns. Of events that only occur together the first has all of them.
    """
    cycles = np.rint(values[f"{side.prefix}total_cycles"]).astype(np.int64)
    time = values[f"{side.prefix}total_time"] / tick
    return Counts(
        cycles,
        events_of(side, family, values, cycles, frequency),
        np.rint(time).astype(np.int64) if has_times(family) else np.zeros(len(cycles), np.int64),
    )


def events_of(
    side: Side, family: str, values: Mapping[str, Reals], cycles: Integers, frequency: int
) -> Integers:
    """The events of :func:`counts`, of the shape (rows, events)."""
    known: dict[int, Integers] = {}
    for metric in sorted(side.metrics, key=lambda one: len(one.minus)):
        column = values.get(f"{side.prefix}{metric.shown}")
        if column is not None and metric.kind != "time":
            _count(side, metric, column, cycles, known, (family, frequency))
    zero = np.zeros(len(cycles), np.int64)
    return np.stack([known.get(one, zero) for one in side.events], axis=1)


def counts_of(capture: Capture, of: Sequence[Side], tick: float) -> list[Counts]:
    """The counts of the counters of a capture, by side; ``tick``: of the device's counter, ns."""
    counters, facts = capture.counters, capture.origin.facts
    columns = dict(zip(counters.metrics, counters.values.T, strict=True))
    nominal = 0 if facts is None else facts.frequency
    return [counts(side, family_of(capture.origin), columns, nominal, tick) for side in of]


def values(
    side: Side,
    family: str,
    found: Counts,
    blocks: Integers,
    in_force: Integers,
    frequency: int,
    tick: float,
) -> Reals:
    """The metrics of a side as the table has them, of the shape (runs, metrics).

    blocks: on this kind of core. in_force: the clock at the end of each run, MHz; frequency: the
    nominal one. tick: of the device's counter, ns.
    """
    time = (
        found.ticks * tick / 1000
        if has_times(family)
        else total_time(found.cycles, blocks, side.cores, in_force)
    )
    return made_of(side, family, found, time, frequency)


def made_of(side: Side, family: str, found: Counts, time: Reals, frequency: int) -> Reals:
    """The metrics of a side as its table has them, of the shape (rows, metrics), from their counts,
    their total time in us and the nominal clock in MHz.
    """
    events = {event: found.events[:, place] for place, event in enumerate(side.events)}
    runs = Runs(found.cycles, time, float(frequency), events)
    columns = [
        metric_values(one, runs, side.convention(family)) * side.unit(one, family)
        for one in side.metrics
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((len(found.cycles), 0))


def _events(metric: PmuMetric) -> tuple[int, ...]:
    return (*metric.events, *metric.minus, *metric.over)


def _count(
    side: Side,
    metric: PmuMetric,
    column: Reals,
    cycles: Integers,
    known: dict[int, Integers],
    convention: tuple[str, int],
) -> None:
    """Add the counts of the events of a metric that are not known yet."""
    open_events = [one for one in metric.events if one not in known]
    if not open_events:
        return
    if metric.kind == "rate":
        for event in metric.over:
            known[event] = cycles // _PER_ACCESS
        total = column * _sum(known, metric.over, len(cycles))
    elif metric.kind == "ratio":
        total = column * cycles
    elif metric.kind == "count":
        total = column
    elif metric.kind == "volume":
        for event in metric.minus:
            known.setdefault(event, np.zeros(len(cycles), np.int64))
        total = column / (metric.factor or 1.0) + _sum(known, metric.minus, len(cycles))
    elif metric.kind == "bandwidth":
        total = _moved(side, metric, column, cycles, convention)
    else:
        return
    own = np.rint(total).astype(np.int64) - _sum(known, metric.events, len(cycles))
    known[open_events[0]] = np.maximum(own, 0)
    for event in open_events[1:]:
        known[event] = np.zeros(len(cycles), np.int64)


def _moved(
    side: Side, metric: PmuMetric, column: Reals, cycles: Integers, convention: tuple[str, int]
) -> Reals:
    """Events of a bandwidth: what one of them is worth follows from the formula itself."""
    family, frequency = convention
    one, none = np.ones(len(cycles), np.int64), np.zeros(len(cycles), np.int64)
    first = {**dict.fromkeys(metric.events, none), metric.events[0]: one}
    runs = Runs(cycles, np.zeros(len(cycles)), float(frequency), first)
    worth = metric_values(metric, runs, side.convention(family)) * side.unit(metric, family)
    return np.divide(column, worth, out=np.zeros(len(cycles)), where=worth > 0)


def _sum(known: Mapping[int, Integers], events: Sequence[int], count: int) -> Integers:
    total = np.zeros(count, np.int64)
    for event in events:
        total += known.get(event, 0)
    return total


class Counted(NamedTuple):
    """Runs of kernels whose cores were counted, a row each.

    device, end: of the run, Unix ns. on_cube: whether it is one of the cube cores, or of both.
    blocks, mix_blocks: on the cores that it is of, and on those of the other kind.
    """

    device: Integers
    end: Integers
    on_cube: Mask
    blocks: Integers
    mix_blocks: Integers

    def is_own(self, side: Side) -> Mask:
        """Which runs are of the kind of core of a side, the only one or the one they are of."""
        if side.core is None:
            return np.ones(len(self.blocks), np.bool_)
        own: Mask = self.on_cube == (side.core == "aic")
        return own

    def on(self, side: Side) -> Integers:
        """Their blocks on a kind of core."""
        return np.where(self.is_own(side), self.blocks, self.mix_blocks)


def metrics_of(
    of: Sequence[Side],
    family: str,
    found: Sequence[Counts],
    runs: Counted,
    clock: Columns,
    nominal: int,
    tick: float,
) -> tuple[tuple[str, ...], Reals]:
    """Names and values of the metrics of runs, from the counts of each side.

    clock: the samples of the clock of all devices. nominal: their nominal clock, MHz. tick: of
    their counters, ns.
    """
    in_force = np.full(len(runs.end), nominal)
    for device in np.unique(clock.get("deviceId", np.zeros(0, np.int64))).tolist():
        own, mine = clock["deviceId"] == device, runs.device == device
        in_force[mine] = frequencies_in_force(
            clock["timestampNs"][own], clock["freq"][own], runs.end[mine], nominal
        )
    parts = [
        values(side, family, counted, runs.on(side), in_force, nominal, tick)
        for side, counted in zip(of, found, strict=True)
    ]
    names = tuple(name for side in of for name in side.names)
    return names, np.concatenate(parts, axis=1) if parts else np.zeros((len(runs.end), 0))


def counted_runs(capture: Capture) -> Counted:
    """The kernels of the counters of a capture, in their order."""
    tasks, kernels, kinds = capture.tasks, capture.kernels, capture.kernel_kinds
    wanted = capture.counters.task
    task = counterparts(wanted, 0, tasks.identity)
    kind = kernels.kind[counterparts(wanted, 0, kernels.task)]
    every = capture.texts.all
    cube = [number for number, text in enumerate(every) if text in _CUBE]
    return Counted(
        device=tasks.device[task],
        end=tasks.end[task],
        on_cube=np.isin(kinds.core[kind], cube),
        blocks=kinds.blocks[kind],
        mix_blocks=kinds.mix_blocks[kind],
    )
