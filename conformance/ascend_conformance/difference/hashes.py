"""Rows of a database as numbers of 64 bits that are equal for rows of the same meaning.

Texts count by what they say and times by the clock of the left side. A number that only links rows
counts by the row that it leads to, so that whatever numbers a writer chose make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import integers, present, reals
from ascend_ref.recorded.shape import Shape
from ascend_ref.spill import Spill

from .links import CALL, CONNECTIONS, OWNERS, STACKS, kind_of, links_of

TIMES = frozenset(("timestampNs", "timestampText"))
"""Value types of instants in ns."""

Hashes = npt.NDArray[np.int64]
Unsigned = npt.NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_NONE = np.uint64(0xD1B54A32D192ED03)
"""Stands for a cell without a value."""
_NOWHERE = np.uint64(0x8CB92BA72F3D8DD7)
"""Stands for a number that leads to no row."""
_SPARSE = 4
"""Numbers have a place each where their range is no more than so many times their count."""
_FEW = 1 << 16
_AT_ONCE = 1 << 20
"""Hashes that are sorted at once."""


@dataclass
class Leads:
    """What the numbers of one kind lead to: the hash of a row of a table, or the sum of those of
    several.

    ``numbers``: ascending, or ``None`` where each number of a range from ``low`` has a place.
    """

    table: str
    low: int
    numbers: Hashes | None
    values: Hashes
    known: npt.NDArray[np.bool_]

    def places(self, numbers: Hashes) -> Hashes:
        """The place of each number, -1 for one that leads nowhere."""
        if self.numbers is None:
            inside = (numbers >= self.low) & (numbers - self.low < len(self.values))
            found = np.where(inside, numbers - self.low, -1)
        else:
            found = np.searchsorted(self.numbers, numbers)
            found = np.minimum(found, len(self.numbers) - 1)
            found = np.where(self.numbers[found] == numbers, found, -1)
        return np.where((found >= 0) & self.known[found], found, -1)

    @classmethod
    def empty(cls, table: str, spill: Spill, every: Hashes) -> Leads:
        """Places for all of some numbers."""
        low, high = spill.range_of(every) if len(every) else (0, 0)
        numbers: Hashes | None = None
        places = high - low + 1
        if high - low > _SPARSE * len(every) + _FEW:
            numbers = np.unique(every)
            places = len(numbers)
        values = spill.changeable(places, 0)
        return cls(table, low, numbers, values, spill.changeable(places, 0, np.bool_))

    def _all_places(self, numbers: Hashes) -> Hashes:
        if self.numbers is None:
            return numbers - self.low
        return np.searchsorted(self.numbers, numbers)

    def put(self, numbers: Hashes, values: Hashes) -> None:
        """Let numbers lead to rows; to the one of the least hash of several."""
        places = self._all_places(numbers)
        least = np.where(self.known[places], np.minimum(self.values[places], values), values)
        order = np.argsort(least)[::-1]  # of equal places the last one stays
        self.values[places[order]] = least[order]
        self.known[places] = True

    def add(self, numbers: Hashes, values: Hashes) -> None:
        """Let numbers lead to these rows, too."""
        places = self._all_places(numbers)
        np.add.at(self.values, places, values)
        self.known[places] = True


@dataclass
class Hashed:
    """The tables of one side. ``moved``: by table how many ns its clock is ahead of the left one's.

    ``columns``: by table those that both sides have.
    """

    tables: Mapping[str, pa.Table]
    shapes: Mapping[str, Shape]
    columns: Mapping[str, Sequence[str]]
    moved: Mapping[str, int]
    spill: Spill
    rows: dict[str, Hashes] = field(default_factory=dict)
    leads: dict[str, list[Leads]] = field(default_factory=dict)
    _texts: dict[str, tuple[pa.Array, Unsigned]] = field(default_factory=dict)

    def hash_all(self) -> None:
        """Hash the rows of all tables, those first whose numbers others name."""
        if STACKS in self.columns:
            self._add_stacks()
        for name, (kind, column) in OWNERS.items():
            if name in self.columns:
                self.rows[name] = self._hash(name)
                self._own(name, kind, column)
            if name == "PYTORCH_API" and CONNECTIONS in self.columns:
                self._share()
        for name in self.columns:
            if name not in self.rows:
                self.rows[name] = self._hash(name)

    def lookup(self, kind: str, numbers: Hashes) -> tuple[Hashes, npt.NDArray[np.bool_]]:
        """The hash of what numbers lead to, and which of them lead anywhere."""
        values = np.zeros(len(numbers), np.int64)
        known = np.zeros(len(numbers), np.bool_)
        for one in self.leads.get(kind, ()):
            places = one.places(numbers)
            new = ~known & (places >= 0)
            values[new] = one.values[places[new]]
            known |= new
        return values, known

    def numbers(self, name: str, column: str, rows: Hashes | None = None) -> Hashes:
        """The numbers in a column, or in some rows of it, without NULL and what stands for none."""
        none = self.shapes[name].columns[column].none
        if rows is not None:
            part = self.tables[name].select([column]).take(pa.array(rows))
            numbers, known = self._numbers(part, column, none)
            return numbers[known]
        found = (self._numbers(part, column, none) for part in self._parts(name, (column,)))
        return self.spill.array((numbers[known] for numbers, known in found), np.int64)

    def rows_with(self, name: str, column: str, numbers: Hashes) -> Hashes:
        """The rows, counted from 0, in which a column holds one of these numbers."""
        none = self.shapes[name].columns[column].none
        found, start = [np.empty(0, np.int64)], 0
        for part in self._parts(name, (column,)) if len(numbers) else ():
            cells, known = self._numbers(part, column, none)
            found.append(np.flatnonzero(known & np.isin(cells, numbers)) + start)
            start += part.num_rows
        return np.concatenate(found)

    def first_rows(self, name: str, hashes: Hashes) -> Hashes:
        """The first row of each of some hashes, -1 where there is none."""
        found = np.full(len(hashes), -1, np.int64)
        order = np.argsort(hashes)
        for batch in self.spill.batches(len(self.rows[name]) if len(hashes) else 0):
            rows = self.rows[name][batch]
            place = np.minimum(np.searchsorted(hashes, rows, sorter=order), len(hashes) - 1)
            own = order[place]
            met = np.flatnonzero((hashes[own] == rows) & (found[own] < 0))[::-1]
            found[own[met]] = met + batch.start  # of equal places the last one stays
        return found

    def _parts(self, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        table = self.tables[name].select(columns)
        for batch in self.spill.batches(table.num_rows):
            yield table.slice(batch.start, batch.stop - batch.start)

    @staticmethod
    def _numbers(
        part: pa.Table, column: str, none: Sequence[object]
    ) -> tuple[Hashes, npt.NDArray[np.bool_]]:
        numbers = integers(part[column])
        known = present(part[column])
        for one in none:
            known = known & (numbers != one)
        return numbers, known

    def _own(self, name: str, kind: str, column: str) -> None:
        if column not in self.columns[name]:
            return
        found = Leads.empty(name, self.spill, self.numbers(name, column))
        none = self.shapes[name].columns[column].none
        start = 0
        for part in self._parts(name, (column,)):
            numbers, known = self._numbers(part, column, none)
            rows = self.rows[name][start : start + part.num_rows]
            found.put(numbers[known], rows[known])
            start += part.num_rows
        self.leads.setdefault(kind, []).append(found)

    def _share(self) -> None:
        """A number that no call of CANN has is one that calls of the framework share."""
        found = Leads.empty(CONNECTIONS, self.spill, self.numbers(CONNECTIONS, "connectionId"))
        for part in self._parts(CONNECTIONS, ("id", "connectionId")):
            numbers, known = self._numbers(part, "connectionId", ())
            calls, is_call = self.lookup(CALL, integers(part["id"]))
            both = known & is_call
            found.add(numbers[both], _mixed(calls[both].view(np.uint64), _NONE).view(np.int64))
        self.leads.setdefault("connectionId", []).append(found)

    def _add_stacks(self) -> None:
        """A call stack is its frames and the depth of each."""
        found = Leads.empty(STACKS, self.spill, self.numbers(STACKS, "id"))
        for part in self._parts(STACKS, ("id", "stack", "stackDepth")):
            numbers, known = self._numbers(part, "id", ())
            frame = np.zeros(part.num_rows, np.uint64)
            for column in ("stack", "stackDepth"):
                frame = _mixed(frame, self._values(STACKS, part, column))
            found.add(numbers[known], frame[known].view(np.int64))
        self.leads["callchainId"] = [found]

    def _hash(self, name: str) -> Hashes:
        columns = sorted(self.columns[name])
        links = {one.name for one in links_of(self.shapes[name].columns)}
        return self.spill.array(
            (self._row_hashes(name, part, columns, links) for part in self._parts(name, columns)),
            np.int64,
        )

    def _row_hashes(
        self, name: str, part: pa.Table, columns: Sequence[str], links: set[str]
    ) -> Hashes:
        found = np.zeros(part.num_rows, np.uint64)
        for column in columns:
            if column in links:
                cells = self._led(name, part, column)
            else:
                cells = self._values(name, part, column)
            found = _mixed(found, cells)
        return found.view(np.int64)

    def _values(self, name: str, part: pa.Table, column: str) -> Unsigned:
        if not pa.types.is_dictionary(part[column].type):
            is_moved = is_time(self.shapes[name], column)
            return _cells(part[column], self.moved.get(name, 0) if is_moved else 0)
        chunks = [
            np.where(
                present(chunk),
                self._of_texts(f"{name}.{column}", chunk.dictionary)[integers(chunk.indices, 0)],
                _NONE,
            )
            for chunk in part[column].chunks
        ]
        return np.concatenate(chunks) if chunks else np.empty(0, np.uint64)

    def _of_texts(self, place: str, texts: pa.Array) -> Unsigned:
        """The hashes of the texts of a column, made once for all of its rows."""
        known = self._texts.get(place)
        if known is None or not known[0].equals(texts):
            hashes = np.fromiter(map(_hash_of, texts.to_pylist()), np.uint64, len(texts))
            # Where no row has a text, each looks at a first one all the same.
            known = texts, hashes if len(hashes) else np.zeros(1, np.uint64)
            self._texts[place] = known
        return known[1]

    def _led(self, name: str, part: pa.Table, column: str) -> Unsigned:
        """A number that links rows, as what it leads to."""
        facts = self.shapes[name].columns[column]
        numbers, known = self._numbers(part, column, facts.none)
        kind = kind_of(facts)
        if kind is None or OWNERS.get(name) == (kind, column):
            return np.where(known, np.uint64(1), _NONE)
        values, leads = self.lookup(kind, numbers)
        return np.where(known, np.where(leads, values.view(np.uint64), _NOWHERE), _NONE)


def is_time(shape: Shape, column: str) -> bool:
    """Whether a column holds instants in ns."""
    return shape.columns[column].type in TIMES


def _mixed(found: Unsigned, cells: Unsigned | np.uint64) -> Unsigned:
    found = (found ^ cells) * _FACTOR
    return found ^ (found >> _SHIFT)


def _cells(column: pa.ChunkedArray, ahead: int = 0) -> Unsigned:
    """Numbers as their bits."""
    if pa.types.is_floating(column.type):
        cells = (reals(column) + 0.0).view(np.uint64)  # 0.0 for -0.0
    else:
        cells = (integers(column) - ahead).view(np.uint64)
    known = present(column)
    return cells if known.all() else np.where(known, cells, _NONE)


def _hash_of(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def unlike_rows(spill: Spill, left: Hashes, right: Hashes) -> tuple[Hashes, Hashes]:
    """The rows of two sides, counted from 0, that have no equal: of equal ones the first have one.

    A part of all hashes is looked at at once.
    """
    if len(left) == len(right) and _sums(spill, left) == _sums(spill, right):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    parts = 1 + max(len(left), len(right)) // _AT_ONCE
    found: tuple[list[Hashes], list[Hashes]] = ([], [])
    for number in range(parts):
        chosen = [
            spill.where(lambda one: one.view(np.uint64) % parts == number, side)  # noqa: B023
            for side in (left, right)
        ]
        hashes = [side[rows] for side, rows in zip((left, right), chosen, strict=True)]
        for place, (own, rows) in enumerate(zip(hashes, chosen, strict=True)):
            found[place].append(rows[_beyond(own, hashes[1 - place])])
    one, other = (np.sort(np.concatenate(rows)) for rows in found)
    return one, other


def _beyond(own: Hashes, others: Hashes) -> Hashes:
    """The places of values that come more often than in others, behind those that do not."""
    order = np.argsort(own, kind="stable")
    ordered, others = own[order], np.sort(others)
    turn = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    times = np.searchsorted(others, ordered, "right") - np.searchsorted(others, ordered)
    return order[turn >= times]


def _sums(spill: Spill, hashes: Hashes) -> tuple[int, int]:
    plain = mixed = 0
    for batch in spill.batches(len(hashes)):
        part = hashes[batch].view(np.uint64)
        plain += int(part.sum(dtype=np.uint64))
        mixed += int(_mixed(part, _NONE).sum(dtype=np.uint64))
    return plain, mixed
