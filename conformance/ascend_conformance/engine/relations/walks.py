"""Walks over rows in order: one pass that remembers what is still open, or the row before.

Rows come in batches that NumPy judges as a whole. Exporters write rows in order of their start, so
they are read as they stand, several walks in one read, and each walk looks whether they are in its
order; those for which they are not read them again, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers

from ..work import NoAnswer
from .ordered import (
    FLAGS,
    INTERVAL,
    MOST_GROUPS,
    NONE,
    PLACE,
    READ_BY_INTERVALS,
    WIDEST,
    Cells,
    Groups,
    NotInOrder,
    PerGroup,
    Rows,
    Texts,
    changes,
    last_of,
    numbers_of_column,
)
from .rule import Walk, WalkKind

KEPT = 4096
"""Bad rows held before all but the first wanted ones are let go."""

MOST_AT_ONCE = 1 << 20
"""Rows that end a group so far, with one start in each, which are put in order in memory."""


class NotKnown(Exception):
    """What SQL has to judge: rows that may be equal, or numbers that are too large."""


@dataclass(slots=True)
class Walked:
    """Judged rows, bad ones, and place, start and end of the first ``wanted`` of these.

    ``failed``: why all this is not known.
    """

    wanted: int
    population: int = 0
    count: int = 0
    found: list[tuple[int, int, int]] = field(default_factory=list)
    failed: NotInOrder | NotKnown | None = None

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


def columns_of(walks: Sequence[Walk]) -> list[str]:
    """What one read has for several walks, and of one walk no more than it needs."""
    names: set[str] = set()
    for one in walks:
        names |= {*one.by, *one.order, *(name for name in (one.value, one.than) if name)}
        names |= {PLACE, *INTERVAL} if one.is_of_intervals else set()
        names |= set() if one.is_of_intervals or one.order else {PLACE}
        names |= {FLAGS} if one.of or one.outer else set()
    return sorted(names | ({PLACE, FLAGS} if len(walks) > 1 else set()))


def walk(
    walks: Sequence[Walk],
    names: Sequence[str],
    batches: Iterable[pa.RecordBatch],
    wanted: int,
    *,
    is_ordered: bool = False,
) -> list[Walked]:
    """Judge several walks over the same rows.

    batches: the columns of these ``names``, which :func:`columns_of` has.
    is_ordered: whether they come in the order of all of the walks, and not as they stand. Raises
    :class:`.NoAnswer` for too many rows of one start; Arrow's errors for other values than
    integers and texts of groups.
    """
    found = [Walked(wanted) for _ in walks]
    orders: dict[tuple[str, ...], _Intervals] = {}
    paces: list[_Intervals | _Rising] = []
    for number, (one, walked) in enumerate(zip(walks, found, strict=True)):
        if one.kind == "rising":
            paces.append(_Rising(one, number, walked, Groups(one.by, is_ordered)))
            continue
        if one.by not in orders:
            orders[one.by] = _Intervals(Groups(one.by, is_ordered))
            paces.append(orders[one.by])
        orders[one.by].walks.append(_KINDS[one.kind](walked, number))
    texts = {name: Texts() for one in walks for name in one.by}
    for batch in batches:
        if batch.num_rows:
            columns = zip(names, batch.columns, strict=True)
            cells = {name: numbers_of_column(one, texts.get(name)) for name, one in columns}
            cells.setdefault(FLAGS, np.full(batch.num_rows, -1))
            for pace in paces:
                pace.take(cells)
    for pace in paces:
        pace.finish()
    return found


@dataclass(slots=True)
class _Intervals:
    """Walks over intervals in order of their start, those of one start together.

    ``held``: the last ones of each group, which the next batch may go on with.
    """

    groups: Groups
    walks: list[_Walk] = field(default_factory=list)
    held: Cells = field(default_factory=dict)
    is_over: bool = False

    def take(self, cells: Cells) -> None:
        """Judge the next rows, but for those with which the batch ends a group."""
        if self.is_over:
            return
        try:
            self._take(cells)
        except NotInOrder as error:
            self.held, self.is_over = {}, True
            for one in self.walks:
                one.walked.failed = error

    def _take(self, cells: Cells) -> None:
        needed = (*READ_BY_INTERVALS, *self.groups.by)
        if self.held:
            cells = {name: np.concatenate([self.held[name], cells[name]]) for name in needed}
        cells, group, known = self.groups.divide({name: cells[name] for name in needed})
        start = cells["start"]
        if ((start[1:] < start[:-1]) & ~changes(group)).any():
            raise NotInOrder
        last = last_of(group)
        is_last = start == start[last][group]
        if self.groups.is_ordered:
            is_last &= group == group[-1]
        if int(is_last.sum()) > MOST_AT_ONCE:
            raise NoAnswer(f"more than {MOST_AT_ONCE:,} rows begin at the same time")
        self.held = {name: one[is_last] for name, one in cells.items()}
        self._judge(Rows.of(cells, group, known)[~is_last])

    def _judge(self, rows: Rows) -> None:
        for part in rows.pieces():
            for one in self.walks:
                one.take(part)

    def finish(self) -> None:
        """Judge the rows that are held."""
        if self.held:
            cells, group, known = self.groups.divide(self.held)
            self._judge(Rows.of(cells, group, known))


@dataclass(slots=True)
class _Walk:
    """``latest``: the end that reaches farthest in a group so far."""

    walked: Walked
    number: int
    latest: PerGroup = field(default_factory=PerGroup)

    def take(self, rows: Rows) -> None:
        """Judge the next rows."""
        raise NotImplementedError

    def own(self, rows: Rows, bit: int = 0) -> Mask:
        """The rows with this walk's first or second flag."""
        return np.asarray(rows.flags & (1 << 2 * self.number + bit) != 0)

    def reach(self, rows: Rows, ends: Integers) -> Integers:
        """The latest of these ends in each row's group so far, that of the row included."""
        found = rows.values(np.maximum.accumulate(rows.keys(ends)))
        return np.maximum(found, self.latest[rows.groups])

    def keep(self, rows: Rows, reach: Integers) -> None:
        """Remember the last row of each group."""
        last = rows.last
        self.latest[rows.groups[last]] = reach[last]


