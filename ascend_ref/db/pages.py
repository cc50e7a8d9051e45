"""Columns of numbers straight from the pages of a table, many rows at a time.

SQLite gives a row after the other and a value after the other, which takes most of the time of a
reader of long tables. What profilers write is laid out plainly: small records, none of which goes
on in another page. Such pages are looked at as arrays here; for any other table, and from the first
other row on, :class:`OtherLayout` asks for SQLite.

Source: the file format of SQLite (sqlite.org/fileformat2.html), sections 1.6 and 2.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .header import HEADER_BYTES, READ_FLAGS

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

BYTES_AT_ONCE: Final = 1 << 21
DEEPEST: Final = 20
"""Levels of a b-tree that SQLite descends (BTCURSOR_MAX_DEPTH)."""
INTERIOR, LEAF = 5, 13
"""Kinds of pages of a table; their headers have 12 and 8 bytes."""
LONGEST: Final = 9
"""Bytes of a number of variable length."""
MORE: Final = 128
"""A byte from here on is not the last one of such a number."""
NULL, REAL, ZERO, ONE, FIRST_TEXT = 0, 7, 8, 9, 13
"""Serial types of cells; texts have odd numbers from the first one on."""
SIZES: Final = np.array(
    [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0, *((one - 12) // 2 for one in range(12, MORE))], np.int64
)
"""Bytes of a cell by its serial type."""
UTF_8: Final = 1


class OtherLayout(Exception):
    """SQLite has to read this table, or the rest of it."""


class Layout(NamedTuple):
    """How a table lies in its file. root: number of its first page. columns: how many its records
    have. key: the column that stands for the rowid, -1 without one.
    """

    root: int
    columns: int
    key: int


def plain_batches(
    path: Path, layout: Layout, wanted: Sequence[tuple[int, pa.DataType]]
) -> Iterator[list[pa.Array]]:
    """Columns of a table in rowid order, batch by batch, as int64 or double.

    wanted: places of columns, each with its type. The file has passed ``quick_check``. Raises
    :class:`OtherLayout` at cells that are neither NULL nor numbers of that type nor whole numbers
    that all stand as texts of one length, and wherever else rows are not laid out plainly.
    """
    with _opened(path) as file:
        leaves = file.leaves(layout.root)
        for first in range(0, len(leaves), file.pages_at_once):
            rows = _Rows(file, leaves[first : first + file.pages_at_once])
            if len(rows.record):
                cells = rows.cells(layout, max(place for place, _ in wanted))
                yield [
                    _key(rows, cells[place], kind)
                    if place == layout.key
                    else _column(file, rows, cells[place], kind)
                    for place, kind in wanted
                ]


class _File:
    """A database file and its measures. usable: bytes of a page that hold content."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        header = file.read(HEADER_BYTES)
        self.page_size = int.from_bytes(header[16:18], "big")
        if self.page_size == 1:
            self.page_size = 1 << 16
        if len(header) < HEADER_BYTES or self.page_size < 512 or header[20] > self.page_size - 480:
            raise OtherLayout
        self.usable = self.page_size - header[20]
        self.is_utf_8 = int.from_bytes(header[56:60], "big") == UTF_8
        self.pages_at_once = max(BYTES_AT_ONCE // self.page_size, 1)
        self._count = os.fstat(file.fileno()).st_size // self.page_size

    def read(self, pages: Places) -> bytes:
        """The pages of these numbers, one behind the other."""
        runs = np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1)
        found = b"".join(self._read(int(run[0]), len(run)) for run in runs)
        if len(found) != len(pages) * self.page_size:
            raise OtherLayout
        return found

    def _read(self, first: int, count: int) -> bytes:
        self._file.seek((first - 1) * self.page_size)
        return self._file.read(count * self.page_size)

    def leaves(self, root: int) -> Places:
        """The numbers of the leaf pages of a b-tree, in order."""
        level = np.array([root], np.int64)
        for _ in range(DEEPEST):
            if level.min() < 2 or level.max() > self._count or len(level) > self._count:
                raise OtherLayout
            if self.read(level[:1])[0] == LEAF:
                return level
            pages = (self.read(level[place : place + 1]) for place in range(len(level)))
            level = np.concatenate([self._children(page) for page in pages])
        raise OtherLayout

    def _children(self, page: bytes) -> Places:
        cells = int.from_bytes(page[3:5], "big")
        if page[0] != INTERIOR or 12 + 2 * cells > self.usable:
            raise OtherLayout
        places = np.frombuffer(page, ">u2", cells, 12).astype(np.int64)
        if cells and places.max() > self.usable - 4:
            raise OtherLayout
        numbers = np.ndarray(self.usable - 3, ">u4", page, strides=(1,))[places]
        return np.append(numbers, int.from_bytes(page[8:12], "big")).astype(np.int64)


