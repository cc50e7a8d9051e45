"""Performance counters: which were counted, those of the runs of tasks, and those of the cores.

Columns of op_summary and kernel_details; ai_core_utilization, ai_vector_core_utilization (3.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import (
    chosen,
    dictionary,
    integers,
    is_one_of,
    known_reals,
    picked,
    reals,
)
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.decimals import python_round
from ascend_ref.derive.matching import NONE, counterparts, groups
from ascend_ref.derive.pmu import cube_utilization, memory_bound
from ascend_ref.derive.traffic import means
from ascend_ref.recorded import Recorded
from ascend_spec import text_catalog
from ascend_spec.text.model import CsvColumn, Mode
from ascend_spec.text.pmu import PmuGroup

from .cells import cells_of
from .columns import Columns, device_texts
from .kernels import Kernels
from .setting import Setting

MICROSECOND = 1e3
"""Tables have ns where the files have us."""
CUBE_UTILIZATION, MEMORY_BOUND = "cube_utilization", "memory_bound"
"""Formulas of the columns that follow from others."""
CUSTOM = "Custom"
"""The group of registers that the user chose."""
PREFIXES = ("aic_", "aiv_")
TOTALS = frozenset({"total_time", "total_cycles"})
"""Metrics that every group has."""
TABLES: Mapping[Mode, tuple[str, str]] = {
    "task-based": ("TASK_PMU_INFO", "name"),
    "sample-based": ("SAMPLE_PMU_SUMMARY", "metric"),
}
"""Where the names of metrics stand."""
EVERY_CORE = np.iinfo(np.int64).max
"""Stands for all cores of a device together; their row comes last."""
BOUND_OF = ("mac", "vec", "mte2")
"""The pipes whose shares memory_bound is made of."""


class Counted(NamedTuple):
    """A group, by its name in the spec, and the registers of the group CUSTOM."""

    group: str | None
    registers: tuple[str, ...] = ()


def counted(recorded: Recorded, metrics: pa.ChunkedArray, family: str) -> Counted:
    """What was counted, of which the metrics are a column of one of :data:`TABLES`; no group
    without rows, or where the family does not have it.

    Where the recording does not say which group it was, the one most of whose metrics are there.
    """
    if not len(metrics):
        return Counted(None)
    texts = dictionary(metrics).dictionary.to_pylist()
    names = tuple(dict.fromkeys(_bare(text) for text in texts if _bare(text) not in TOTALS))
    groups = text_catalog().pmu
    if recorded.switches.aic_metrics is not None:
        group = groups.group(recorded.switches.aic_metrics)
        if group is None or family not in group.families:
            return Counted(None)
        return Counted(group.name, names if group.name == CUSTOM else ())
    known = [group for group in groups.groups.values() if family in group.families]
    best = max(known, key=lambda group: _agreement(group, names))
    return Counted(best.name if _agreement(best, names) else None)


def _bare(name: str) -> str:
    """The name of a metric without its kind of core."""
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _agreement(group: PmuGroup, names: tuple[str, ...]) -> float:
    """The share of the metrics of a group's fullest list that stand among the names."""
    metrics = text_catalog().pmu.metrics
    lower = {name.lower() for name in names}
    shown = [{metrics[one].shown.lower() for one in order.metrics} for order in group.orders]
    return max((len(one & lower) / len(one) for one in shown if one), default=0.0)


class PmuColumns:
    """The columns of counters that a file has under its setting."""

    def __init__(self, recorded: Recorded, setting: Setting, runs: Kernels) -> None:
        missing = text_catalog().pmu.not_available.get(setting.family, frozenset())
        columns = setting.columns()
        self._setting = setting
        self._facts = recorded.origin.facts
        self._metrics = {_metric(one): one for one in columns if one.metric is not None}
        self._names = {one.formula: one.name for one in columns if one.metric is None}
        wanted = [metric for metric in self._metrics if metric not in missing]
        self._counters = counters(recorded, runs, wanted)

    def of(self, runs: Integers, duration: Integers) -> Mapping[str, pa.Array]:
        """The columns of some rows, by canonical name; NULL where nothing was counted.

        runs: of the rows, NONE for communication. duration: of the rows, ns.
        """
        shown: dict[str, Reals] = {}
        for metric in self._metrics:
            counter = self._counters.get(metric)
            values = np.full(len(runs), np.nan) if counter is None else counter.of(runs)
            shown[metric] = values / _in_table(metric, self._setting.family)
        found = {one.name: known_reals(shown[metric]) for metric, one in self._metrics.items()}
        if name := self._names.get(CUBE_UTILIZATION):
            found[name] = self._cube_utilization(name, shown, duration)
        if name := self._names.get(MEMORY_BOUND):
            bound = memory_bound(
                _ratio(shown, "mac"),
                _ratio(shown, "vec"),
                _ratio(shown, "mte2"),
                self._setting.engine,
            )
            found[name] = known_reals(bound)
        return found

    def _cube_utilization(
        self, name: str, shown: Mapping[str, Reals], duration: Integers
    ) -> pa.Array:
        if self._facts is None:
            return pa.nulls(len(duration))
        values = cube_utilization(
            np.nan_to_num(_first(shown, "aic_total_cycles", "total_cycles")),
            _ratio(shown, "mac"),
            duration / MICROSECOND,
            cores=self._facts.cube_cores,
            frequency=self._facts.frequency,
            engine=self._setting.engine,
        )
        texts = cells_of(self._setting, name, known_reals(values))
        if self._setting.engine == "cpp":
            return texts
        # The Python engine says 0 and not 0.0 where it did not divide.
        return pc.if_else(pa.array(values == 0), "0", texts)