class _Disjoint(_Walk):
    """Intervals that begin before an earlier one has ended."""

    def take(self, rows: Rows) -> None:
        rows = rows[self.own(rows)].by_end()
        if not len(rows):
            return
        reach = self.reach(rows, rows.end)
        before = np.where(
            np.append(True, changes(rows.group)), self.latest[rows.groups], np.roll(reach, 1)
        )
        known = (before > NONE) & (rows.start > NONE)
        self.walked.population += int(known.sum())
        self.walked.add(rows, known & (rows.start < before))
        self.keep(rows, reach)


class _Inside(_Walk):
    """Intervals that lie in none of those around others."""

    def take(self, rows: Rows) -> None:
        reach = self.reach(rows, np.where(self.own(rows, 1), rows.end, NONE))
        latest = reach[rows.run_ends]
        known = self.own(rows) & ((latest == NONE) | (rows.end > NONE))
        self.walked.population += int(known.sum())
        self.walked.add(rows, known & ((latest == NONE) | (latest < rows.end)))
        self.keep(rows, reach)


class _Repeated(_Walk):
    """Rows of one start and end, which SQL has to compare further."""

    def take(self, rows: Rows) -> None:
        rows = rows[self.own(rows)].by_end()
        alike = ~changes(rows.start) & ~changes(rows.end) & ~changes(rows.group)
        if alike.any():
            self.walked.failed = self.walked.failed or NotKnown()
        self.walked.population += len(rows)