@contextmanager
def _opened(path: Path) -> Iterator[_File]:
    try:
        with os.fdopen(os.open(path, READ_FLAGS), "rb", buffering=0) as file:
            yield _File(file)
    except OSError:
        raise OtherLayout from None


class _Cells(NamedTuple):
    """A column of records: serial types, the least and the greatest of them, the bytes of the
    cells, and where they begin.
    """

    kinds: Bytes
    least: int
    top: int
    sizes: Places | int
    places: Places


class _Rows:
    """The rows of leaf pages. record: where the header of each begins; rowid: and its number."""

    def __init__(self, file: _File, pages: Places) -> None:
        raw = file.read(pages) + bytes(2 * LONGEST)
        self.bytes: Bytes = np.frombuffer(raw, np.uint8)
        self.raw = raw
        base = np.arange(len(pages)) * file.page_size
        counts = self._numbers(base + 3, ">u2")
        if (self.bytes[base] != LEAF).any() or counts.max() > file.usable // 4:
            raise OtherLayout
        base, counts = base[counts > 0], counts[counts > 0]
        ends = np.cumsum(counts)
        owner = np.repeat(base, counts)
        number = np.arange(len(owner)) - np.repeat(ends - counts, counts)
        cell = self._numbers(owner + 8 + 2 * number, ">u2")
        if len(cell) and cell.max() > file.usable - 4:
            raise OtherLayout
        cell += owner
        size, self._rowid = self._sizes(cell)
        first = ends - counts
        lengths = [self._lengths(self._rowid[place]) for place in (first, ends - 1)]
        # Rowids ascend, and of those that are not negative the longer ones come last.
        if (lengths[0] == lengths[1]).all() and (lengths[0] < LONGEST).all():
            self._length = np.repeat(lengths[0], counts)
        else:
            self._length = self._lengths(self._rowid)
        self.record = self._rowid + self._length
        self._end = self.record + size
        if (size > file.usable - 35).any() or (self._end > owner + file.usable).any():
            raise OtherLayout

    def _numbers(self, places: Places, form: str) -> Places:
        """Big-endian numbers that stand at any place."""
        width = np.dtype(form).itemsize
        every = np.ndarray(len(self.raw) - width + 1, form, self.raw, strides=(1,))
        return every[places].astype(np.int64)

    def pieces(self, places: Places, width: int) -> Bytes:
        """So many bytes from each place on."""
        every = np.ndarray(len(self.raw) - width + 1, f"V{width}", self.raw, strides=(1,))
        return every[places].view(np.uint8).reshape(len(places), width)

    def words(self, places: Places) -> Places:
        """The 8 bytes from each place on."""
        return self._numbers(places, ">i8")

    def _sizes(self, cell: Places) -> tuple[Places, Places]:
        """The bytes of records, in a number of at most two bytes, and where it ends."""
        size = self.bytes[cell].astype(np.int64)
        long = size >= MORE
        if not long.any():
            return size, cell + 1
        second = self.bytes[cell + 1].astype(np.int64)
        if (second[long] >= MORE).any():
            raise OtherLayout
        return np.where(long, (size - MORE) * MORE + second, size), cell + 1 + long

    def _lengths(self, places: Places) -> Places:
        """How many bytes numbers of variable length have."""
        found = np.ones(len(places), np.int64)
        more = self.bytes[places] >= MORE
        for byte in range(1, LONGEST):
            if not more.any():
                break
            found += more
            more &= self.bytes[places + byte] >= MORE
        return found

    def rowids(self) -> Places:
        """The numbers of the rows."""
        found = np.zeros(len(self._rowid), np.int64)
        for byte in range(int(self._length.max())):
            value = self.bytes[self._rowid + byte].astype(np.int64)
            longer = (found << 7) | (value & (MORE - 1))
            if byte == LONGEST - 1:
                longer = (found << 8) | value
            found = np.where(self._length > byte, longer, found)
        return found

    def cells(self, layout: Layout, last: int) -> list[_Cells]:
        """The cells of the columns up to the last one that is wanted."""
        head = layout.columns + 1
        # Records that are shorter have the defaults of columns that were added later.
        if head >= MORE or (self._end - self.record < head).any():
            raise OtherLayout
        heads = self.pieces(self.record, head)
        if (heads[:, 0] != head).any():
            raise OtherLayout
        found = []
        places = self.record + head
        for column in range(last + 1):
            kinds = np.ascontiguousarray(heads[:, 1 + column])
            least, top = int(kinds.min()), int(kinds.max())
            if top >= MORE:
                raise OtherLayout
            sizes = int(SIZES[top]) if least == top else SIZES[kinds]
            found.append(_Cells(kinds, least, top, sizes, places))
            places = places + sizes
        if (places > self._end).any():
            raise OtherLayout
        return found


