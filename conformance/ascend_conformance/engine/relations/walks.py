"""Walks over rows in order of their start: one pass that remembers what is still open.

Rows come in batches that NumPy judges as a whole; only a batch in which intervals cross is looked
at row by row. A batch has the columns place, start, end and flags (bit 2N: the row is judged by
walk N, bit 2N + 1: it is an interval around others there), then those of the group. Its rows come
by group, start and place, as :func:`.sql.walk_rows` orders them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref import arrays
from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers

from ..work import NoAnswer
from .rule import WalkKind

KEPT = 4096
"""Bad rows held before all but the first wanted ones are let go."""

MOST_AT_ONCE = 1 << 20
"""Rows of one group and start, which are put in order in memory."""

NONE = int(np.iinfo(np.int64).min)
"""Stands for NULL; it is before every time."""

WIDEST = 1 << 62


@dataclass(slots=True)
class Walked:
    """Judged rows, bad ones, and place, start and end of the first ``wanted`` of these."""

    wanted: int
    population: int = 0
    count: int = 0
    found: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, rows: Rows, bad: Mask) -> None:
        """The bad ones of some rows."""
        self.count += int(bad.sum())
        chosen = np.flatnonzero(bad)
        chosen = chosen[np.argsort(rows.place[chosen], kind="stable")[: self.wanted]]
        cells = (rows.place[chosen], rows.start[chosen], rows.end[chosen])
        self.found += zip(*(one.tolist() for one in cells), strict=True)
        if len(self.found) > KEPT + self.wanted:
            self.first()

    def first(self) -> list[tuple[int, int | None, int | None]]:
        """The first bad rows by place."""
        self.found = sorted(self.found)[: self.wanted]
        return [
            (place, None if start == NONE else start, None if end == NONE else end)
            for place, start, end in self.found
        ]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows as arrays. ``group``: numbers that rise from group to group."""

    place: Integers
    start: Integers
    end: Integers
    flags: Integers
    group: Integers

    def __len__(self) -> int:
        return len(self.place)

    def __getitem__(self, chosen: Any) -> Rows:
        return Rows(*(one[chosen] for one in self._columns()))

    def _columns(self) -> tuple[Integers, ...]:
        return self.place, self.start, self.end, self.flags, self.group

    def followed_by(self, other: Rows) -> Rows:
        """Both."""
        return Rows(*map(np.concatenate, zip(self._columns(), other._columns(), strict=True)))

    def runs(self) -> Integers:
        """A number for each run of equal group and start."""
        found = np.zeros(len(self), np.int64)
        found[1:] = np.cumsum((self.start[1:] != self.start[:-1]) | _changes(self.group))
        return found

    def by_end(self, sign: int = 1) -> Rows:
        """In order of their end where they start together; ``sign`` -1: the last end first."""
        runs = self.runs()
        if not len(self) or runs[-1] == len(self) - 1:
            return self
        return self[np.lexsort((sign * self.end, runs))]

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


def _changes(values: Integers) -> Mask:
    return np.asarray(values[1:] != values[:-1])


def walk(kinds: Sequence[WalkKind], batches: Iterable[pa.RecordBatch], wanted: int) -> list[Walked]:
    """Judge the intervals of several walks over the same rows.

    Raises :class:`.NoAnswer` for too many rows of one start; Arrow's errors for other values than
    integers and texts of groups.
    """
    walks = [_WALKS[kind](Walked(wanted)) for kind in kinds]
    for rows in _whole_runs(_numbered(batches)):
        for part in rows.pieces():
            for number, one in enumerate(walks):
                judged = part.flags & (1 << 2 * number) != 0
                one.take(part, judged, part.flags & (2 << 2 * number) != 0)
    return [one.walked for one in walks]


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[Rows]:
    """The batches as arrays, the groups numbered."""
    number, last = 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        place, start, end, flags, *by = batch.columns
        changed = np.zeros(batch.num_rows, np.int64)
        for column in by:
            changed[1:] |= _changes(arrays.integers(_as_numbers(column), NONE))
        first = [column[0].as_py() for column in by]
        changed[0] = last is not None and first != last
        last = [column[-1].as_py() for column in by]
        group = number + np.cumsum(changed)
        number = int(group[-1])
        starts, ends = (arrays.integers(_whole(one), NONE) for one in (start, end))
        yield Rows(arrays.integers(place), starts, ends, arrays.integers(flags), group)


def _as_numbers(column: pa.Array) -> pa.Array:
    return column if pa.types.is_integer(column.type) else column.dictionary_encode().indices


def _whole(column: pa.Array) -> pa.Array:
    if not pa.types.is_integer(column.type) and column.null_count < len(column):
        raise pa.ArrowTypeError(f"{column.type}; expected times in whole numbers")
    return column


def _whole_runs(batches: Iterable[Rows]) -> Iterator[Rows]:
    """The rows again, all those of one group and start in the same part."""
    held: Rows | None = None
    for rows in batches:
        both = held.followed_by(rows) if held else rows
        behind = (both.start != both.start[-1]) | (both.group != both.group[-1])
        cut = len(both) - int(np.argmax(behind[::-1])) if behind.any() else 0
        if len(both) - cut > MOST_AT_ONCE:
            raise NoAnswer(f"more than {MOST_AT_ONCE:,} rows begin at the same time")
        yield both[:cut]
        held = both[cut:]
    if held:
        yield held


