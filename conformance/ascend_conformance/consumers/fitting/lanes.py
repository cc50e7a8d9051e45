"""Slices that cross others of their thread, and the arrows that end in them, on further lanes.

``fitted.lane`` has those that leave the first lane of their thread: ``row``, ``pid``, ``tid``,
``lane``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...media.text.database import Facts
from ..nesting import DEEPEST, Open, Slice, crosses
from ..seeing import ENDS
from .numbers import Track

MOST_LANES = 256
"""Of a thread; what fits on none of them stays where it is."""
AS_MUCH = 20_000
"""Slices that are placed at once."""

_SLICES = """
SELECT pid, coalesce(tid, 0) AS tid, row, ts, TRY_CAST(round(dur * 1000) AS BIGINT) AS took
FROM trace.event WHERE ph = 'X' AND ts_decimals >= 0 AND ts IS NOT NULL AND pid IS NOT NULL
"""


def find_lanes(facts: Facts, *, deep: bool) -> dict[Track, int]:
    """Make ``fitted.lane``; how many further lanes the tracks that need some have.

    deep: whether a slice inside of too many others goes to a further lane, too.
    """
    connection = facts.connection
    connection.execute("CREATE SCHEMA IF NOT EXISTS fitted")
    connection.execute(
        "CREATE OR REPLACE TABLE fitted.lane (row BIGINT, pid BIGINT, tid BIGINT, lane BIGINT)"
    )
    placing = _Placing(DEEPEST if deep else None)
    with facts.another() as reading:
        cursor = reading.connection.execute(
            f"SELECT pid, tid, row, ts, took, ts, ts + took FROM ({_SLICES}) WHERE took >= 0 "
            "ORDER BY pid, tid, ts, took DESC, row"
        )
        while batch := cursor.fetchmany(AS_MUCH):
            moved = list(placing.place([Slice._make(row) for row in batch]))
            if moved:
                columns = [list(values) for values in zip(*moved, strict=True)]
                lists = ", ".join("unnest(?::BIGINT[])" for _ in columns)
                connection.execute(f"INSERT INTO fitted.lane SELECT {lists}", columns)
    most = "SELECT pid, tid, max(lane) FROM fitted.lane GROUP BY ALL"
    lanes = {(pid, tid): int(last) for pid, tid, last in facts.rows(most)}
    if lanes:
        connection.execute(_ENDS)
    return lanes


class _Placing:
    """A walk over slices by thread and time, each put on the first lane where it crosses none."""

    def __init__(self, deepest: int | None) -> None:
        self._deepest = deepest
        self._track: Track | None = None
        self._lanes: list[list[Open]] = []

    def place(self, slices: Sequence[Slice]) -> Iterator[tuple[int, int, int, int]]:
        """Row, process, thread and lane of those that leave the first lane."""
        for one in slices:
            if (one.process, one.thread) != self._track:
                self._track = one.process, one.thread
                self._lanes = [[]]
            lane = self._lane_of(one)
            if lane:
                yield one.row, one.process, one.thread, lane

    def _lane_of(self, one: Slice) -> int:
        end = one.begin + one.length
        for lane, stack in enumerate(self._lanes):
            if not crosses(stack, one.begin, end) and len(stack) != self._deepest:
                stack.append(Open(one.row, end, one.length == 0, one.begin, end))
                return lane
        if len(self._lanes) == MOST_LANES:
            return 0
        self._lanes.append([Open(one.row, end, one.length == 0, one.begin, end)])
        return len(self._lanes) - 1


# An end of an arrow goes with the slice that begins at its time, else with the one that began last
# of those that it is in.
_ENDS = f"""
INSERT INTO fitted.lane
WITH slice AS (
  SELECT s.pid, s.tid, s.row, s.ts, s.ts + s.took AS ends, coalesce(l.lane, 0) AS lane
  FROM ({_SLICES}) s LEFT JOIN fitted.lane l USING (row)
  WHERE s.took >= 0 AND (s.pid, s.tid) IN (SELECT (pid, tid) FROM fitted.lane)
), point AS (
  SELECT row, pid, coalesce(tid, 0) AS tid, ts FROM trace.event
  WHERE ph IN {ENDS} AND ts_decimals >= 0
    AND (pid, coalesce(tid, 0)) IN (SELECT (pid, tid) FROM fitted.lane)
), beginning AS (
  SELECT p.row, min(s.lane) AS lane
  FROM point p JOIN slice s ON s.pid = p.pid AND s.tid = p.tid AND s.ts = p.ts GROUP BY p.row
), asked AS (
  SELECT p.*, l.lane
  FROM point p JOIN (SELECT DISTINCT pid, tid, lane FROM slice) l USING (pid, tid)
  WHERE p.row NOT IN (SELECT row FROM beginning)
), around AS (
  SELECT a.row, arg_max(a.lane, s.ts) AS lane FROM asked a ASOF JOIN slice s
  ON s.pid = a.pid AND s.tid = a.tid AND s.lane = a.lane AND a.ts >= s.ts
  WHERE a.ts <= s.ends GROUP BY a.row
)
SELECT p.row, p.pid, p.tid, coalesce(b.lane, a.lane) FROM point p
LEFT JOIN beginning b USING (row) LEFT JOIN around a USING (row)
WHERE coalesce(b.lane, a.lane, 0) > 0
"""
