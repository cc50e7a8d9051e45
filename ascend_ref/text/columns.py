"""Columns of the rows of a file, and small ways to make and to rearrange them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.db.columns import integers_of
from ascend_ref.recorded.shown import TableRows, every_row

Columns: TypeAlias = Mapping[str, "pa.Array | Sequence[pa.Array]"]
"""Rows of a file by canonical column name; a column that repeats is given once for each time."""


class ShownColumns(dict[str, "pa.Array | Sequence[pa.Array]"]):
    """Columns, and the rows of tables from which those are filled that are not among them."""

    def __init__(self, columns: Columns, rows: Mapping[str, TableRows]) -> None:
        super().__init__(columns)
        self.rows = rows


def of_table(name: str, table: pa.Table, columns: Columns) -> ShownColumns:
    """Columns that show every row of a table, in its order."""
    return ShownColumns(columns, {name: every_row(table)})


BATCH_ROWS = 1 << 16
"""Rows of a wide file that are made at once."""
Column: TypeAlias = "pa.Array | pa.ChunkedArray"
HOST = "host"
"""Device_id of rows that no device made (text-outputs.md 2.5)."""


def integers(column: Column, none: int = -1) -> Integers:
    """Whole numbers, with ``none`` for NULL."""
    array = plain(column)
    return integers_of(array.fill_null(none) if array.null_count else array)


def reals(column: Column, none: float = 0.0) -> Reals:
    """Floats, with ``none`` for NULL."""
    array = plain(column).cast(pa.float64(), safe=False)
    filled = array.fill_null(none) if array.null_count else array
    return np.frombuffer(filled.buffers()[1] or b"", np.float64, len(filled), 8 * filled.offset)


def known_reals(values: Reals) -> pa.Array:
    """Floats as a column, NULL for NaN."""
    return pa.array(values, mask=np.isnan(values))


def plain(column: Column) -> pa.Array:
    """The column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)  # putting chunks together copies even a single one
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def present(column: Column) -> npt.NDArray[np.bool_]:
    """Where a column is not NULL."""
    array = plain(column)
    if not array.null_count:
        return np.ones(len(array), np.bool_)
    return integers_of(array.is_valid().cast(pa.int64())).astype(np.bool_)


def same(text: str, rows: int) -> pa.DictionaryArray:
    """One text in every row."""
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array([text], pa.string()))


def chosen(texts: Sequence[str], places: npt.NDArray[Any]) -> pa.DictionaryArray:
    """For each row one of few texts."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int32), pa.array(texts, pa.string()))


def nothing(rows: int) -> pa.Array:
    """No value in any row."""
    return pa.nulls(rows)


def where(condition: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> pa.Array:
    """The values, NULL where the condition does not hold."""
    return pa.array(values, mask=~condition)


def renamed(texts: Column, names: Mapping[str, str]) -> pa.DictionaryArray:
    """A text column with some texts replaced, in its dictionary alone."""
    array = dictionary(texts)
    replaced = [names.get(text, text) for text in array.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(array.indices, pa.array(replaced, pa.string()))


def dictionary(texts: Column) -> pa.DictionaryArray:
    """A text column as one with a dictionary."""
    array = plain(texts)
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def is_one_of(texts: Column, wanted: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Where a text column holds one of the wanted texts."""
    array = dictionary(texts)
    known = pc.is_in(array.dictionary, value_set=pa.array(list(wanted), pa.string()))
    return picked(array, integers_of(known.cast(pa.int64())).astype(np.bool_), False)


def picked(texts: pa.DictionaryArray, values: npt.NDArray[Any], none: Any) -> npt.NDArray[Any]:
    """For each row what its text stands for; ``values`` by place in the dictionary."""
    extended: npt.NDArray[Any] = np.append(values, np.array([none], values.dtype))
    return extended[text_places(texts)]


def devices(numbers: Column) -> pa.DictionaryArray:
    """Device_id: the device as text, ``host`` where there is none."""
    return device_texts(integers(numbers))


def device_texts(numbers: Integers) -> pa.DictionaryArray:
    """Device_id: the device as text, ``host`` where it is negative."""
    found, places = np.unique(numbers, return_inverse=True)
    return chosen([str(one) if one >= 0 else HOST for one in found.tolist()], places)


def cards(numbers: Column) -> pa.DictionaryArray:
    """The device as the memory files call it: ``NPU:0``."""
    found, places = np.unique(integers(numbers), return_inverse=True)
    return chosen([f"NPU:{one}" for one in found.tolist()], places)


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
    shown = {name: TableRows(table, own[places]) for name, (table, own) in columns.rows.items()}
    return ShownColumns(found, shown)


def row_count(columns: Columns) -> int:
    """How many rows there are."""
    first = next(iter(columns.values()))
    return len(first if isinstance(first, pa.Array) else first[0])


def parts(rows: Integers) -> Iterator[Integers]:
    """Places of rows, some thousands at a time."""
    for start in range(0, len(rows), BATCH_ROWS):
        yield rows[start : start + BATCH_ROWS]


def text_places(texts: pa.DictionaryArray) -> npt.NDArray[np.int32]:
    """Where the texts of the rows stand in the dictionary, -1 for NULL."""
    indices = texts.indices.cast(pa.int32())
    filled = indices.fill_null(-1) if indices.null_count else indices
    return np.frombuffer(filled.buffers()[1] or b"", np.int32, len(filled), 4 * filled.offset)


def text_numbers(texts: pa.DictionaryArray) -> Integers:
    """Numbers of the texts, equal for equal ones, -1 for NULL.

    A dictionary may hold a text twice, as STRING_IDS does in real files.
    """
    unique = texts.dictionary.dictionary_encode().indices
    return picked(texts, integers(unique), -1)


def begins_with(texts: pa.DictionaryArray, beginning: str) -> npt.NDArray[np.bool_]:
    """Where a text has this beginning."""
    known = pc.starts_with(texts.dictionary, beginning)
    return picked(texts, integers(known.cast(pa.int64())).astype(np.bool_), False)


def ends_with(texts: pa.DictionaryArray, ending: str) -> npt.NDArray[np.bool_]:
    """Where a text has this ending."""
    known = pc.ends_with(texts.dictionary, ending)
    return picked(texts, integers(known.cast(pa.int64())).astype(np.bool_), False)
