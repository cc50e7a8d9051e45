"""Performance counters of the AI cores: from cycles of events to the metrics shown.

Which events and coefficients a metric has, the spec says (text/pmu.yaml). Source: text-outputs.md
4.3; of samples upstream-msprof FormatSampleBasedTimelineData. Values are not rounded here; files
show three decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture.batch import Integers, Reals
from ascend_spec.text import PmuMetric
from ascend_spec.text.pmu import Coefficients

from .decimals import Engine
from .matching import divided

BANDWIDTH_SCALE = float(1 << 33)
FIRST_INTERVAL = 1
"""ns that the cycles of the first sample of a core are related to."""
NOT_AVAILABLE = np.nan
"""Value of a metric that is shown as N/A."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of kernels on one kind of core.

    cycles: of the task. total_time: us, see :func:`total_time`. frequency: nominal clock, MHz.
    counts: of each event.
    """

    cycles: Integers
    total_time: Reals
    frequency: float
    counts: Mapping[int, Integers]

    def sum_of(self, events: tuple[int, ...]) -> Integers:
        """Counts of several events together."""
        total = np.zeros(len(self.cycles), np.int64)
        for event in events:
            total += self.counts[event]
        return total


@dataclass(frozen=True, slots=True)
class Convention:
    """By what a metric differs between writers: their set of coefficients and the product."""

    coefficients: Coefficients
    family: str


def total_time(
    cycles: Integers, blocks: Integers, cores: int, frequency: Integers | float
) -> Reals:
    """Time in us that tasks would take if their blocks filled the cores row by row; 0 without any.

    cycles: of all blocks. blocks: on this kind of core; of a mixed task the Block value on the
    main kind and the Mix Block value on the other. cores: of this kind. frequency: MHz in force.
    """
    rounds = (blocks + cores - 1) // max(cores, 1)
    divisor = frequency * np.maximum(blocks, 1).astype(np.float64)
    known = (blocks > 0) & (divisor > 0) & (cores > 0)
    return np.where(known, cycles / np.where(divisor > 0, divisor, 1.0) * rounds, 0.0)


def core_load(cycles: Integers, interval: Integers, frequency: int) -> Reals:
    """Percent of the cycles of each interval in ns that a core worked; ``frequency``: nominal, MHz.

    Of the first sample of a core exporters take an interval of :data:`FIRST_INTERVAL` (E48).
    """
    load: Reals = cycles * 1000 / (float(frequency) * interval) * 100
    return load


def frequencies_in_force(
    time: Integers, frequency: Integers, end: Integers, nominal: int
) -> Integers:
    """The clock in MHz at the end of each task, from ascending samples; nominal before the first.

    Where any sample is 0 the samples count for nothing.
    """
    if not frequency.all():
        return np.full(len(end), nominal)
    known = np.concatenate([[nominal], frequency])
    return known[np.searchsorted(time, end, side="right")]


def metric_values(metric: PmuMetric, runs: Runs, convention: Convention) -> Reals:
    """The values of a metric; ``ValueError`` for one that is no function of events (a register).

    Ratios and rates are shares, times us, bandwidths GB/s of 2^30 Byte, volumes KB; 0 where the
    task had no cycles.
    """
    formula = _FORMULAS.get(metric.kind)
    if formula is None:
        raise ValueError(f"{metric.id} is no function of events; known: {', '.join(_FORMULAS)}")
    return formula(metric, runs, convention)


def memory_bound(mac_ratio: Reals, vec_ratio: Reals, mte2_ratio: Reals, engine: Engine) -> Reals:
    """How far moving data outlasts computing; above 1 the task waits for memory.

    The Python engine says 0 where neither pipe worked, the C++ engine N/A where one did not.
    """
    busiest = np.maximum(mac_ratio, vec_ratio)
    works = busiest != 0 if engine == "python" else (mac_ratio != 0) & (vec_ratio != 0)
    bound = mte2_ratio / np.where(busiest != 0, busiest, 1.0)
    without = 0.0 if engine == "python" else NOT_AVAILABLE
    return np.where(works | np.isnan(busiest), bound, without)


def cube_utilization(
    cycles: Integers,
    mac_ratio: Reals,
    duration: Reals,
    *,
    cores: int,
    frequency: float,
    engine: Engine,
) -> Reals:
    """Percent of the cube cores' cycles in the duration of the task that the task spent.

    duration: us. cores: cube cores of the device. frequency: nominal clock, MHz. N/A where the
    ratio is; 0 where the duration or, to the Python engine, ratio or cycles are 0. The C++ engine
    divides by the duration as it printed it (erratum T40).
    """
    capacity = frequency * cores * duration
    spent = capacity > 0
    if engine == "python":
        spent &= (cycles != 0) & (mac_ratio != 0)
    share = cycles / np.where(capacity > 0, capacity, 1.0) * 100
    return np.where(np.isnan(mac_ratio), NOT_AVAILABLE, np.where(spent, share, 0.0))


def _ratio(metric: PmuMetric, runs: Runs) -> Reals:
    return divided(runs.sum_of(metric.events), runs.cycles)


def _weighted(metric: PmuMetric, runs: Runs, family: str) -> Reals:
    total = np.zeros(len(runs.cycles))
    for event, weight in zip(metric.events, metric.weights_on(family), strict=True):
        total += runs.counts[event] * float(weight)
    return total


def _operations(metric: PmuMetric, runs: Runs, convention: Convention) -> Reals:
    return np.where(runs.cycles != 0, _weighted(metric, runs, convention.family), 0.0)


def _bandwidth(metric: PmuMetric, runs: Runs, convention: Convention) -> Reals:
    """Per second of the task's cycles; with the coefficients V1, of its total time."""
    coefficient = metric.coefficient(convention.coefficients)
    if coefficient is None:
        raise ValueError(f"{metric.id} has no coefficients of the set {convention.coefficients}")
    frequency = np.full(len(runs.cycles), runs.frequency)
    # us; the frequency is in cycles per us.
    times = runs.total_time if convention.coefficients == "V1" else divided(runs.cycles, frequency)
    events = (
        _weighted(metric, runs, convention.family) if metric.weights else runs.sum_of(metric.events)
    )
    moved = events * float(coefficient)
    return divided(moved, times / 1e6, times != 0) / BANDWIDTH_SCALE


def _volume(metric: PmuMetric, runs: Runs, _: Convention) -> Reals:
    factor = 1.0 if metric.factor is None else metric.factor
    return (runs.sum_of(metric.events) - runs.sum_of(metric.minus)).astype(np.float64) * factor


_FORMULAS: Mapping[str, Callable[[PmuMetric, Runs, Convention], Reals]] = {
    "total-time": lambda _, runs, __: runs.total_time,
    "cycles": lambda _, runs, __: runs.cycles.astype(np.float64),
    "time": lambda metric, runs, _: runs.total_time * _ratio(metric, runs),
    "ratio": lambda metric, runs, _: _ratio(metric, runs),
    "rate": lambda metric, runs, _: divided(
        runs.sum_of(metric.events), np.where(runs.cycles != 0, runs.sum_of(metric.over), 0)
    ),
    "operations": _operations,
    "bandwidth": _bandwidth,
    "volume": _volume,
    "count": lambda metric, runs, _: runs.sum_of(metric.events).astype(np.float64),
}
