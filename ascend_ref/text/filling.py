"""Columns that a file shows of the recording in a form of the closed list: no code of their own."""

from __future__ import annotations

import pyarrow as pa

from ascend_ref.arrays import first_known, integers, is_text, same
from ascend_ref.recorded.shown import ShownValues
from ascend_spec.text.model import CsvColumn

from .columns import HOST, Columns, ShownColumns, device_texts, row_count
from .setting import Setting

DEVICE = "deviceId"
"""Type of the columns that name a device."""
UNKNOWN = "unknown"
MICROSECONDS = "us"
"""Unit of the columns that :mod:`.cells` prints from ns."""


class Filling:
    """Fills columns of one file from the rows of tables and records that its batches show."""

    def __init__(self, setting: Setting) -> None:
        self._values = ShownValues(setting.writer.output)

    def of(self, column: CsvColumn, batch: Columns) -> pa.Array:
        """The values of a column, in the forms of :mod:`.cells`.

        Where nothing is known: NULL, which is the sentinel of the column; without one the host in
        place of a device, the sentinel of the database, the first member, 0 or "unknown".
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
        if "text" in column.storage or column.type == DEVICE:
            nothing = same(_nothing(column), len(values))
            return first_known([values, nothing]) if is_text(values) else nothing
        number = self._values.none_of(column.shows, rows) or 0
        kind = pa.int64() if pa.types.is_null(values.type) else values.type
        return values.cast(kind).fill_null(pa.scalar(number, kind))


def _nothing(column: CsvColumn) -> str:
    if column.type == DEVICE:
        return HOST
    return column.members[0] if column.members else UNKNOWN
