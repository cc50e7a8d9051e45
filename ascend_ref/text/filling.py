"""Columns that a file shows of the recording as it is: no code of their own."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.recorded.shown import ShownValues
from ascend_spec.text.model import CsvColumn

from .columns import Columns, ShownColumns, row_count
from .setting import Setting

UNKNOWN = "unknown"
NS_IN = {"ms": 1e6, "s": 1e9}
"""Units beyond those that cells know how to print ns in."""


class Filling:
    """Fills columns of one file from the rows of tables that its batches show."""

    def __init__(self, setting: Setting) -> None:
        self._values = ShownValues(setting.writer.output)

    def of(self, column: CsvColumn, batch: Columns) -> pa.Array:
        """The values of a column, in the forms of :mod:`.cells`.

        Where nothing is known: NULL, which is the sentinel of the column; without one the first
        member, 0 or "unknown".
        """
        rows = batch.rows if isinstance(batch, ShownColumns) else {}
        values = self._values.of(column.shows, rows) if rows else None
        if values is None:
            return pa.nulls(row_count(batch)) if column.sentinels else _nothing(column, batch)
        if column.unit in NS_IN and pa.types.is_integer(values.type):
            values = pc.divide(values.cast(pa.float64()), NS_IN[column.unit])
        elif "text" in column.storage and not _has_dictionary(values):
            values = values.cast(pa.string())
        if column.sentinels or not values.null_count:
            return values
        if _has_dictionary(values):
            values = values.dictionary_decode()
        return pc.coalesce(values, _nothing(column, batch).cast(values.type))


def _has_dictionary(values: pa.Array) -> bool:
    return bool(pa.types.is_dictionary(values.type))


def _nothing(column: CsvColumn, batch: Columns) -> pa.Array:
    rows = row_count(batch)
    if "text" in column.storage:
        return pa.array([column.members[0] if column.members else UNKNOWN] * rows, pa.string())
    return pa.array([0] * rows, pa.int64())
