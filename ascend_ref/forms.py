"""The closed list of forms in which a cell shows values, and the units in which it does.

A column of values is an Arrow array: integers, floats, or texts by dictionary; NULL is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import dictionary, first_known, is_text, reals, renamed, text_places
from ascend_ref.capture.batch import Reals
from ascend_ref.derive.traffic import share
from ascend_spec import recording_catalog
from ascend_spec.core.shows import Show
from ascend_spec.core.units import factor

LOW_BITS = 32
LOW_WORD = (1 << LOW_BITS) - 1
NOT_COLLECTED = "N/A"
"""Text in place of what was not collected; of several values the first that says more counts."""


class Cells(NamedTuple):
    """Values of a column of an entity, and their unit."""

    values: pa.Array
    unit: str | None


Lookup: TypeAlias = Callable[[str], Cells | None]
"""The values of a column of an entity by its name; ``None`` where they are not at hand."""


class Formula(NamedTuple):
    """A figure that no table holds, from columns of the same entity."""

    function: Callable[..., Reals]
    columns: tuple[str, ...]


FORMULAS: Mapping[str, Formula] = {
    "process_memory.total": Formula(np.add, ("ddr", "hbm")),
    **{
        f"port.{way}_{figure}": Formula(share, (f"{way}_{part}", whole.format(way)))
        for way in ("rx", "tx")
        for figure, part, whole in (
            ("efficiency", "byte_rate", "bandwidth"),
            ("error_rate", "errors", "{}_packets"),
            ("dropped_rate", "dropped", "{}_packets"),
        )
    },
}


def shown(show: Show, lookup: Lookup, unit: str | None = None) -> pa.Array | None:
    """The cells that show values; ``None`` where there are none to show.

    ``unit``: of the cells; without one the values keep theirs. A length follows from start and end,
    and figures from what they are made of.
    """
    values = [_value(name, lookup, unit) for name in show.of]
    known = [one for one in values if one is not None]
    if not known or (show.form != "first_of" and len(known) < len(values)):
        return None
    if show.form == "first_of":
        return known[0] if len(known) == 1 else first_known(known, NOT_COLLECTED)
    if show.form == "packed":
        high, low = known
        return pc.bit_wise_or(pc.shift_left(high, pa.scalar(LOW_BITS, pa.int64())), low)
    if show.form == "words":
        cells = {str(value): cell for cell, value in reversed(show.words)}
        return renamed(_texts(known[0]), cells)
    return _put_together(show, known) if show.form == "pattern" else known[0]


def _value(name: str, lookup: Lookup, unit: str | None) -> pa.Array | None:
    """A column in a unit, or what it follows from."""
    found = lookup(name)
    if found is None:
        found = _figure(name, lookup) or _length(name, lookup)
    return found and _in_unit(found, unit)


def _figure(name: str, lookup: Lookup) -> Cells | None:
    if name not in FORMULAS:
        return None
    function, columns = FORMULAS[name]
    entity, _, column = name.partition(".")
    inputs = [lookup(f"{entity}.{one}") for one in columns]
    known = [reals(one.values) for one in inputs if one is not None]
    if len(known) < len(inputs):
        return None
    unit = recording_catalog().entities[entity].columns[column].unit
    return Cells(pa.array(function(*known)), unit)


def _length(name: str, lookup: Lookup) -> Cells | None:
    entity, _, column = name.partition(".")
    interval = recording_catalog().entities[entity].interval
    if interval is None or column != interval[2]:
        return None
    start, end = (lookup(f"{entity}.{one}") for one in interval[:2])
    if start is None or end is None:
        return None
    return Cells(pc.subtract(end.values, start.values), start.unit)


def columns_of(show: Show) -> Iterator[str]:
    """The columns of entities that :func:`shown` may look up for a cell."""
    for name in show.of:
        entity, _, column = name.partition(".")
        yield name
        if name in FORMULAS:
            yield from (f"{entity}.{one}" for one in FORMULAS[name].columns)
        interval = recording_catalog().entities[entity].interval
        if interval is not None and column == interval[2]:
            yield from (f"{entity}.{one}" for one in interval[:2])


def _in_unit(cells: Cells, wanted: str | None) -> pa.Array:
    """Values in another unit, as floats; as they are where the units do not convert."""
    divisor = factor(wanted, cells.unit) or 1
    if divisor == 1:
        return cells.values
    return pc.divide(cells.values.cast(pa.float64(), safe=False), divisor)


def part(show: Show, name: str, cells: pa.Array) -> pa.Array:
    """What of cells is one of the values that they show, the other way round."""
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