@dataclass(slots=True)
class _Walk:
    """``group``: that of the last row; ``latest``: the end that reaches farthest there."""

    walked: Walked
    group: int = -1
    latest: int = NONE

    def take(self, rows: Rows, judged: Mask, around: Mask) -> None:
        """Judge the next rows."""
        raise NotImplementedError

    def reach(self, rows: Rows, ends: Integers) -> Integers:
        """The latest of these ends in each row's group so far, that of the row included."""
        found = rows.values(np.maximum.accumulate(rows.keys(ends)))
        if rows.group[0] == self.group:
            own = rows.group == self.group
            found = np.where(own, np.maximum(found, self.latest), found)
        return found

    def keep(self, rows: Rows, reach: Integers) -> None:
        """Remember the last row."""
        self.group, self.latest = int(rows.group[-1]), int(reach[-1])


class _Disjoint(_Walk):
    """Intervals that begin before an earlier one has ended."""

    def take(self, rows: Rows, judged: Mask, around: Mask) -> None:
        rows = rows[judged].by_end()
        if not len(rows):
            return
        reach = self.reach(rows, rows.end)
        before = np.empty_like(reach)
        before[0] = self.latest if rows.group[0] == self.group else NONE
        before[1:] = np.where(_changes(rows.group), NONE, reach[:-1])
        known = (before > NONE) & (rows.start > NONE)
        self.walked.population += int(known.sum())
        self.walked.add(rows, known & (rows.start < before))
        self.keep(rows, reach)


class _Inside(_Walk):
    """Intervals that lie in none of those around others."""

    def take(self, rows: Rows, judged: Mask, around: Mask) -> None:
        reach = self.reach(rows, np.where(around, rows.end, NONE))
        runs = rows.runs()
        latest = reach[np.searchsorted(runs, runs, "right") - 1]
        known = judged & ((latest == NONE) | (rows.end > NONE))
        self.walked.population += int(known.sum())
        self.walked.add(rows, known & ((latest == NONE) | (latest < rows.end)))
        self.keep(rows, reach)


@dataclass(slots=True)
class _Nested(_Walk):
    """Intervals that begin inside another and end behind it. ``open``: ends, the last one first."""

    open: list[int] = field(default_factory=list)

    def take(self, rows: Rows, judged: Mask, around: Mask) -> None:
        rows = rows[judged & (rows.start > NONE) & (rows.end > NONE)]
        self.walked.population += len(rows)
        # What has no length neither crosses another nor is crossed.
        rows = rows[rows.start < rows.end].by_end(-1)
        if not len(rows):
            return
        if rows.group[0] != self.group:
            self.open = []
        self.open = [end for end in self.open if end > rows.start[0]]
        group = int(rows.group[-1])
        if self._is_clean(rows):
            kept = self.open if rows.group[0] == group else []
            ends = rows.end[(rows.group == group) & (rows.end > rows.start[-1])]
            self.open = [*(end for end in kept if end > rows.start[-1]), *ends.tolist()]
        else:
            self._look(rows)
        self.group = group

    def _is_clean(self, rows: Rows) -> bool:
        """Whether no interval crosses another.

        For each one, as many begin before it ends as have ended until then: those that crossed it
        would miss, those that it crosses be too many. The crossing interval that ends first
        crosses none.
        """
        opened = len(self.open)
        if opened:
            first = np.repeat(np.int64(0), opened)
            rows = rows[first].followed_by(rows)
            rows = replace(rows, end=np.concatenate([self.open, rows.end[opened:]]))
        starts, ends = rows.keys(rows.start), rows.keys(rows.end)
        order = np.argsort(ends, kind="stable")
        ordered, place = ends[order], np.arange(len(ends))
        rank = np.empty_like(order)
        rank[order] = place
        alike = rank - np.searchsorted(ordered, ends)  # earlier ones of the same end
        ended = np.searchsorted(ordered, ends, "right")
        before = np.searchsorted(ordered, starts, "right")
        begun = np.searchsorted(starts, ends)
        return bool((ended - alike - before == begun - place).all())

    def _look(self, rows: Rows) -> None:
        """Row by row; one that crosses another is not taken for one around others."""
        open_ends, group = self.open, int(rows.group[0])
        bad = np.zeros(len(rows), np.bool_)
        cells = zip(rows.start.tolist(), rows.end.tolist(), rows.group.tolist(), strict=True)
        for place, (start, end, own) in enumerate(cells):
            if own != group:
                group, open_ends = own, []
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            bad[place] = bool(open_ends) and end > open_ends[-1]
            if not bad[place]:
                open_ends.append(end)
        self.walked.add(rows, bad)
        self.open = open_ends


_WALKS: Mapping[WalkKind, Callable[[Walked], _Walk]] = {
    "nested": _Nested,
    "disjoint": _Disjoint,
    "inside": _Inside,
}
