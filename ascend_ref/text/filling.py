"""Columns that a file shows of the recording as it is: no code of their own."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.recorded.shown import ShownValues
from ascend_spec.text.model import CsvColumn

from .cells import NANOSECONDS_IN
from .columns import Columns, ShownColumns, row_count, same
from .setting import Setting

UNKNOWN = "N/A"
NS_IN = {"ms": 1e6, "s": 1e9}
"""Units beyond those that cells know how to print ns in."""


class Filling:
    """Fills columns of one file from the rows of tables that its batches show."""

    def __init__(self, setting: Setting) -> None:
        self._values = ShownValues(setting.writer.output)

    def of(self, column: CsvColumn, batch: Columns) -> pa.Array:
        """The values of a column, in the forms of :mod:`.cells`.

        Where nothing is known: NULL, which is the sentinel of the column; without one a member, 0
        or N/A.
        """
        rows = batch.rows if isinstance(batch, ShownColumns) else {}
        values = self._values.of(column.shows, rows) if rows else None
        if values is None:
            return _nothing(column, row_count(batch))
        if column.unit in NS_IN and pa.types.is_integer(values.type):
            values = pc.divide(values.cast(pa.float64()), NS_IN[column.unit])
        elif column.unit == NANOSECONDS_IN or "text" not in column.storage:
            return values
        elif not (pa.types.is_dictionary(values.type) or pa.types.is_string(values.type)):
            values = values.cast(pa.string())
        return values


def _nothing(column: CsvColumn, rows: int) -> pa.Array:
    if column.sentinels:
        return pa.nulls(rows)
    if "text" in column.storage:
        return same(column.members[0] if column.members else UNKNOWN, rows)
    return pa.array([0] * rows, pa.int64())
