"""Arrays in nameless files that are mapped into memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile, gettempdir
from typing import Any, BinaryIO, TypeVar
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

KEPT_BYTES = 1 << 20
"""A shorter column stays in memory."""
ROWS_AT_ONCE = 1 << 16
"""Fills whole bytes where each row has a bit."""
NEAR_ROWS = 1 << 20
"""Among so many rows of 8 Byte it does not matter where those are that are looked up."""
FAR_ROWS_AT_ONCE = 1 << 12
"""Each may load a page, or several of them."""
LOADED_BYTES = 1 << 26
"""So much of all files may be in memory before it is let go of: less costs time to load again."""

Value = TypeVar("Value", bound=np.generic)
Array = npt.NDArray[Any]


def batches(rows: int) -> Iterator[slice]:
    """Slices of some thousands of rows that together hold all."""
    for start in range(0, rows, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, rows))


class Spill:
    """Makes long columns batch by batch and keeps them in files.

    What it gives are ordinary arrays, whose files last as long as they do. The operating system
    loads pages as they are used; :meth:`release` lets go of all of them.
    """

    def __init__(self) -> None:
        self._maps: WeakSet[mmap.mmap] = WeakSet()
        self._others = loaded_bytes()

    def release(self) -> None:
        """Let go of the memory of all columns where it is much; what is used again is loaded again.

        Where the system does not state how much it is, it may be.
        """
        if not self._maps:
            return
        loaded = loaded_bytes()
        self._others = min(self._others, loaded)
        if loaded and loaded - self._others <= LOADED_BYTES:
            return
        for mapped in self._maps:
            # Systems without this call take the pages back by themselves.
            if hasattr(mapped, "madvise"):
                mapped.madvise(mmap.MADV_DONTNEED)
        self._others = loaded_bytes()

    def batches(self, rows: int) -> Iterator[slice]:
        """As :func:`batches`, and after each of them everything is released."""
        for batch in batches(rows):
            yield batch
            self.release()

    def array(self, values: Iterable[npt.NDArray[Value]], kind: type[Value]) -> npt.NDArray[Value]:
        """Batches of a column as one array, which cannot be changed."""
        (column,) = self.arrays(([batch] for batch in values), 1, kind)
        return column

    def records(self, values: Iterable[Array], kind: np.dtype[Any]) -> Array:
        """As :meth:`array`, of packed records with all of their bytes."""
        column = Bytes()
        for batch in values:
            column.write(np.ascontiguousarray(batch).view(np.uint8))
            self.release()
        return np.frombuffer(self.hold(column), kind)

    def arrays(
        self, values: Iterable[Sequence[npt.NDArray[Value]]], count: int, kind: type[Value]
    ) -> list[npt.NDArray[Value]]:
        """As :meth:`array`, of several columns at once."""
        columns = [Bytes() for _ in range(count)]
        for batch in values:
            for column, own in zip(columns, batch, strict=True):
                column.write(own.astype(kind, copy=False))
            self.release()
        return [np.frombuffer(self.hold(column), kind) for column in columns]

    def made(
        self, function: Callable[..., Array], *columns: Array, kind: type[np.generic] = np.int64
    ) -> Array:
        """What a function makes of columns: one value of each row."""
        if len(columns[0]) <= ROWS_AT_ONCE:
            few = function(*columns).astype(kind, copy=False)
            self.release()
            return few
        found = (
            function(*(column[batch] for column in columns)) for batch in batches(len(columns[0]))
        )
        return self.array(found, kind)

    def taken(self, column: Array, rows: Array) -> Array:
        """A column in these rows; where they are all of its own in order, it is that column."""
        if column.flags.c_contiguous and self._are_all(rows, len(column)):
            return column
        return self.made(lambda row: self.gathered(column, row), rows, kind=column.dtype.type)

    def _are_all(self, rows: Array, count: int) -> bool:
        if len(rows) != count or not count or rows[0] != 0 or rows[-1] != count - 1:
            return False
        return all(
            bool((rows[batch] == np.arange(batch.start, batch.stop)).all())
            for batch in self.batches(count)
        )

    def gathered(self, column: Array, rows: Array) -> Array:
        """As :meth:`taken`, of one batch; far rows are looked up with few pages in memory."""
        width = column.strides[0] // 8
        if not len(rows) or width * (int(rows.max()) - int(rows.min())) < NEAR_ROWS:
            return column[rows]
        found = np.empty(len(rows), column.dtype)
        for start in range(0, len(rows), FAR_ROWS_AT_ONCE):
            piece = slice(start, start + FAR_ROWS_AT_ONCE)
            found[piece] = column[rows[piece]]
            self.release()
        return found

    def values_at(self, column: Array, places: Array, none: int = -1) -> Array:
        """A column at these places, and ``none`` where the place is negative."""

        def found(place: Array) -> Array:
            known = place >= 0
            if known.all():
                return self.gathered(column, place)
            values = np.full(len(place), none, column.dtype)
            values[known] = self.gathered(column, place[known])
            return values

        return self.made(found, places, kind=column.dtype.type)

    def joined(self, *parts: Array) -> Array:
        """Columns of whole numbers one behind the other; a single one as it is."""
        filled = [part for part in parts if len(part)]
        if len(filled) == 1:
            return filled[0]
        cut = (part[batch] for part in filled for batch in batches(len(part)))
        return self.array(cut, np.int64)

    def where(self, function: Callable[..., Array], *columns: Array) -> npt.NDArray[np.int64]:
        """The rows for which a function of columns is true, ascending."""
        found = (
            np.flatnonzero(function(*(column[batch] for column in columns))) + batch.start
            for batch in batches(len(columns[0]))
        )
        return self.array(found, np.int64)

    def rows(self, count: int) -> npt.NDArray[np.int64]:
        """The whole numbers from 0."""
        found = (np.arange(batch.start, batch.stop) for batch in batches(count))
        return self.array(found, np.int64)

    def changeable(
        self, rows: int, value: int, kind: type[np.generic] = np.int64
    ) -> npt.NDArray[Any]:
        """An array of one value, to put others into at any place."""
        column = Bytes()
        # Written and not merely sized: a full disk is an error here, and a crash in a mapping.
        for batch in batches(rows):
            column.write(np.full(batch.stop - batch.start, value, kind))
        return np.frombuffer(self.hold(column, mmap.ACCESS_WRITE), kind)

    def marks(self, count: int, places: Array) -> npt.NDArray[np.bool_]:
        """Which of so many places are among these; negative ones are none."""
        found: npt.NDArray[np.bool_] = self.changeable(count, 0, np.bool_)
        for batch in self.batches(len(places)):
            own = places[batch]
            found[own[own >= 0]] = True
        return found

    def range_of(self, column: Array) -> tuple[int, int]:
        """The least and the greatest whole number of a column that is not empty."""
        bounds = [
            (int(column[batch].min()), int(column[batch].max()))
            for batch in self.batches(len(column))
        ]
        return min(low for low, _ in bounds), max(high for _, high in bounds)

    def hold(self, column: Bytes, access: int = mmap.ACCESS_READ) -> bytearray | bytes | mmap.mmap:
        """The bytes of a complete column; ``access`` as of :class:`mmap.mmap`."""
        found = column.finish(access)
        if isinstance(found, mmap.mmap):
            if not self._maps:
                self._others = loaded_bytes()
            self._maps.add(found)
        return found


def loaded_bytes() -> int:
    """How much of files is in the memory of this process, its programs too; 0 where none states it.

    Source: proc_pid_statm(5), "shared".
    """
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(file, 256).split()[2]) * mmap.PAGESIZE
    finally:
        os.close(file)


class Bytes:
    """Bytes that move into a file when they become more than ``limit``."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = KEPT_BYTES if limit is None else limit
        self._kept = bytearray()
        self._file: BinaryIO | None = None

    def write(self, values: Array) -> None:
        """Add the bytes of an array. Raises ``OSError`` naming the folder that has no room."""
        data = np.ascontiguousarray(values).data.cast("B") if values.size else b""
        if self._file is not None:
            with _folder_named():
                self._file.write(data)
            return
        self._kept += data
        if len(self._kept) > self._limit:
            with _folder_named():
                self._file = TemporaryFile()  # noqa: SIM115  (closed when it is complete)
                self._file.write(self._kept)
            self._kept = bytearray()

    def finish(self, access: int) -> bytearray | bytes | mmap.mmap:
        """All of them; nothing can be added any more. Raises as :meth:`write`."""
        if self._file is None:
            return bytes(self._kept) if access == mmap.ACCESS_READ else self._kept
        with _folder_named(), self._file as file:
            file.flush()
            return mmap.mmap(file.fileno(), 0, access=access)

    def __del__(self) -> None:
        """Close what an error elsewhere has left incomplete."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


@contextmanager
def _folder_named() -> Iterator[None]:
    """Name the folder that an error is about; files here have no names."""
    try:
        yield
    except OSError as error:
        hint = "expected room for the columns of the profile; TMPDIR chooses another folder"
        raise OSError(error.errno, f"{error.strerror}; {hint}", gettempdir()) from error
