"""Rows in order, group by group, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ascend_ref import arrays
from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers

from ..work import NoAnswer

MOST_GROUPS = 1 << 16
"""Groups of rows that are not in order, of which the last rows are remembered."""


MOST_TEXTS = 1 << 20
"""Texts by which rows are grouped, which are remembered."""


NONE = int(np.iinfo(np.int64).min)
"""Stands for NULL; it is before every time."""


WIDEST = 1 << 62


INTERVAL = ("start", "end")


PLACE = "place"


FLAGS = "flags"
"""Bit 2N for a row of walk N; bit 2N + 1: for ``inside`` an interval around others, for ``rising``
a row that is judged. Where a read has none, every row is both in every walk."""


READ_BY_INTERVALS = (PLACE, FLAGS, *INTERVAL)


Cells: TypeAlias = "dict[str, Integers]"
"""Columns of some rows."""


class NotInOrder(Exception):
    """The rows of a group are not in the order of the walk, or are of too many groups."""


@dataclass(frozen=True)
class Rows:
    """Some rows as arrays. ``group``: rises from group to group; ``known``: their own numbers."""

    place: Integers
    start: Integers
    end: Integers
    flags: Integers
    group: Integers
    known: Integers

    def __len__(self) -> int:
        return len(self.place)

    @classmethod
    def of(cls, cells: Cells, group: Integers, known: Integers) -> Rows:
        """The fixed columns of some cells, which come group by group."""
        place, flags, start, end = (cells[name] for name in READ_BY_INTERVALS)
        return cls(place, start, end, flags, group, known)

    def __getitem__(self, chosen: Mask | Integers | slice) -> Rows:
        cells = (self.place, self.start, self.end, self.flags, self.group)
        place, start, end, flags, group = (one[chosen] for one in cells)
        return Rows(place, start, end, flags, group, self.known)

    @cached_property
    def groups(self) -> Integers:
        """The own number of each row's group."""
        return self.known[self.group]

    @cached_property
    def last(self) -> Integers:
        """The last row of each group."""
        return last_of(self.group)

    @cached_property
    def runs(self) -> Integers:
        """A number for each run of equal group and start."""
        found = np.zeros(len(self), np.int64)
        found[1:] = np.cumsum(changes(self.start) | changes(self.group))
        return found

    @cached_property
    def run_ends(self) -> Integers:
        """The last row of each row's run."""
        return last_of(self.runs)[self.runs]

    def by_end(self, sign: int = 1) -> Rows:
        """In order of their end where they start together; ``sign`` -1: the last end first."""
        if not len(self) or self.runs[-1] == len(self) - 1:
            return self
        return self[np.lexsort((self.place, sign * self.end, self.runs))]

    def keys(self, values: Integers) -> Integers:
        """The values as numbers that rise from group to group, NULL as the lowest of a group."""
        if self.group[0] == self.group[-1]:
            return values
        low, span = self._span()
        known = np.where(values == NONE, 0, values - low)
        return np.asarray((self.group - self.group[0]) * span + known)

    def values(self, keys: Integers) -> Integers:
        """The values of :meth:`keys`."""
        if self.group[0] == self.group[-1]:
            return keys
        low, span = self._span()
        found = keys - (self.group - self.group[0]) * span
        return np.asarray(np.where(found == 0, NONE, found + low))

    def _span(self) -> tuple[int, int]:
        known = [one[one > NONE] for one in (self.start, self.end)]
        low = min((int(one.min()) for one in known if len(one)), default=0) - 1
        return low, max((int(one.max()) for one in known if len(one)), default=0) - low + 1

    def pieces(self) -> Iterator[Rows]:
        """Parts, divided between groups, whose :meth:`keys` are 64-bit integers."""
        if not len(self):
            return
        groups = int(self.group[-1] - self.group[0]) + 1
        if groups == 1 or groups * self._span()[1] < WIDEST:
            yield self
            return
        middle = int(np.searchsorted(self.group, self.group[0] + groups // 2))
        yield from self[:middle].pieces()
        yield from self[middle:].pieces()


def last_of(runs: Integers) -> Integers:
    """Where each run of equal values ends."""
    return np.flatnonzero(np.append(changes(runs), True))


def changes(values: Integers) -> Mask:
    """Where a value differs from the one before it."""
    return np.asarray(values[1:] != values[:-1])


@dataclass(slots=True)
class Texts:
    """Numbers of the texts of a column. ``are_numbers``: it has numbers already, and no texts."""

    numbers: dict[str, int] = field(default_factory=dict)
    are_numbers: bool = False

    def coded(self, column: pa.StringArray) -> Integers:
        """The numbers of a column's texts."""
        found = column.dictionary_encode()
        own = [
            self.numbers.setdefault(one, len(self.numbers)) for one in found.dictionary.to_pylist()
        ]
        if len(self.numbers) > MOST_TEXTS:
            raise NoAnswer(f"more than {MOST_TEXTS:,} texts to group by")
        return np.array([*own, NONE], np.int64)[arrays.integers(found.indices, len(own))]


def numbers_of_column(column: pa.Array, texts: Texts | None) -> Integers:
    """A column as numbers, which may stand for ``texts``."""
    if column.null_count == len(column):
        return np.full(len(column), NONE)
    if pa.types.is_integer(column.type) and not (texts and texts.numbers):
        if texts:
            texts.are_numbers = True
        return arrays.integers(column, NONE)
    if texts is None or texts.are_numbers or not pa.types.is_string(column.type):
        raise pa.ArrowTypeError(f"{column.type}; expected whole numbers")
    return texts.coded(column)


@dataclass(slots=True)
class Groups:
    """Numbers of the groups of rows. ``is_ordered``: whether the rows of each come together."""

    by: tuple[str, ...]
    is_ordered: bool
    numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    count: int = 0

    def divide(self, cells: Cells) -> tuple[Cells, Integers, Integers]:
        """The cells group by group, the group of each row, and the groups' own numbers."""
        by = [cells[name] for name in self.by]
        varied = [one for one in by if changes(one).any()]
        group = np.zeros(len(cells[FLAGS]), np.int64)
        if varied:
            order = np.lexsort(varied[::-1])
            cells = {name: one[order] for name, one in cells.items()}
            for name in self.by:
                group[1:] |= changes(cells[name])
            group = np.cumsum(group)
        first = np.flatnonzero(np.append(True, changes(group)))
        keys = list(zip(*(cells[name][first].tolist() for name in self.by), strict=True)) or [()]
        known = np.array([self._number(key) for key in keys], np.int64)
        if self.is_ordered:
            self.numbers = {keys[-1]: int(known[-1])}
        elif len(self.numbers) > MOST_GROUPS:
            raise NotInOrder
        return cells, group, known

    def _number(self, key: tuple[int, ...]) -> int:
        if key not in self.numbers:
            self.numbers[key] = self.count
            self.count += 1
        return self.numbers[key]


@dataclass(slots=True)
class PerGroup:
    """A number for each group, :data:`NONE` at first."""

    values: Integers = field(default_factory=lambda: np.full(64, NONE))

    def __getitem__(self, groups: Integers) -> Integers:
        most = int(groups.max()) + 1
        if most > len(self.values):
            self.values = np.append(self.values, np.full(most, NONE))
        return self.values[groups]

    def __setitem__(self, groups: Integers, values: Integers) -> None:
        self.values[groups] = values
