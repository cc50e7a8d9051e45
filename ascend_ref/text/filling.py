"""Columns that a file shows of the recording in a form of the closed list: no code of their own."""

from __future__ import annotations

import pyarrow as pa

from ascend_ref.arrays import integers, is_text, same
from ascend_ref.recorded.shown import ShownValues
from ascend_spec.text.model import CsvColumn

from .columns import HOST, Columns, ShownColumns, device_texts, row_count
from .setting import Setting

DEVICE = "deviceId"
"""Type of the columns that name a device."""
MICROSECONDS = "us"
"""Unit of the columns that :mod:`.cells` prints from ns."""


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