@dataclass(slots=True)
class _Nested(_Walk):
    """Intervals that begin inside another and end behind it.

    ``open``: ends by group, the last one first.
    """

    open: dict[int, list[int]] = field(default_factory=dict)

    def take(self, rows: Rows) -> None:
        rows = rows[self.own(rows) & (rows.start > NONE) & (rows.end > NONE)]
        self.walked.population += len(rows)
        # What has no length neither crosses another nor is crossed.
        rows = rows[rows.start < rows.end].by_end(-1)
        if not len(rows):
            return
        last = rows.last
        first = np.append(0, last[:-1] + 1)
        groups = rows.groups[first].tolist()
        begins = rows.start[first].tolist()
        opened = [
            [end for end in self.open.get(group, ()) if end > begin]
            for group, begin in zip(groups, begins, strict=True)
        ]
        if not self._is_clean(rows, first, opened):
            self.open.update(zip(groups, opened, strict=True))
            self._look(rows)
            return
        for group, kept, start, stop in zip(groups, opened, first, last + 1, strict=True):
            begin, ends = rows.start[stop - 1], rows.end[start:stop]
            self.open[group] = [*(end for end in kept if end > begin), *ends[ends > begin].tolist()]
        if len(self.open) > MOST_GROUPS:  # they come one after the other: the others are over
            self.open = {groups[-1]: self.open[groups[-1]]}

    def _is_clean(self, rows: Rows, first: Integers, opened: Sequence[Sequence[int]]) -> bool:
        """Whether no interval crosses another.

        For each one, as many begin before it ends as have ended until then: those that crossed it
        would miss, those that it crosses be too many. The crossing interval that ends first
        crosses none.
        """
        counts = [len(one) for one in opened]
        if any(counts):
            places = np.repeat(first, counts)
            ends = np.array([end for one in opened for end in one], np.int64)
            order = np.insert(np.arange(len(rows)), places, places)
            rows = replace(rows[order], end=np.insert(rows.end, places, ends))
        return all(map(self._is_apart, rows.pieces()))

    def _is_apart(self, rows: Rows) -> bool:
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
        bad = np.zeros(len(rows), np.bool_)
        cells = zip(rows.start.tolist(), rows.end.tolist(), rows.groups.tolist(), strict=True)
        for place, (start, end, group) in enumerate(cells):
            open_ends = self.open[group]
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            bad[place] = bool(open_ends) and end > open_ends[-1]
            if not bad[place]:
                open_ends.append(end)
        self.walked.add(rows, bad)


@dataclass(slots=True)
class _Rising:
    """Values that fall from one row to the next of their group.

    ``before``: what the next value of each group is compared with; ``keys``: what the last row of
    each is ordered by.
    """

    walk: Walk
    number: int
    walked: Walked
    groups: Groups
    before: PerGroup = field(default_factory=PerGroup)
    keys: tuple[PerGroup, ...] = ()

    def take(self, cells: Cells) -> None:
        """Judge the next rows."""
        if self.walked.failed:
            return
        try:
            self._take(cells)
        except (NotInOrder, NotKnown) as error:
            self.walked.failed = error

    def _take(self, cells: Cells) -> None:
        order = (*self.walk.order, *([PLACE] if PLACE in cells else []))
        than = self.walk.than or self.walk.value
        needed = {*order, *self.walk.by, self.walk.value, than, FLAGS}
        walked = cells[FLAGS] & (1 << 2 * self.number) != 0
        chosen: Cells = {name: cells[name][walked] for name in needed}
        if not len(chosen[FLAGS]):
            return
        rows, group, known = self.groups.divide(chosen)
        groups = known[group]
        first = np.append(True, changes(group))
        last = last_of(group)
        self.keys = self.keys or tuple(PerGroup() for _ in order)
        falls, equal = np.zeros(len(group), np.bool_), np.ones(len(group), np.bool_)
        for name, remembered in zip(order, self.keys, strict=True):
            earlier = np.where(first, remembered[groups], np.roll(rows[name], 1))
            falls |= equal & (rows[name] < earlier)
            equal &= rows[name] == earlier
            remembered[groups[last]] = rows[name][last]
        if (falls | equal).any() and not self.groups.is_ordered:
            raise NotInOrder
        value, later = rows[self.walk.value], rows[than]
        if any(np.any((one > NONE) & (np.abs(one) > WIDEST)) for one in (value, later)):
            raise NotKnown
        before = np.where(first, self.before[groups], np.roll(later, 1))
        self.before[groups[last]] = later[last]
        self._judge(rows[FLAGS], value, before)

    def _judge(self, flags: Integers, value: Integers, before: Integers) -> None:
        judged = (flags & (2 << 2 * self.number) != 0) & (value > NONE) & (before > NONE)
        step = np.where(judged, value - before, 1)
        if self.walk.most is not None:
            bad = step > self.walk.most
        else:
            bad = step < (1 if self.walk.strict else 0)
        if self.walk.wrap is not None:
            bad &= np.abs(step) < self.walk.wrap // 2
        self.walked.population += int(judged.sum())
        self.walked.count += int(bad.sum())

    def finish(self) -> None:
        """Nothing is held."""


_KINDS: Mapping[WalkKind, Callable[[Walked, int], _Walk]] = {
    "nested": _Nested,
    "disjoint": _Disjoint,
    "inside": _Inside,
    "repeated": _Repeated,
}
