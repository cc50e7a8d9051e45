"""Columns of answers: filtered and sorted as vectors, made objects of Python only where shown.

Comparisons are those of Python: a cell without a value comes first, numbers before text.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..sheet import Flags, Indexes, Texts, flags, indexes


class NotText(ValueError):
    """A part of a text is asked for where there are no texts."""


class Column(Protocol):
    """One column of an answer."""

    def __len__(self) -> int: ...

    def is_in(self, values: Sequence[Any]) -> Flags:
        """Which cells are equal to one of some values."""

    def has_part(self, parts: Sequence[str]) -> Flags:
        """Which cells have one of some texts in them, capitals aside. Raises :class:`NotText`."""

    def order(self, *, descending: bool) -> Indexes:
        """The rows in order; those that are equal stay in theirs, either way."""

    def at(self, rows: Indexes) -> list[Any]:
        """Cells as objects of Python."""

    def taken(self, rows: Indexes) -> Column:
        """The same of other rows."""


class TextColumn:
    """Texts."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def is_in(self, values: Sequence[Any]) -> Flags:
        """Which texts are one of the values that are texts."""
        wanted = pa.array([one for one in values if isinstance(one, str)], pa.string())
        return flags(pc.is_in(self.texts, value_set=wanted))

    def has_part(self, parts: Sequence[str]) -> Flags:
        """Which texts have a part."""
        found = np.zeros(len(self), np.bool_)
        lowered = lower(self.texts)
        for part in parts:
            found |= flags(pc.match_substring(lowered, part.lower()))
        return found

    def order(self, *, descending: bool) -> Indexes:
        """By code points."""
        coded = self.texts.dictionary_encode()
        ranks = np.empty(len(coded.dictionary), np.int64)
        ranks[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(ranks))
        return stable_order([ranks[coded.indices.to_numpy()]], descending=descending)

    def at(self, rows: Indexes) -> list[Any]:
        """Texts."""
        found: list[Any] = self.texts.take(indexes(rows)).to_pylist()
        return found

    def taken(self, rows: Indexes) -> TextColumn:
        """The same of other rows."""
        return TextColumn(self.texts.take(indexes(rows)))


class NumberColumn:
    """Numbers, some of which may be missing; ``empty`` stands in their place."""

    def __init__(
        self,
        numbers: npt.NDArray[Any],
        missing: Flags | None = None,
        empty: str | None = None,
    ) -> None:
        self.numbers = numbers
        self.missing = missing if missing is not None and missing.any() else None
        self.empty = empty

    def __len__(self) -> int:
        return len(self.numbers)

    def is_in(self, values: Sequence[Any]) -> Flags:
        """Which numbers are equal to one of the values that are numbers."""
        found = np.zeros(len(self), np.bool_)
        for one in values:
            if isinstance(one, int | float) and not isinstance(one, bool):
                with suppress(OverflowError):  # larger than any number of a file
                    found |= self.numbers == one
        if self.missing is not None:
            found[self.missing] = self.empty in values
        return found

    def has_part(self, parts: Sequence[str]) -> Flags:
        """Raises :class:`NotText`."""
        raise NotText("its cells are numbers")

    def order(self, *, descending: bool) -> Indexes:
        """By size."""
        keys = [self.numbers]
        if self.missing is not None:
            place = -1 if self.empty is None else 1
            keys = [np.where(self.missing, 0, self.numbers), self.missing * place]
        return stable_order(keys, descending=descending)

    def at(self, rows: Indexes) -> list[Any]:
        """Numbers of Python."""
        found: list[Any] = self.numbers[rows].tolist()
        if self.missing is None:
            return found
        missing = self.missing[rows].tolist()
        return [self.empty if no else one for one, no in zip(found, missing, strict=True)]

    def taken(self, rows: Indexes) -> NumberColumn:
        """The same of other rows."""
        missing = None if self.missing is None else self.missing[rows]
        return NumberColumn(self.numbers[rows], missing, self.empty)


class ObjectColumn:
    """Values of any kind, as JSON has them."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def is_in(self, values: Sequence[Any]) -> Flags:
        """Which values are equal to one of others."""
        return np.fromiter((one in values for one in self.values), np.bool_, len(self))

    def has_part(self, parts: Sequence[str]) -> Flags:
        """Which texts have a part."""
        if not all(isinstance(one, str) for one in self.values):
            raise NotText("not all of its cells are texts")
        wanted = [part.lower() for part in parts]
        found = (any(part in one.lower() for part in wanted) for one in self.values)
        return np.fromiter(found, np.bool_, len(self))

    def order(self, *, descending: bool) -> Indexes:
        """By value; those that cannot be compared by the names of their types."""
        key = functools.cmp_to_key(self._compare)
        return np.array(sorted(range(len(self)), key=key, reverse=descending), np.int64)

    def _compare(self, one: int, other: int) -> int:
        return _compared(self.values[one], self.values[other])

    def at(self, rows: Indexes) -> list[Any]:
        """The values."""
        places: list[int] = rows.tolist()
        return [self.values[place] for place in places]

    def taken(self, rows: Indexes) -> ObjectColumn:
        """The same of other rows."""
        return ObjectColumn(self.at(rows))


def stable_order(keys: Sequence[npt.NDArray[Any]], *, descending: bool) -> Indexes:
    """The order by keys, the last of which counts first; equal rows stay in theirs."""
    if not descending:
        return np.lexsort(keys)
    last = len(keys[0]) - 1
    return last - np.lexsort([key[::-1] for key in keys])[::-1]


def lower(texts: Texts) -> Texts:
    """Texts in small letters, as Python makes them."""
    if flags(pc.string_is_ascii(texts)).all():
        return pc.ascii_lower(texts)
    return pa.array([one.lower() for one in texts.to_pylist()], pa.string())


def _compared(one: Any, other: Any) -> int:
    if one is None or other is None:
        return int(one is not None) - int(other is not None)
    try:
        return int(one > other) - int(one < other)
    except TypeError:
        mine, its = type(one).__name__, type(other).__name__
        return int(mine > its) - int(mine < its)
