"""Slices of one thread that begin inside another one and end after it."""

from __future__ import annotations

from collections.abc import Iterator

from .findings import Fault, example_of
from .folder import Folder
from .structuretrace import byte_of_key

LATEST = 4_000_000_000_000_000_000
"""ns; beyond it, and beyond a length of 11 days, sums leave the range of 64 bits."""

OF_STREAMS = "T100"
"""The erratum: real timelines hold such slices, since a stream has one thread."""

NAMES = ("start_ns", "end_ns", "end_of_other_ns")

SLICES = f"""
SELECT row, pid, tid, ts, ts + CAST(round(dur * 1000) AS BIGINT) AS stop FROM trace.event
WHERE ph = 'X' AND file = ? AND dur BETWEEN 0.0005 AND 1e15 AND ts BETWEEN 0 AND {LATEST}
"""
"""Those that have a length."""

CROSSED = f"""
SELECT row, ts, stop, count(*) OVER () AS count,
  CASE WHEN last > ts AND stop > last THEN last ELSE reach END AS other FROM
  (SELECT row, ts, stop, lag(stop) OVER (earlier) AS last,
    max(stop) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
  FROM ({SLICES}) WINDOW earlier AS (PARTITION BY pid, tid ORDER BY ts, stop DESC))
WHERE (last > ts AND stop > last) OR (reach > ts AND stop > reach) ORDER BY row LIMIT ?
"""


def crossing_slices(folder: Folder, examples: int) -> Iterator[Fault]:
    """Slices that cross the one before them on their thread, or the one that reaches farthest.

    A crossing behind others inside the same slice is not seen.
    """
    for file, elements in folder.timelines.items():
        found = folder.facts.rows(CROSSED, (file, max(examples, 1)))
        if found:
            row, _, _, count, _ = found[0]
            yield Fault(
                file,
                "dur",
                count=count,
                total=folder.facts.value(f"SELECT count(*) FROM ({SLICES})", (file,)),
                row=row,
                offset=byte_of_key(folder, file, elements.offset_of(row), "dur"),
                examples=[example_of(NAMES, (*one[1:3], one[4])) for one in found[:examples]],
                errata=(OF_STREAMS,),
            )
