"""Arrow tables whose columns lie in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .columns import Bytes, Spill, batches


def spilled_table(
    spill: Spill, schema: pa.Schema, batches: Iterable[Iterable[pa.Array]]
) -> pa.Table:
    """Batches of columns as one table, each column in one piece.

    Columns are numbers of 64 bits, or texts in dictionaries; the texts of a column share one, which
    is in memory.
    """
    columns = [
        _Texts() if pa.types.is_dictionary(field.type) else _Column(field.type) for field in schema
    ]
    for batch in batches:
        for column, cells in zip(columns, batch, strict=True):
            column.add(cells)
    return pa.Table.from_arrays([column.finish(spill) for column in columns], schema=schema)


def spilled_column(
    spill: Spill, parts: Iterable[npt.NDArray[Any] | pa.Array]
) -> npt.NDArray[Any] | pa.Array:
    """Batches of a column in one piece: numbers of 64 bits in a file, texts in memory.

    A single batch is returned as it is.
    """
    rest = iter(parts)
    first, second = next(rest, np.empty(0, np.int64)), next(rest, None)
    if second is None:
        return first
    every = (_arrow(part) for part in chain((first, second), rest))
    kind = _arrow(first).type
    if kind not in (pa.int64(), pa.float64()):
        return pa.concat_arrays(list(every))
    column = _Column(kind)
    for part in every:
        column.add(part)
        spill.release()
    return column.finish(spill)


def _arrow(part: npt.NDArray[Any] | pa.Array) -> pa.Array:
    return pa.array(part) if isinstance(part, np.ndarray) else part


class _Column:
    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._rows = 0
        self._nulls = 0
        self._values = Bytes()
        self._marks = Bytes()
        """Where there is a value: one byte for each row, from the first NULL on."""

    def add(self, cells: pa.Array) -> None:
        if cells.null_count and not self._nulls:
            for part in batches(self._rows):
                self._marks.write(np.ones(part.stop - part.start, np.bool_))
        self._rows += len(cells)
        self._nulls += cells.null_count
        if self._nulls:
            self._marks.write(_values(cells.is_valid().cast(pa.int8())))
        self._values.write(_values(cells.fill_null(0) if cells.null_count else cells))

    def finish(self, spill: Spill) -> pa.Array:
        valid = pa.py_buffer(spill.array(self._bits(spill), np.uint8)) if self._nulls else None
        values = pa.py_buffer(spill.hold(self._values))
        return pa.Array.from_buffers(self._kind, self._rows, [valid, values], self._nulls)

    def _bits(self, spill: Spill) -> Iterator[npt.NDArray[np.uint8]]:
        marks = np.frombuffer(spill.hold(self._marks), np.bool_)
        for part in batches(self._rows):
            yield np.packbits(marks[part], bitorder="little")


class _Texts(_Column):
    def __init__(self) -> None:
        super().__init__(pa.int32())
        self._places: dict[str, int] = {}

    def add(self, cells: pa.DictionaryArray) -> None:
        places = self._places
        texts = cells.dictionary.to_pylist()
        number = pa.array([places.setdefault(text, len(places)) for text in texts], pa.int32())
        super().add(number.take(cells.indices))

    def finish(self, spill: Spill) -> pa.DictionaryArray:
        texts = pa.array(list(self._places), pa.string())
        # A check of what was numbered here would load the whole column.
        return pa.DictionaryArray.from_arrays(super().finish(spill), texts, safe=False)


def _values(cells: pa.Array) -> npt.NDArray[Any]:
    """The numbers of a column, without regard to NULL, as a view."""
    kind = np.dtype(cells.type.to_pandas_dtype())
    if not len(cells):
        return np.empty(0, kind)
    return np.frombuffer(cells.buffers()[1], kind, len(cells), cells.offset * kind.itemsize)
