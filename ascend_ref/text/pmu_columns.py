"""Columns of performance counters in op_summary and kernel_details."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import known_reals
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.pmu import cube_utilization, memory_bound
from ascend_ref.recorded import Recorded
from ascend_spec import text_catalog
from ascend_spec.text.model import CsvColumn

from .cells import cells_of
from .counters import counters
from .kernels import Kernels
from .setting import Setting

MICROSECOND = 1e3
"""TASK_PMU_INFO has ns where the files have us."""
CUBE_UTILIZATION, MEMORY_BOUND = "cube_utilization", "memory_bound"
"""Formulas of the columns that follow from others."""


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
        for metric, column in self._metrics.items():
            counter = self._counters.get(metric)
            values = np.full(len(runs), np.nan) if counter is None else counter.of(runs)
            shown[metric] = values / MICROSECOND if column.unit == "us" else values
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


def _ratio(shown: Mapping[str, Reals], pipe: str) -> Reals:
    """The share of the cycles in which a pipe of the cube core worked."""
    return _first(shown, f"aic_{pipe}_ratio", f"{pipe}_ratio", f"{pipe}_exe_ratio")


def _first(shown: Mapping[str, Reals], *names: str) -> Reals:
    """The first of some metrics that there is."""
    return next(shown[name] for name in names if name in shown)
