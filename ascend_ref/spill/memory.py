"""Columns that stay in memory, where a caller has them there anyway."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import Array, Spill, Value


class InMemory(Spill):
    """As :class:`Spill`, without files, and all rows in one batch."""

    def batches(self, rows: int) -> Iterator[slice]:
        """All rows at once."""
        yield slice(0, rows)

    def arrays(
        self, values: Iterable[Sequence[npt.NDArray[Value]]], count: int, kind: type[Value]
    ) -> list[npt.NDArray[Value]]:
        """Batches of several columns as arrays."""
        every = list(values)
        if not every:
            return [np.empty(0, kind) for _ in range(count)]
        return [
            np.concatenate(parts).astype(kind, copy=False) for parts in zip(*every, strict=True)
        ]

    def made(
        self, function: Callable[..., Array], *columns: Array, kind: type[np.generic] = np.int64
    ) -> Array:
        """What a function makes of columns."""
        return function(*columns).astype(kind, copy=False)

    def gathered(self, column: Array, rows: Array) -> Array:
        """A column in these rows."""
        return column[rows]

    def where(self, function: Callable[..., Array], *columns: Array) -> npt.NDArray[np.int64]:
        """The rows for which a function of columns is true, ascending."""
        return np.flatnonzero(function(*columns))

    def rows(self, count: int) -> npt.NDArray[np.int64]:
        """The whole numbers from 0."""
        return np.arange(count)

    def changeable(
        self, rows: int, value: int, kind: type[np.generic] = np.int64
    ) -> npt.NDArray[Any]:
        """An array of one value, to put others into at any place."""
        return np.full(rows, value, kind)