def _metric(column: CsvColumn) -> str:
    """The metric of a column; a register that the user chose is its own."""
    name = column.metric or column.name
    metric = text_catalog().pmu.metric(name)
    return column.name if metric is not None and metric.kind == "register" else name


def _in_table(name: str, family: str, mode: Mode = "task-based") -> int:
    """How many units of the table of a mode are one of the column's."""
    groups = text_catalog().pmu
    metric = groups.metric(name)
    return 1 if metric is None else groups.kinds[metric.kind].in_table(family, mode)


def _ratio(shown: Mapping[str, Reals], pipe: str) -> Reals:
    """The share of the cycles in which a pipe of the cube core worked."""
    return _first(shown, f"aic_{pipe}_ratio", f"{pipe}_ratio", f"{pipe}_exe_ratio")


def _first(shown: Mapping[str, Reals], *names: str) -> Reals:
    """The first of some metrics that there is."""
    return next(shown[name] for name in names if name in shown)


class Counter(NamedTuple):
    """One metric: all values of the table, and the row of each run's own, NONE without one.

    The run NONE, behind all others, has none.
    """

    values: Reals
    row: npt.NDArray[np.signedinteger]

    def of(self, runs: Integers) -> Reals:
        """The values of some runs; NaN without one."""
        row = self.row[runs]
        found = self.values[np.maximum(row, 0)] if len(self.values) else np.zeros(len(row))
        return np.where(row == NONE, np.nan, found)


def counters(recorded: Recorded, runs: Kernels, metrics: Iterable[str]) -> Mapping[str, Counter]:
    """TASK_PMU_INFO by metric, for those metrics that it has.

    The first run of a task has the first row, and so on: first in, first out. Names are found
    whatever their case, for the engines differ in it (erratum T21).
    """
    table = recorded.table("TASK_PMU_INFO")
    names = dictionary(table["name"])
    texts = [text.lower() for text in names.dictionary.to_pylist()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    # The table is long and its columns few: small integers are enough for its metrics.
    small: Any = np.int16 if len(numbers) < 1 << 15 else np.int32
    number = picked(names, np.array([numbers[text] for text in texts], small), NONE)
    identity, values = integers(table["globalTaskId"]), reals(table["value"], none=np.nan)
    size: Any = np.int32 if len(table) < 1 << 31 else np.int64
    found: dict[str, Counter] = {}
    before, place = np.empty(0, np.int64), np.full(len(runs), NONE)
    for metric in metrics:
        if metric.lower() not in numbers:
            continue
        rows = np.flatnonzero(number == numbers[metric.lower()])
        own = identity[rows]
        if not np.array_equal(own, before):
            before, place = own, counterparts(runs.identity, runs.turn, own)
        row = np.full(len(runs) + 1, NONE, size)
        row[:-1][place != NONE] = rows[place[place != NONE]]
        found[metric] = Counter(values, row)
    return found


def _utilization(core_type: str, recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """SAMPLE_PMU_SUMMARY of one kind of core: a row for each, then the mean of these rows.

    What follows from other columns follows from the means of these there.
    """
    table = recorded.table("SAMPLE_PMU_SUMMARY")
    table = table.filter(pa.array(is_one_of(table["coreType"], [core_type])))
    if not len(table):
        return
    devices, cores = integers(table["deviceId"]), integers(table["coreId"])
    first, row = groups(devices, cores)
    device, core = devices[first], cores[first]
    names = dictionary(table["metric"])
    value = reals(table["value"])
    missing = text_catalog().pmu.not_available.get(setting.family, frozenset())
    shown: dict[str, Reals] = {}
    for column in setting.columns():
        if column.metric is not None:
            values = np.full(len(first), np.nan)
            # msprof leaves the unit of volumes in their names (erratum E60).
            own = is_one_of(names, [column.metric, column.name])
            units = _in_table(column.metric, setting.family, "sample-based")
            values[row[own]] = python_round(value[own] / units)
            mean = python_round(means(values, device).mean)
            shown[column.name] = np.append(values, mean)
    if any(column.name == MEMORY_BOUND for column in setting.columns()):
        mac, vec, mte2 = (_first(shown, f"{one}_ratio", f"{one}_exe_ratio") for one in BOUND_OF)
        bound = memory_bound(mac, vec, mte2, setting.engine)
        shown[MEMORY_BOUND] = python_round(bound)
    # Only then, so that memory_bound has its value where a ratio of it is not shown.
    shown |= {name: np.full_like(shown[name], np.nan) for name in missing if name in shown}
    every = means(np.zeros(len(device)), device).first
    owner = np.append(device, device[every])
    member = np.append(core, np.full(len(every), EVERY_CORE))
    order = np.lexsort((member, owner))
    found, place = np.unique(member, return_inverse=True)
    columns = {
        "Device_id": device_texts(owner[order]),
        "Core ID": chosen(
            ["Average" if one == EVERY_CORE else f"Core{one}" for one in found.tolist()],
            place[order],
        ),
    }
    yield {**columns, **{name: known_reals(values[order]) for name, values in shown.items()}}


ai_core_utilization = partial(_utilization, "AIC")
ai_vector_core_utilization = partial(_utilization, "AIV")
