"""Walks find what a comparison of every interval with every other one finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from relation_trials import opened, simulate

from ascend_conformance.engine.relations.judge import Answer, ask, bind
from ascend_conformance.engine.relations.rule import WalkKind, load_relations
from ascend_conformance.engine.relations.sql import rows_query
from ascend_conformance.engine.relations.steps import NotSteps, SameMoment, Steps, count_steps
from ascend_conformance.engine.relations.walks import walk

Row = tuple[Any, ...]
"""Place, start, end, turn (0: around others) and group of an interval."""

MOMENTS = st.none() | st.integers(0, 6)
ROWS = st.lists(st.tuples(MOMENTS, MOMENTS, st.integers(0, 1), st.integers(0, 2)), max_size=12)
BATCH = st.integers(1, 5)
"""Rows of a batch; where intervals go on in the next one, the walk has to remember them."""


def _first(value: int | None) -> int:
    """A moment in an order where none comes first."""
    return -9 if value is None else value


def _batches(rows: Sequence[Row], size: int) -> Iterator[pa.RecordBatch]:
    """The rows as queries give them: by group, start and place, flags instead of the turn."""
    ordered = sorted(rows, key=lambda one: (one[4], _first(one[1]), one[0]))
    flagged = [(*row[:3], (2, 1)[row[3]], row[4]) for row in ordered]
    for begin in range(0, len(flagged), size):
        cells = zip(*flagged[begin : begin + size], strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(one, pa.int64()) for one in cells], list("psefg")
        )


def _judged(kind: WalkKind, rows: Sequence[Row], size: int) -> tuple[int, list[int]]:
    [walked] = walk([kind], _batches(rows, size), len(rows) + 1)
    assert walked.count == len(walked.first())
    cells = {row[0]: row[1:3] for row in rows}
    assert all(cells[place] == (start, end) for place, start, end in walked.first())
    return walked.population, [row[0] for row in walked.first()]


@given(ROWS, BATCH)
def test_disjoint(cells: list[Row], size: int) -> None:
    ordered = sorted(cells, key=lambda one: (one[3], _first(one[0]), _first(one[1])))
    rows = [(place, *row[:2], 1, row[3]) for place, row in enumerate(ordered)]
    judged, bad = 0, []
    for place, start, _, _, group in rows:
        ends = [row[2] for row in rows[:place] if row[4] == group and row[2] is not None]
        if ends and start is not None:
            judged += 1
            if any(start < end for end in ends):
                bad.append(place)
    assert _judged("disjoint", rows, size) == (judged, bad)


@given(ROWS, BATCH)
def test_inside(cells: list[Row], size: int) -> None:
    rows = [(place, *row) for place, row in enumerate(cells)]
    judged, bad = 0, []
    for place, start, end, turn, group in rows:
        around = [
            row[2]
            for row in rows
            if row[4] == group
            and row[3] == 0
            and row[2] is not None
            and _first(row[1]) <= _first(start)
        ]
        if turn == 1 and (end is not None or not around):
            judged += 1
            if not any(outer >= end for outer in around):
                bad.append(place)
    assert _judged("inside", rows, size) == (judged, bad)


@given(ROWS, BATCH)
def test_nested(cells: list[Row], size: int) -> None:
    """A row that crosses one before it is bad, and then not taken for one around others."""
    rows = [(place, *row[:2], 1, row[3]) for place, row in enumerate(cells)]
    some = [row for row in rows if row[1] is not None and row[2] is not None]
    taken: list[Row] = []
    bad = []
    for row in sorted(some, key=lambda one: (one[4], one[1], -one[2], one[0])):
        open_ones = [one[2] for one in taken if one[4] == row[4] and one[2] > row[1]]
        if any(end < row[2] for end in open_ones):
            bad.append(row[0])
        else:
            taken.append(row)
    assert _judged("nested", rows, size) == (len(some), sorted(bad))


@given(ROWS, BATCH)
def test_walks_share_their_rows(cells: list[Row], size: int) -> None:
    rows = [(place, *row) for place, row in enumerate(cells)]
    alone = list(_batches(rows, size))
    flags = [pa.array([one.as_py() * 5 for one in batch.column(3)], pa.int64()) for batch in alone]
    both = [batch.set_column(3, "f", one) for batch, one in zip(alone, flags, strict=True)]
    kinds: list[WalkKind] = ["inside", "nested"]
    together = [(one.population, one.first()) for one in walk(kinds, both, 5)]
    single = [(one.population, one.first()) for kind in kinds for one in walk([kind], alone, 5)]
    assert together == single


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2) | st.none()), max_size=9), BATCH)
def test_groups_are_of_texts_and_of_several_columns(
    by: list[tuple[str, int | None]], size: int
) -> None:
    ordered = sorted(by, key=lambda one: (one[0], _first(one[1])))
    batches = []
    for begin in range(0, len(ordered), size):
        names, numbers = zip(*ordered[begin : begin + size], strict=True)
        fixed = [pa.array([cell] * len(names)) for cell in (1, 2, 9, 1)]
        arrays = [*fixed, pa.array(names), pa.array(numbers, pa.int64())]
        batches.append(pa.RecordBatch.from_arrays(arrays, list("psefnm")))
    [walked] = walk(["disjoint"], batches, 1)
    assert walked.count == len(ordered) - len(set(ordered))


def test_the_first_bad_rows_are_kept() -> None:
    rows = [(place, 10_000 - place, 20_000, 1, 7) for place in range(10_000)]
    [walked] = walk(["inside"], _batches(rows, 64), 3)
    assert (walked.population, walked.count) == (10_000, 10_000)
    assert [row[0] for row in walked.first()] == [0, 1, 2]


@pytest.mark.parametrize("kind", ["disjoint", "inside", "nested"])
def test_times_of_any_size(kind: WalkKind) -> None:
    """Those of two groups, too, which together fit no 64-bit integer."""
    edge = (1 << 63) - 1
    rows = [(place, start, edge, 1, place % 3) for place, start in enumerate([-edge, 0, edge] * 4)]
    bad = {"disjoint": 6, "inside": 12, "nested": 0}
    assert len(_judged(kind, rows, 5)[1]) == bad[kind]


def test_code_and_windows_judge_alike(tmp_path: Path) -> None:
    """On the clean recording, on each broken one, and with a text among the times."""
    text = "UPDATE CANN_API SET endNs = 'soon' WHERE rowid = (SELECT max(rowid) - 5 FROM CANN_API)"
    asked = "SELECT count(*), count(*) FILTER (WHERE bad), min(place) FILTER (WHERE bad) FROM "
    every = load_relations().values()
    walks = [one for one in every if one.search.walk or " OVER " in one.search.joined]
    compared = 0
    with opened(simulate(tmp_path), "database") as trial:
        for relation in walks:
            bound = bind(relation, trial.shown.views())
            is_nested = relation.search.walk and relation.search.walk.kind == "nested"
            if not isinstance(bound, dict) or is_nested:
                continue
            for edits in ((), relation.search.edits):
                for further in ("SELECT 1", text):
                    with trial.changed(relation, *edits):
                        trial.execute(further)
                        query = rows_query(relation, bound, "sqlite")
                        [expected] = trial.shown.rows(f"{asked}({query})")
                        found = ask(relation, trial.shown)
                        assert isinstance(found, Answer), relation.id
                        first = found.places[0] if found.places else None
                        assert (found.population, found.count, first) == expected, relation.id
                        compared += 1
    assert compared > 20


@pytest.mark.parametrize("kind", ["disjoint", "inside", "nested"])
def test_a_text_among_numbers_is_no_answer(kind: WalkKind) -> None:
    texts = pa.array(["soon", "later"])
    numbers = pa.array([1, 1])
    batch = pa.RecordBatch.from_arrays([numbers, numbers, texts, numbers], list("psef"))
    with pytest.raises(pa.ArrowTypeError):
        walk([kind], [batch], 1)


def test_calls_whose_times_are_texts_are_left_out_of_nests(tmp_path: Path) -> None:
    relation = load_relations()["REL304"]
    with opened(simulate(tmp_path), "database") as trial:
        before = trial.ask(relation)
        trial.execute(
            "UPDATE CANN_API SET endNs = 'soon' WHERE rowid IN (SELECT max(rowid) FROM CANN_API)"
        )
        after = trial.ask(relation)
    assert isinstance(before, Answer)
    assert isinstance(after, Answer)
    assert (after.population, after.count) == (before.population - 1, 0)


@given(
    st.lists(st.tuples(MOMENTS, MOMENTS, st.integers(0, 2), st.integers(0, 2)), max_size=12), BATCH
)
def test_steps(cells: list[Row], size: int) -> None:
    """Each value less that of the row before in its group, where both are known."""
    terms = [(0, "<=", 0), (0, ">", -5), (1, ">", 0)]
    steps = Steps("", "", "", 1, terms)
    rows = sorted(cells, key=lambda one: _first(one[0]))
    expected, moments, shared, last = [0, 0], set(), False, dict[int, int | None]()
    for moment, value, other, group in rows:
        before = last.get(group)
        step = None if value is None or before is None else value - before
        bad = other > 0 and (None if step is None else -5 < step <= 0)
        expected[0] += bad is not None
        expected[1] += bad is True
        shared |= (moment, group) in moments
        moments.add((moment, group))
        last[group] = value
    kinds = [pa.int64()] * 4
    batches = []
    for begin in range(0, len(rows), size):
        moment, value, other, group = zip(*rows[begin : begin + size], strict=True)
        columns = zip((value, moment, other, group), kinds, strict=True)
        arrays = [pa.array(one, kind) for one, kind in columns]
        batches.append(pa.RecordBatch.from_arrays(arrays, list("vmog")))
    assert count_steps(steps, batches, is_exact=True) == tuple(expected)
    if shared:
        with pytest.raises(SameMoment):
            count_steps(steps, batches, is_exact=False)
    else:
        assert count_steps(steps, batches, is_exact=False) == tuple(expected)


def test_steps_of_too_many_groups_are_left_to_sql() -> None:
    numbers = pa.array(range(70_000))
    batch = pa.RecordBatch.from_arrays([numbers] * 3, list("vmg"))
    with pytest.raises(NotSteps):
        count_steps(Steps("", "", "", 0, [(0, "<", 0)]), [batch], is_exact=True)
