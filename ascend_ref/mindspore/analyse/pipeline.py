"""The analyser of the data pipeline: operators whose queues are used too little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sheet import Indexes
from .condition import Condition
from .query import Rows

DIFFERENCE = 0.1
"""By which a queue that an operator takes data from is used better, to be worth a word."""


def outside_thresholds(rows: Rows, found: Indexes, condition: Condition) -> Indexes:
    """With thresholds: the operators of ``found`` whose queues are used too little.

    First those with a better one below them, then leaves; the root alone where every other queue
    is used well.
    """
    thresholds = condition.switch("threshold")
    if not thresholds:
        return found
    high, low = thresholds
    names = ("op_id", "output_queue_usage_rate", "parent_id", "children_id")
    ids, rates, parents, children = (rows.columns[name].at(rows.every) for name in names)
    rate_of = dict(zip(ids, rates, strict=True))
    others = [row for row in found.tolist() if parents[row] is not None]
    if all(rates[row] >= high for row in others):
        roots = [row for row in found.tolist() if parents[row] is None]
        return np.array(roots[-1:], np.int64)
    better = [
        row
        for row in others
        if any(rate - rates[row] > DIFFERENCE for rate in _rates(children[row], rate_of))
    ]
    leaves = [row for row in others if not children[row] and rates[row] < low]
    return np.array(better + leaves, np.int64)


def _rates(children: Any, rate_of: dict[Any, float]) -> Iterator[float]:
    for child in children if isinstance(children, list) else ():
        if isinstance(child, int) and child in rate_of:
            yield rate_of[child]
