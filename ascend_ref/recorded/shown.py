"""Values of tables by what a cell of another medium shows of the recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import one_piece
from ascend_ref.capture.batch import Integers
from ascend_ref.forms import Cells, columns_of, part, shown
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


def every_row(table: pa.Table) -> TableRows:
    """The rows of a table as they stand."""
    return TableRows(table, np.arange(len(table)))


class ShownValues:
    """Looks up values in rows of tables, for one file or layer; keeps what it looked up before."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._columns: dict[tuple[str, str], tuple[pa.Table, pa.Array]] = {}

    def of(
        self, show: Show, rows: Mapping[str, TableRows], unit: str | None = None
    ) -> pa.Array | None:
        """What the rows have for a cell: integers, floats or texts by dictionary, NULL for what the
        recording does not have; ``None`` where no table of the rows holds the values.

        ``rows``: by the name of their table; of one that has columns of an entity under their own
        names, that of the entity. ``unit``: of the cell; without one values keep their own.
        """
        return shown(show, lambda name: self._cells_of(name, rows), unit)

    def none_of(self, show: Show, rows: Mapping[str, TableRows]) -> int | None:
        """What stands for no value in the first table of the rows that has a number for it."""
        columns = (one for name in show.of for _, one in self._showing(name, rows))
        return next((one.none[0] for one in columns if one.none), None)

    def _cells_of(self, name: str, rows: Mapping[str, TableRows]) -> Cells | None:
        """The values of a column of an entity, in the first table that shows it.

        Of several columns of a table that show it the first one that is not empty: a recording of
        an older revision has none of the later columns.
        """
        entity, _, own = name.partition(".")
        if entity in rows and own in rows[entity].table.column_names:
            unit = recording_catalog().entities[entity].columns[own].unit
            return Cells(self._taken(entity, own, rows[entity]), unit)
        for table, columns in groupby(self._showing(name, rows), itemgetter(0)):
            showing, whole = [one for _, one in columns], rows[table].table
            held = (one for one in showing if whole[one.name].null_count < len(whole))
            column = next(held, showing[0])
            values = _known(column, self._taken(table, column.name, rows[table]))
            return Cells(part(column.shows, name, values), column.unit)
        return None

    def _showing(self, name: str, rows: Mapping[str, TableRows]) -> Iterator[tuple[str, Column]]:
        """The columns of database tables that show a column of an entity, each with its table."""
        for table in rows:
            if table not in recording_catalog().entities:
                yield from ((table, column) for column in _columns(self._output, table, name))

    def _taken(self, table: str, column: str, rows: TableRows) -> pa.Array:
        """Some rows of a column."""
        known = self._columns.get((table, column))
        if known is None or known[0] is not rows.table:
            known = rows.table, one_piece(rows.table[column])
            self._columns[table, column] = known
        places = rows.places
        return known[1].take(pa.array(places, mask=places == NO_ROW))


def columns_showing(output: Output, table: str, shows: Iterable[Show]) -> frozenset[str]:
    """The columns of a table in which :class:`ShownValues` may look for these cells."""
    names = {name for show in shows for name in columns_of(show)}
    return frozenset(column.name for name in names for column in _columns(output, table, name))


def _columns(output: Output, table: str, name: str) -> Iterator[Column]:
    """The columns of a table that show a column of an entity."""
    for column in shape_of(output, table).columns.values():
        if name in column.shows.of and column.shows.form in ("plain", "packed"):
            yield column


def _known(column: Column, values: pa.Array) -> pa.Array:
    """Cells with NULL for what stands for no value."""
    if not column.none or not pa.types.is_integer(values.type):
        return values
    absent = pc.is_in(values, value_set=pa.array(column.none, pa.int64()))
    return pc.if_else(absent, pa.scalar(None, pa.int64()), values)
