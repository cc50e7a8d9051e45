"""Ids of flows: sums of shifted numbers, some of more than 64 bits, as decimal text."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_spec.timeline import FlowId

from .notation import wholes
from .rows import Fragment

DIGITS = 20
"""Of a number of 64 bits with its sign."""


def flow_ids(form: FlowId, quantities: Mapping[str, Integers]) -> Fragment:
    """The ids of these numbers, as text without quotes. Numbers that are left out are missing."""
    rows = len(next(iter(quantities.values())))
    parts = [
        (quantities.get(part.of, np.full(rows, form.missing.get(part.of, 0))), part.shift)
        for part in form.parts
    ]
    if not rows:
        return pa.array([], pa.string())
    lowest = sum(int(values.min()) << shift for values, shift in parts)
    highest = sum(int(values.max()) << shift for values, shift in parts)
    if lowest >= -(1 << 63) and highest < 1 << 63:
        return wholes(sum((values << shift for values, shift in parts), np.zeros(rows, np.int64)))
    return reduce(pc.add, (_shifted(values, shift) for values, shift in parts)).cast(pa.string())


def _shifted(values: Integers, shift: int) -> pa.Array:
    factor = Decimal(1 << shift)
    kind = pa.decimal256(len(str(factor)))
    return pc.multiply(pa.array(values).cast(pa.decimal256(DIGITS)), pa.scalar(factor, kind))
