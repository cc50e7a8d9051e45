"""Columns of the rows of a file, and ways to rearrange them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import chosen
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded.shown import TableRows, every_row

Columns: TypeAlias = Mapping[str, "pa.Array | Sequence[pa.Array]"]
"""Rows of a file by canonical column name; a column that repeats is given once for each time."""

BATCH_ROWS = 1 << 16
"""Rows of a wide file that are made at once."""
HOST = "host"
"""Device_id of rows that no device made (seed-001, msproftx)."""


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


def device_texts(numbers: Integers) -> pa.DictionaryArray:
    """Device_id: the device as text, ``host`` where it is negative."""
    found, places = np.unique(numbers, return_inverse=True)
    return chosen([str(one) if one >= 0 else HOST for one in found.tolist()], places)


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
