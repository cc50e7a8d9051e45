"""Slices that cross, against a look at the earlier slices of the thread."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.folder import Folder
from ascend_conformance.media.text.structuretrace import CROSSED, crossing_slices

Slices = list[tuple[int, int, int]]
"""Number of the thread, start and end in ns; in order of thread and start, longer ones first."""


def by_hand(slices: Slices) -> list[tuple[int, int]]:
    """Those that cross the one before them on their thread, or else the earlier one that ends last,
    with the end that they cross.
    """
    found = []
    for row, (thread, start, end) in enumerate(slices):
        ends = [one[2] for one in slices[:row] if one[0] == thread]
        crossed = [x for x in (*ends[-1:], max(ends, default=start)) if start < x < end]
        found += [(row, crossed[0])] if crossed else []
    return found


def by_query(slices: Slices, examples: int = 1000) -> list[tuple[int, int]]:
    rows = ", ".join(
        f"(0, {row}, 'X', 7, {thread}, {start}, {(end - start) / 1000})"
        for row, (thread, start, end) in enumerate(slices)
    )
    with open_facts() as facts:
        facts.connection.execute(
            f"INSERT INTO trace.event BY NAME SELECT * FROM (VALUES {rows}) "
            "t(file, row, ph, pid, tid, ts, dur)"
        )
        found = facts.rows(f"SELECT row, other FROM ({CROSSED}) ORDER BY row")
        faults = list(crossing_slices(Folder(facts), examples))
    assert [one.count for one in faults] == [len(found)] * bool(found)
    shown = [example["end_of_other_ns"] for fault in faults for example in fault.examples]
    assert shown == [other for _, other in found][:examples]
    return found


@settings(max_examples=17, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 60))
def test_crossing_slices_are_those_found_by_hand(seed: int, count: int) -> None:
    chance = random.Random(seed)
    slices: Slices = []
    for _ in range(count):
        start = chance.randrange(80)
        slices.append((chance.randrange(1, 4), start, start + chance.randrange(1, 40)))
    slices.sort(key=lambda one: (one[0], one[1], -one[2]))
    assert by_query(slices) == by_hand(slices)


def test_a_crossing_is_reported_with_the_end_that_it_crosses() -> None:
    slices = [(1, 0, 100), (1, 10, 20), (1, 90, 120), (2, 95, 130)]
    assert by_query(slices) == [(2, 100)]
