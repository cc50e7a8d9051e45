"""Values of tables by what a cell of another medium shows of the recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers
from ascend_spec import recording_catalog
from ascend_spec.core.shows import Show
from ascend_spec.db.model import Column

from .model import Output
from .shape import shape_of

NO_ROW = -1


class TableRows(NamedTuple):
    """Rows of a table, by their places in it; :data:`NO_ROW` where there is none."""

    table: pa.Table
    places: Integers


class ShownValues:
    """Looks up values in rows of tables, for one file or layer; keeps what it looked up before."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._columns: dict[tuple[str, str], tuple[pa.Table, pa.Array]] = {}

    def of(self, show: Show, rows: Mapping[str, TableRows]) -> pa.Array | None:
        """What the rows have for a cell: integers, floats or texts by dictionary, NULL for what the
        recording does not have; ``None`` where no table of the rows holds the values.
        """
        values = [self._value(name, rows) for name in show.of]
        known = [one for one in values if one is not None]
        if show.form == "first_of" and known:
            return known[0] if len(known) == 1 else pc.coalesce(*map(_plain, known))
        if not known or len(known) < len(values):
            return None
        if show.form == "plain":
            return known[0]
        if show.form == "packed":
            high, low = known
            return pc.bit_wise_or(pc.shift_left(high, pa.scalar(32, pa.int64())), low)
        if show.form == "words":
            cells = {str(value): cell for cell, value in reversed(show.words)}
            return _rewritten(known[0], cells)
        return _joined(show, known)

    def _value(self, name: str, rows: Mapping[str, TableRows]) -> pa.Array | None:
        found = self._shown(name, rows)
        if found is not None:
            return found
        entity, _, column = name.partition(".")
        interval = recording_catalog().entities[entity].interval
        if interval is None or column != interval[2]:
            return None
        start, end = (self._shown(f"{entity}.{one}", rows) for one in interval[:2])
        return None if start is None or end is None else pc.subtract(end, start)

    def _shown(self, name: str, rows: Mapping[str, TableRows]) -> pa.Array | None:
        """The values of a column of an entity, in the first table that shows it.

        Of several columns of a table that show it the first one that is not empty: a recording of
        an older revision has none of the later columns.
        """
        for table, found in rows.items():
            columns = [
                one
                for one in shape_of(self._output, table).columns.values()
                if name in one.shows.of and one.shows.form in ("plain", "packed")
            ]
            held = (one for one in columns if found.table[one.name].null_count < len(found.table))
            if columns:
                column = next(held, columns[0])
                return _part(column.shows, name, self._cells(table, column, found))
        return None

    def _cells(self, table: str, column: Column, rows: TableRows) -> pa.Array:
        """The cells of some rows; NULL for what stands for no value."""
        known = self._columns.get((table, column.name))
        if known is None or known[0] is not rows.table:
            whole = rows.table[column.name]
            if pa.types.is_dictionary(whole.type):
                whole = whole.unify_dictionaries()
            known = rows.table, whole.combine_chunks() if whole.num_chunks != 1 else whole.chunk(0)
            self._columns[table, column.name] = known
        places = rows.places
        values = known[1].take(pa.array(places, mask=places == NO_ROW))
        if not column.none or not pa.types.is_integer(values.type):
            return values
        absent = pc.is_in(values, value_set=pa.array(column.none, pa.int64()))
        return pc.if_else(absent, pa.scalar(None, pa.int64()), values)


def every_row(table: pa.Table) -> TableRows:
    """The rows of a table as they stand."""
    return TableRows(table, np.arange(len(table)))


def _part(show: Show, name: str, values: pa.Array) -> pa.Array:
    """What of a cell is one of the values that it shows."""
    if show.form == "plain":
        return values
    if show.of.index(name) == 0:
        return pc.shift_right(values, pa.scalar(32, pa.int64()))
    return pc.bit_wise_and(values, pa.scalar((1 << 32) - 1, pa.int64()))


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _rewritten(values: pa.Array, cells: Mapping[str, str]) -> pa.Array:
    texts = values if pa.types.is_dictionary(values.type) else values.cast(pa.string())
    texts = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    written = [cells.get(text, text) for text in texts.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(texts.indices, pa.array(written, pa.string()))


def _joined(show: Show, values: Sequence[pa.Array]) -> pa.Array:
    """The texts of a pattern; NULL where a part is not there."""
    names = [name.partition(".")[2] for name in show.of]
    rows = pa.table([_plain(one).cast(pa.string()) for one in values], names=names).to_pylist()
    pattern = show.pattern or ""
    texts = [None if None in row.values() else pattern.format(**row) for row in rows]
    return pa.array(texts, pa.string()).dictionary_encode()
