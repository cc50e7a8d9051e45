"""Walks find what a comparison of every interval with every other one finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from relation_trials import opened, simulate

from ascend_conformance.engine.relations.judge import Answer, ask, bind
from ascend_conformance.engine.relations.rule import WalkKind, load_relations
from ascend_conformance.engine.relations.sql import rows_query
from ascend_conformance.engine.relations.walks import Row, walk

MOMENTS = st.none() | st.integers(0, 6)
ROWS = st.lists(st.tuples(MOMENTS, MOMENTS, st.integers(0, 1), st.integers(0, 1)), max_size=9)
SLACK = st.integers(0, 2)


def _first(value: int | None) -> int:
    """A moment in an order where none comes first."""
    return -9 if value is None else value


def _judged(kind: WalkKind, rows: list[Row], slack: int) -> tuple[int, list[int]]:
    walked = walk(kind, rows, slack, len(rows) + 1)
    assert walked.count == len(walked.first())
    return walked.population, [row[0] for row in walked.first()]


@given(ROWS, SLACK)
def test_disjoint(cells: list[Row], slack: int) -> None:
    ordered = sorted(cells, key=lambda one: (one[3], _first(one[0]), _first(one[1])))
    rows = [(place, *row) for place, row in enumerate(ordered)]
    judged, bad = 0, []
    for place, start, _, _, group in rows:
        ends = [row[2] for row in rows[:place] if row[4] == group and row[2] is not None]
        if ends and start is not None:
            judged += 1
            if any(start < end - slack for end in ends):
                bad.append(place)
    assert _judged("disjoint", rows, slack) == (judged, bad)


@given(ROWS, SLACK)
def test_inside(cells: list[Row], slack: int) -> None:
    def order(row: Row) -> tuple[int, int, int]:
        begins = None if row[0] is None else row[0] - (slack if row[2] == 0 else 0)
        return row[3], _first(begins), row[2]

    rows = [(place, *row) for place, row in enumerate(sorted(cells, key=order))]
    judged, bad = 0, []
    for place, _, end, turn, group in rows:
        around = [
            row[2] for row in rows[:place] if row[4] == group and row[3] == 0 and row[2] is not None
        ]
        if turn == 1 and (end is not None or not around):
            judged += 1
            if not any(outer >= end - slack for outer in around):
                bad.append(place)
    assert _judged("inside", rows, slack) == (judged, bad)


@given(ROWS)
def test_nested(cells: list[Row]) -> None:
    """Without a crossing there is no bad row; the first bad row crosses one before it."""
    some = [one for one in cells if one[0] is not None and one[1] is not None and one[0] < one[1]]
    ordered = sorted(some, key=lambda one: (one[3], one[0], -one[1]))
    rows = [(place, *row) for place, row in enumerate(ordered)]
    crossing = [
        place
        for place, start, end, _, group in rows
        if any(row[4] == group and row[1] < start < row[2] < end for row in rows[:place])
    ]
    population, bad = _judged("nested", rows, 0)
    assert population == len(rows)
    assert bad[:1] == crossing[:1]


def test_the_first_bad_rows_are_kept() -> None:
    rows = [(place, 0, 1, 1, 7) for place in reversed(range(10_000))]
    walked = walk("inside", rows, 0, 3)
    assert (walked.population, walked.count) == (10_000, 10_000)
    assert [row[0] for row in walked.first()] == [0, 1, 2]


def test_code_and_windows_judge_alike(tmp_path: Path) -> None:
    """On the clean recording, on each broken one, and with a text among the times."""
    text = "UPDATE CANN_API SET endNs = 'soon' WHERE rowid = (SELECT max(rowid) - 5 FROM CANN_API)"
    asked = "SELECT count(*), count(*) FILTER (WHERE bad), min(place) FILTER (WHERE bad) FROM "
    walks = [one for one in load_relations().values() if one.search.walk]
    compared = 0
    with opened(simulate(tmp_path), "database") as trial:
        for relation in walks:
            bound = bind(relation, trial.shown.views())
            if not isinstance(bound, dict) or relation.search.walk.kind == "nested":  # type: ignore[union-attr]
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
    rows = [(1, 0, 5, 0, 7), (2, 1, 6, 0, 7), (3, "soon", "later", 1, 7)]
    with pytest.raises(TypeError):
        walk(kind, rows, 0, 1)
