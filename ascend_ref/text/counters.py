"""Performance counters, by the runs of the tasks that they were taken of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.arrays import dictionary, integers, picked, reals
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.matching import NONE, counterparts
from ascend_ref.recorded import Recorded

from .kernels import Kernels


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
