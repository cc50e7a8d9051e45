"""Ids of flows: sums of shifted numbers, some of more than 64 bits, as decimal text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_ref.joined import joined
from ascend_spec.timeline.model import FlowId

from .notation import wholes
from .rows import Fragment

WORD = 64
BILLION = 10**9
UPPER_WORD = divmod(1 << WORD, BILLION)
"""The number that the upper word counts, in billions and a rest."""
SMALL_UPPER = 1 << 30
"""Of an upper word below it no product overflows."""


def flow_ids(form: FlowId, quantities: Mapping[str, Integers]) -> Fragment:
    """The ids of these numbers, as text without quotes. Numbers that are left out are missing."""
    rows = len(next(iter(quantities.values())))
    parts = [
        (quantities.get(part.of, np.full(rows, form.missing.get(part.of, 0))), part.shift)
        for part in form.parts
    ]
    if not rows:
        return pa.array([], pa.string())
    if all(shift == 0 for _, shift in parts):
        return wholes(sum((values for values, _ in parts), np.zeros(rows, np.int64)))
    lowest = sum(int(values.min()) << shift for values, shift in parts)
    highest = sum(int(values.max()) << shift for values, shift in parts)
    if lowest >= -(1 << 63) and highest < 1 << 63:
        return wholes(sum((values << shift for values, shift in parts), np.zeros(rows, np.int64)))
    lower = [(values, shift) for values, shift in parts if shift < WORD]
    upper = [(values, shift - WORD) for values, shift in parts if shift >= WORD]
    fits = sum(int(values.max()) << shift for values, shift in lower) < 1 << WORD
    counts = sum(int(values.max()) << shift for values, shift in upper) < SMALL_UPPER
    if fits and counts and all(int(values.min()) >= 0 for values, _ in parts):
        return _two_words(_word(upper, rows), _word(lower, rows).view(np.uint64))
    columns = [(values.tolist(), shift) for values, shift in parts]
    return pa.array(
        [str(sum(values[row] << shift for values, shift in columns)) for row in range(rows)]
    )


def _word(parts: list[tuple[Integers, int]], rows: int) -> Integers:
    return sum((values << shift for values, shift in parts), np.zeros(rows, np.int64))


def _two_words(upper: Integers, lower: npt.NDArray[np.uint64]) -> Fragment:
    """Decimal texts of upper * 2^64 + lower, by long multiplication in digits of 10^9."""
    billions, rest = UPPER_WORD
    high, middle = divmod(billions, BILLION)
    count, last = np.divmod(lower, np.uint64(BILLION))
    third = upper * rest + last.astype(np.int64)
    second = upper * middle + (count % np.uint64(BILLION)).astype(np.int64) + third // BILLION
    first = upper * high + (count // np.uint64(BILLION)).astype(np.int64) + second // BILLION
    tail = second % BILLION * BILLION + third % BILLION
    return _padded(first, tail)


def _padded(first: Integers, tail: Integers) -> pa.Array:
    """The digits of ``first``, where it is not 0, and 18 digits of ``tail``."""
    filled = pa.array(tail + BILLION * BILLION).cast(pa.string())
    digits = pc.utf8_slice_codeunits(filled, 1)
    texts = joined(pa.array(first).cast(pa.string()), digits)
    if first.all():
        return texts
    return pc.if_else(pa.array(first > 0), texts, pa.array(tail).cast(pa.string()))
