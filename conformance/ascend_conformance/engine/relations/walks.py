"""Walks over rows in order of their start: one pass that remembers what is still open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .rule import WalkKind

KEPT = 4096
"""Bad rows held before all but the first wanted ones are let go."""

Row = tuple[Any, ...]
"""Place, start, end and turn of an interval, then its group; turn 0 is an interval around others.

Values may be of any type that SQLite stores. Rows come by group, start and turn, as
:func:`.sql.walk_rows` orders them for each kind of walk.
"""


@dataclass(slots=True)
class Walked:
    """Judged rows, bad ones, and place, start and end of the first ``wanted`` of these."""

    wanted: int
    population: int = 0
    count: int = 0
    found: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """A bad row."""
        self.count += 1
        self.found.append(row[:3])
        if len(self.found) > KEPT + self.wanted:
            self.first()

    def first(self) -> list[Row]:
        """The first bad rows by place."""
        self.found = sorted(self.found)[: self.wanted]
        return self.found


def walk(kind: WalkKind, rows: Iterable[Row], slack: int, wanted: int) -> Walked:
    """Judge the intervals of a walk.

    Raises ``TypeError`` for values that code cannot compare, such as a text among numbers.
    """
    walked = Walked(wanted)
    walked.population = _WALKS[kind](rows, slack, walked)
    return walked


def _nested(rows: Iterable[Row], slack: int, walked: Walked) -> int:
    """Intervals that begin inside another and end behind it."""
    population = 0
    group: Row | None = None
    open_ends: list[int] = []
    for row in rows:
        start, end = row[1], row[2]
        if start is None or end is None:
            continue
        population += 1
        if row[4:] != group:
            group, open_ends = row[4:], []
        while open_ends and open_ends[-1] <= start + slack:
            open_ends.pop()
        if open_ends and end > open_ends[-1] + slack:
            walked.add(row)
        else:
            open_ends.append(end)
    return population


def _disjoint(rows: Iterable[Row], slack: int, walked: Walked) -> int:
    """Intervals that begin before an earlier one has ended."""
    population = 0
    group: Row | None = None
    latest: int | None = None
    for row in rows:
        if row[4:] != group:
            group, latest = row[4:], None
        start, end = row[1], row[2]
        if latest is not None and start is not None:
            population += 1
            if start < latest - slack:
                walked.add(row)
        if end is not None and (latest is None or end > latest):
            latest = end
    return population


def _inside(rows: Iterable[Row], slack: int, walked: Walked) -> int:
    """Intervals of turn 1 that lie in none of turn 0."""
    population = 0
    group: Row | None = None
    latest: int | None = None
    for row in rows:
        if row[4:] != group:
            group, latest = row[4:], None
        end = row[2]
        if not row[3]:
            if end is not None and (latest is None or end > latest):
                latest = end
        elif latest is None:
            population += 1
            walked.add(row)
        elif end is not None:
            population += 1
            if latest < end - slack:
                walked.add(row)
    return population


_WALKS: Mapping[WalkKind, Callable[[Iterable[Row], int, Walked], int]] = {
    "nested": _nested,
    "disjoint": _disjoint,
    "inside": _inside,
}
