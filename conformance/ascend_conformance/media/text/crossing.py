"""Slices of one thread that begin inside another one and end behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers

from .derived.reading import integers, read_parts
from .findings import Fault, example_of
from .folder import Folder
from .structuretrace import byte_of_key

LATEST = 4_000_000_000_000_000_000
"""ns; beyond it, and beyond a length of 11 days, sums leave the range of 64 bits."""

OF_STREAMS = "T100"
"""The erratum: real timelines hold such slices, since a stream has one thread."""

NAMES = ("start_ns", "end_ns", "end_of_other_ns")

NEVER = -1
"""Before every slice."""


@dataclass
class Sweep:
    """Slices thread by thread, in order of their starts, longer ones first; what crossed so far.

    ``thread``, ``last`` and ``reach``: of the slice before, and the latest end on its thread.
    """

    thread: int = NEVER
    last: int = NEVER
    reach: int = NEVER
    total: int = 0
    found: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def add(self, row: Integers, thread: Integers, start: Integers, stop: Integers) -> None:
        """Take in further slices."""
        before = np.concatenate([[self.last], stop[:-1]])
        begins = np.flatnonzero(np.diff(thread, prepend=self.thread))
        before[begins] = NEVER
        reach = before.copy()
        for begin, end in zip([0, *begins], [*begins, len(reach)], strict=True):
            if begin == 0 and end > 0 and thread[0] == self.thread:
                reach[0] = self.reach
            np.maximum.accumulate(reach[begin:end], out=reach[begin:end])
        near, far = ((other > start) & (stop > other) for other in (before, reach))
        crossed = np.flatnonzero(near | far)
        other = np.where(near, before, reach)[crossed]
        self.found.append(np.stack([row[crossed], start[crossed], stop[crossed], other], axis=1))
        self.total += len(row)
        self.thread, self.last = int(thread[-1]), int(stop[-1])
        self.reach = max(int(reach[-1]), self.last)


def crossing_slices(folder: Folder, examples: int) -> Iterator[Fault]:
    """Slices that cross the one before them on their thread, or the one that reaches farthest.

    A crossing behind others inside the same slice is not seen.
    """
    for file, elements in folder.timelines.items():
        sweep = Sweep()
        for part in read_parts(folder.facts, _slices(file)):
            sweep.add(*(integers(part, name) for name in ("row", "thread", "ts", "stop")))
        rows = np.concatenate([np.empty((0, 4), np.int64), *sweep.found])
        rows = rows[np.argsort(rows[:, 0])]
        if len(rows):
            row = int(rows[0, 0])
            yield Fault(
                file,
                "dur",
                count=len(rows),
                total=sweep.total,
                row=row,
                offset=byte_of_key(folder, file, elements.offset_of(row), "dur"),
                examples=[example_of(NAMES, one[1:].tolist()) for one in rows[:examples]],
                errata=(OF_STREAMS,),
            )


def _slices(file: int) -> str:
    """Slices of a file that have a length. Numbers of threads sort faster than pid and tid."""
    return f"""
WITH slice AS (SELECT row, pid, tid, ts, ts + CAST(round(dur * 1000) AS BIGINT) AS stop
  FROM trace.event WHERE ph = 'X' AND file = {file}
  AND dur BETWEEN 0.0005 AND 1e15 AND ts BETWEEN 0 AND {LATEST})
SELECT row, thread, ts, stop FROM slice JOIN
  (SELECT pid, tid, row_number() OVER ()::INTEGER AS thread
    FROM (SELECT DISTINCT pid, tid FROM slice))
  USING (pid, tid) ORDER BY thread, ts, stop DESC
"""
