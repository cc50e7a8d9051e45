"""Speed of the overlap analysis, against a plain Python sweep over the same intervals in one run.

    python benchmarks/text_overlap.py [--intervals 5000000]

Needs about 3 GB of memory, since the sweep holds every interval as Python numbers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from lines import Line, best, show

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import Overlap, overlap, window

INTERVALS = 5_000_000
COMPUTING, COMMUNICATION = 0, 1

Work = tuple[Integers, Integers, Integers]
"""Kind, start and end in ns of every interval."""
Spans = dict[str, list[tuple[int, int]]]


def tasks(intervals: int) -> Work:
    """Tasks in order of their starts, a fifth of them communication, some of which overlap."""
    rng = np.random.default_rng(1)
    start = np.cumsum(rng.integers(0, 30_000, intervals))
    kind = (rng.random(intervals) < 0.2).astype(np.int64)
    length = np.where(kind == COMPUTING, rng.integers(1, 20_000, intervals), 0)
    length += np.where(kind == COMMUNICATION, rng.integers(1, 120_000, intervals), 0)
    return kind, start, start + length


def ours(work: Work) -> Overlap:
    """The four kinds of time, by the project's functions."""
    kind, start, end = work
    computing, communication = (
        union(start[kind == one], end[kind == one]) for one in (COMPUTING, COMMUNICATION)
    )
    bounds = window(computing, communication)
    assert bounds is not None
    return overlap(computing, communication, *bounds)


def swept(kind: list[int], start: list[int], end: list[int]) -> Spans:
    """The same by one walk over all starts and ends."""
    points = [(time, 1, one) for time, one in zip(start, kind, strict=True)]
    points += [(time, 0, one) for time, one in zip(end, kind, strict=True)]
    points.sort()
    names = ("computing", "communication", "communication_not_overlapped", "free")
    found: Spans = {name: [] for name in names}
    running = [0, 0]
    begun: list[int | None] = [None, None, None, None]
    at, last = 0, len(points)
    while at < last:
        time = points[at][0]
        while at < last and points[at][0] == time:
            _, opens, one = points[at]
            running[one] += 1 if opens else -1
            at += 1
        computes, sends = running[COMPUTING] > 0, running[COMMUNICATION] > 0
        states = (computes, sends, sends and not computes, not computes and not sends)
        for place, state in enumerate(states):
            since = begun[place]
            if state and since is None:
                begun[place] = time
            elif not state and since is not None:
                found[names[place]].append((since, time))
                begun[place] = None
    return found


def measure_overlap(intervals: int = INTERVALS) -> Iterator[Line]:
    """Tasks in order and in none."""
    work = tasks(intervals)
    shuffle = np.random.default_rng(2).permutation(intervals)
    kind, start, end = work
    yield _line("sorted", work)
    yield _line("shuffled", (kind[shuffle], start[shuffle], end[shuffle]))


def _line(order: str, work: Work) -> Line:
    seconds = best(lambda: ours(work))
    lists = [column.tolist() for column in work]
    told: list[Spans] = []
    theirs = best(lambda: told.append(swept(*lists)), 1)
    for name, spans in ours(work)._asdict().items():
        pairs = zip(spans.start.tolist(), spans.end.tolist(), strict=True)
        assert [*pairs] == told[0][name], name
    what = f"overlap of {len(lists[0]):,} intervals, {order}"
    return Line(what, theirs / seconds, 8, "x", False, f"Python sweep {theirs:.1f} s")


def main() -> int:
    """Print the figures; 1 where one misses its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--intervals", type=int, default=INTERVALS)
    lines = list(measure_overlap(parser.parse_args().intervals))
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
