"""The closed list of forms in which a cell shows values, and the units in which it does.

A column of values is an Arrow array: integers, floats, or texts by dictionary; NULL is no value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import dictionary, first_known, is_text, renamed, text_places
from ascend_spec.core.shows import Show
from ascend_spec.core.units import factor

LOW_BITS = 32
LOW_WORD = (1 << LOW_BITS) - 1
NOT_COLLECTED = "N/A"
"""Text in place of what was not collected; of several values the first that says more counts."""


def in_unit(values: pa.Array, unit: str | None, wanted: str | None) -> pa.Array:
    """The values in another unit, as floats; as they are where the units do not convert."""
    divisor = factor(wanted, unit) or 1
    return values if divisor == 1 else pc.divide(values.cast(pa.float64(), safe=False), divisor)


def formed(show: Show, values: Sequence[pa.Array]) -> pa.Array:
    """The cells that show values, one column for each name in ``show.of``.

    Of ``first_of`` those that are not known may be left out.
    """
    if show.form == "first_of" and len(values) > 1:
        return first_known(values, NOT_COLLECTED)
    if show.form == "packed":
        high, low = values
        return pc.bit_wise_or(pc.shift_left(high, pa.scalar(LOW_BITS, pa.int64())), low)
    if show.form == "words":
        cells = {str(value): cell for cell, value in reversed(show.words)}
        return renamed(_texts(values[0]), cells)
    return _put_together(show, values) if show.form == "pattern" else values[0]


def part(show: Show, name: str, cells: pa.Array) -> pa.Array:
    """What of cells is one of the values that they show; the other way round than ``formed``."""
    if show.form == "plain":
        return cells
    if show.of.index(name) == 0:
        return pc.shift_right(cells, pa.scalar(LOW_BITS, pa.int64()))
    return pc.bit_wise_and(cells, pa.scalar(LOW_WORD, pa.int64()))


def _texts(values: pa.Array) -> pa.DictionaryArray:
    return dictionary(values if is_text(values) else values.cast(pa.string()))


def _put_together(show: Show, values: Sequence[pa.Array]) -> pa.DictionaryArray:
    """The texts of a pattern, each combination of values once; NULL where a part is not there."""
    texts = [_texts(one) for one in values]
    key = np.zeros(len(texts[0]), np.int64)
    for one in texts:
        key = key * (len(one.dictionary) + 1) + text_places(one)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    names = [name.partition(".")[2] for name in show.of]
    rows = pa.table([one.take(pa.array(first)) for one in texts], names=names).to_pylist()
    pattern = show.pattern or ""
    written = [None if None in row.values() else pattern.format(**row) for row in rows]
    return pa.array(written, pa.string()).dictionary_encode().take(pa.array(place))
