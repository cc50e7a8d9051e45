"""Columns of the rows of a file: given, filled from what they show, and rearranged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import chosen, integers, is_text, same
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import ShownValues, TableRows, columns_showing, every_row
from ascend_spec.text.model import CsvColumn

from .setting import Setting

Columns: TypeAlias = Mapping[str, "pa.Array | Sequence[pa.Array]"]
"""Rows of a file by canonical column name; a column that repeats is given once for each time."""

BATCH_ROWS = 1 << 16
"""Rows of a wide file that are made at once."""
HOST = "host"
"""Device_id of rows that no device made (seed-001, msproftx)."""
DEVICE = "deviceId"
"""Type of the columns that name a device."""
MICROSECONDS = "us"
"""Unit of the columns that :mod:`.cells` prints from ns."""


class ShownColumns(dict[str, "pa.Array | Sequence[pa.Array]"]):
    """Columns, and the rows of tables and records from which those are filled that are not among
    them; rows by the name of their table or record.
    """

    def __init__(self, columns: Columns, rows: Mapping[str, TableRows]) -> None:
        super().__init__(columns)
        self.rows = rows


def of_table(name: str, table: pa.Table, columns: Columns | None = None) -> ShownColumns:
    """Columns that show every row of a table, a record or an entity, in its order."""
    return ShownColumns(columns or {}, {name: every_row(table)})


def shown_table(recorded: Recorded, setting: Setting, name: str, *others: str) -> pa.Table:
    """The columns of a table from which :class:`Filling` fills those of the file, and others."""
    shows = (column.shows for column in setting.file.columns)
    showing = columns_showing(recorded.output, name, shows)
    return recorded.table(name, {*others, *showing})


def device_texts(numbers: Integers) -> pa.DictionaryArray:
    """Device_id: the device as text, ``host`` where it is negative."""
    found, places = np.unique(numbers, return_inverse=True)
    return chosen([str(one) if one >= 0 else HOST for one in found.tolist()], places)


def of_formula(setting: Setting, formula: str, figures: Iterable[Any]) -> dict[str, pa.Array]:
    """The columns of a file that a derivation makes, from its figures, which are in their order."""
    names = [one.name for one in setting.columns() if one.formula == formula]
    return {
        name: values if isinstance(values, pa.Array) else pa.array(values)
        for name, values in zip(names, figures, strict=True)
    }


def taken(columns: Columns, rows: npt.NDArray[Any]) -> Columns:
    """The rows at these places, in this order."""
    places = pa.array(rows)
    found = {
        name: column.take(places)
        if isinstance(column, pa.Array)
        else [one.take(places) for one in column]
        for name, column in columns.items()
    }
    if not isinstance(columns, ShownColumns):
        return found
    shown = {name: TableRows(table, own[rows]) for name, (table, own) in columns.rows.items()}
    return ShownColumns(found, shown)


def row_count(columns: Columns) -> int:
    """How many rows there are."""
    if isinstance(columns, ShownColumns) and columns.rows:
        return len(next(iter(columns.rows.values())).places)
    first = next(iter(columns.values()))
    return len(first if isinstance(first, pa.Array) else first[0])


def parts(rows: Integers) -> Iterator[Integers]:
    """Places of rows, some thousands at a time."""
    for start in range(0, len(rows), BATCH_ROWS):
        yield rows[start : start + BATCH_ROWS]


class Filling:
    """Fills columns of one file from the rows of tables and records that its batches show."""

    def __init__(self, setting: Setting) -> None:
        self._values = ShownValues(setting.writer.output)

    def of(self, column: CsvColumn, batch: Columns) -> pa.Array:
        """The values of a column, in the forms of :mod:`.cells`.

        Where nothing is known: NULL, but for columns without a sentinel: those of a device name the
        host, and numbers are what stands for none in the database, or 0.
        """
        rows = batch.rows if isinstance(batch, ShownColumns) else {}
        unit = None if column.unit == MICROSECONDS else column.unit
        values = self._values.of(column.shows, rows, unit)
        if values is None:
            values = pa.nulls(row_count(batch))
        elif column.type == DEVICE:
            return device_texts(integers(values))
        elif "text" in column.storage and not is_text(values):
            values = values.cast(pa.string()).dictionary_encode()
        if column.sentinels or not values.null_count:
            return values
        if column.type == DEVICE or column.members == (HOST,):
            return same(HOST, len(values))
        if "text" in column.storage:
            return values
        number = self._values.none_of(column.shows, rows) or 0
        kind = pa.int64() if pa.types.is_null(values.type) else values.type
        return values.cast(kind).fill_null(pa.scalar(number, kind))
