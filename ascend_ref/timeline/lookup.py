"""Columns of tables as arrays, and rows by key."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import Mask, integers, is_one_of
from ascend_ref.capture.batch import Integers
from ascend_ref.forms import LOW_WORD
from ascend_ref.spill import Spill, batches, is_ascending, sorted_rows

Rows = npt.NDArray[np.int32]

NONE = -1
"""Row of a key that is not there."""
LARGEST_KEY = 1 << 62


def filled(column: pa.DictionaryArray, missing: str) -> pa.DictionaryArray:
    """A text column with another text in place of NULL."""
    texts = pa.concat_arrays([column.dictionary, pa.array([missing], pa.string())])
    indices = column.indices.fill_null(len(column.dictionary))
    return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


def taken(column: pa.Array, rows: Integers | Rows) -> pa.Array:
    """A column in these rows; NULL for row NONE."""
    none = rows == NONE
    return column.take(pa.array(rows, mask=none if none.any() else None))


class Columns:
    """Columns of a long table, in files of their own where they are not as the table has them."""

    def __init__(self, table: pa.Table, spill: Spill) -> None:
        self.table = table
        self._spill = spill

    def integers(self, name: str, missing: int = NONE) -> Integers:
        """Whole numbers, ``missing`` where there is none."""
        if not self.table[name].null_count:
            return integers(self.table[name])
        return self._spill.array(
            (integers(cells, missing) for cells in self._batches(name)), np.int64
        )

    def low_words(self, name: str) -> Integers:
        """The lower 32 bits of each number, 0 where it is NULL."""
        return self._spill.made(lambda value: value & LOW_WORD, self.integers(name, 0))

    def holds(self, name: str, *texts: str) -> Mask:
        """Where a text column has one of the texts."""
        return self._spill.array(
            (is_one_of(cells, texts) for cells in self._batches(name)), np.bool_
        )

    def _batches(self, name: str) -> Iterator[pa.ChunkedArray]:
        column = self.table[name]
        return (column.slice(part.start, part.stop - part.start) for part in batches(len(column)))


class Lookup:
    """Where keys stand; of equal ones the first."""

    def __init__(self, keys: Integers, spill: Spill) -> None:
        self._spill = spill
        self._order: Integers | None = None
        if not is_ascending(spill, keys):
            self._order = sorted_rows(spill, keys)
            keys = spill.taken(keys, self._order)
        self._keys = keys

    def rows(self, wanted: Integers) -> Integers:
        """The row of each wanted key, NONE where it is not there."""
        return self._spill.made(self._found, wanted)

    def _found(self, wanted: Integers) -> Integers:
        if not len(self._keys):
            return np.full(len(wanted), NONE)
        place = np.searchsorted(self._keys, wanted)
        place[place == len(self._keys)] = 0
        found = self._keys[place] == wanted
        rows = place if self._order is None else self._order[place]
        return np.where(found, rows, NONE)


def packed(*columns: Integers | Rows) -> Integers:
    """One number for each combination of numbers, equal where all of them are."""
    key = np.zeros(len(columns[0]), np.int64)
    size = 1
    for column in columns:
        digits, width = _digits(column, LARGEST_KEY // size)
        if size * width > LARGEST_KEY:
            _, key = np.unique(key, return_inverse=True)
            size = len(key)
            digits, width = _digits(column, LARGEST_KEY // size)
        key = key * width + digits
        size *= width
    return key


def _digits(column: Integers | Rows, most: int) -> tuple[Integers, int]:
    """A column as numbers from 0, and how many there may be; dense where they would be too many."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    if high - low < most:
        return column.astype(np.int64) - low, high - low + 1
    _, digits = np.unique(column, return_inverse=True)
    return digits, len(column)


def distinct(*columns: Integers | Rows) -> list[Integers | Rows]:
    """The combinations of numbers that occur, ascending from the first column on."""
    _, first = np.unique(packed(*columns), return_index=True)
    found = [column[first] for column in columns]
    order = np.lexsort(found[::-1])
    return [column[order] for column in found]


def combinations(spill: Spill, *columns: Integers | Rows) -> list[tuple[int, ...]]:
    """As :func:`distinct`, of long columns; row by row."""
    found: set[tuple[int, ...]] = set()
    for batch in spill.batches(len(columns[0])):
        some = distinct(*(column[batch] for column in columns))
        found.update(zip(*(column.tolist() for column in some), strict=True))
    return sorted(found)