def _key(rows: _Rows, cells: _Cells, kind: pa.DataType) -> pa.Array:
    """The column that stands for the rowid, in whose place records hold NULL."""
    if cells.top != NULL:
        raise OtherLayout
    return pa.array(rows.rowids()).cast(kind, safe=False)


def _column(file: _File, rows: _Rows, cells: _Cells, kind: pa.DataType) -> pa.Array:
    kinds, top = cells.kinds, cells.top
    if top >= FIRST_TEXT and kind == pa.int64():
        return _written(file, rows, cells)
    if top > ONE or (top >= REAL and kind == pa.int64() and (kinds == REAL).any()):
        raise OtherLayout
    values = rows.words(cells.places)
    values >>= np.minimum(64 - 8 * cells.sizes, 63)
    if top >= ZERO:
        values[kinds == ZERO] = 0
        values[kinds == ONE] = 1
    none = kinds == NULL if cells.least == NULL else None
    if kind == pa.int64():
        return pa.array(values, mask=none)
    reals: npt.NDArray[Any] = np.where(kinds == REAL, values.view(np.float64), values)
    odd = np.isnan(reals)  # which SQLite reads as NULL
    none = odd if none is None else odd | none
    return pa.array(reals, mask=none if none.any() else None)


def _written(file: _File, rows: _Rows, cells: _Cells) -> pa.Array:
    """Whole numbers that stand as text."""
    width = int(SIZES[cells.top])
    if cells.least != cells.top or cells.top % 2 == 0 or not width or not file.is_utf_8:
        raise OtherLayout
    pieces = rows.pieces(cells.places, width)
    ends = np.arange(len(pieces) + 1, dtype=np.int32) * width
    texts = pa.StringArray.from_buffers(len(pieces), pa.py_buffer(ends), pa.py_buffer(pieces))
    digits = pieces - ord("0")
    if digits.max() > 9 or not digits[:, 0].all():
        return whole_numbers(texts)
    try:
        # Digits that begin with no zero are written as no other number.
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        raise OtherLayout from None


def whole_numbers(texts: pa.StringArray) -> pa.Array:
    """Whole numbers from texts. Raises :class:`OtherLayout` for one that is written otherwise."""
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        raise OtherLayout from None
    if not numbers.cast(pa.string()).equals(texts):
        raise OtherLayout
    return numbers
