"""Slices of the framework, and how launches pass through its task queue."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import counterparts
from ascend_ref.derive.operator_details import dequeuing_calls
from ascend_ref.derive.steps import Spans

from ....compare.sql import text_literal
from ..database import Facts
from .reading import NONE, integers, read

STEP = "ProfilerStep#"
"""So the names of steps begin."""


def framework_slices(facts: Facts, *kinds: str) -> pa.Table:
    """Slices of the framework in order of start."""
    named = ", ".join(map(text_literal, kinds))
    return read(
        facts,
        "SELECT file, row, tid, ts AS start, end_ns AS stop, correlation_id AS number, "
        f"starts_with(name, {text_literal(STEP)}) AS is_step FROM layer.python "
        f"WHERE kind IN ({named}) AND ts IS NOT NULL AND end_ns IS NOT NULL ORDER BY ts, row",
    )


def queue_entries(taking: pa.Table, giving: pa.Table, moment: Integers) -> Integers:
    """For each launch the row put into the queue that a call was taking out, NONE without one."""
    calls = Spans(integers(taking, "start"), integers(taking, "stop"))
    call = dequeuing_calls(calls, moment)
    number = np.append(integers(taking, "number"), NONE)[call]
    entry = counterparts(number, np.zeros(len(number), np.int64), integers(giving, "number"))
    return np.where(call != NONE, entry, NONE)
