"""Walks find what a comparison of every interval with every other one finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_trials import quick
from hypothesis import given
from hypothesis import strategies as st
from relation_trials import opened, simulate
from slices import some

from ascend_conformance.engine.relations import ordered
from ascend_conformance.engine.relations.binding import bind
from ascend_conformance.engine.relations.judge import Answer, ask
from ascend_conformance.engine.relations.ordered import NotInOrder
from ascend_conformance.engine.relations.rule import Walk, WalkKind, load_relations
from ascend_conformance.engine.relations.sql import rows_query
from ascend_conformance.engine.relations.walks import NotKnown, Walked, walk

Row = tuple[Any, ...]
"""Place, start, end, turn (0: around others) and group of an interval."""

MOMENTS = st.none() | st.integers(0, 6)
ROWS = st.lists(st.tuples(MOMENTS, MOMENTS, st.integers(0, 1), st.integers(0, 2)), max_size=12)
BATCH = st.integers(1, 5)
"""Rows of a batch; where intervals go on in the next one, the walk has to remember them."""


def _first(value: int | None) -> int:
    """A moment in an order where none comes first."""
    return -9 if value is None else value


ORDERS = {
    "by group": lambda row: (row[4], _first(row[1]), row[0]),
    "by start": lambda row: (_first(row[1]), row[0]),
    "as they stand": lambda row: row[0],
}
NAMES = ("place", "start", "end", "flags", "group")


def _batches(rows: Sequence[Row], size: int, order: str = "by group") -> Iterator[pa.RecordBatch]:
    """The rows as queries give them: in some order, flags instead of the turn."""
    ordered = sorted(rows, key=ORDERS[order])
    flagged = [(*row[:3], (2, 1)[row[3]], row[4]) for row in ordered]
    for begin in range(0, len(flagged), size):
        cells = zip(*flagged[begin : begin + size], strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(one, pa.int64()) for one in cells], list(NAMES))


def _walk(kind: WalkKind) -> Walk:
    return Walk(kind, by=("group",))


def _judged(kind: WalkKind, rows: Sequence[Row], size: int) -> tuple[int, list[int]]:
    """Judged rows and the places of bad ones, the same in every order that suits the walk."""
    found: list[Walked] = []
    for order in ORDERS:
        is_ordered = order == "by group"
        batches = _batches(rows, size, order)
        [walked] = walk([_walk(kind)], NAMES, batches, len(rows) + 1, is_ordered=is_ordered)
        starts = {row[4]: [_first(one[1]) for one in rows if one[4] == row[4]] for row in rows}
        if order == "as they stand" and any(one != sorted(one) for one in starts.values()):
            assert isinstance(walked.failed, NotInOrder)
        else:
            assert walked.failed is None
            found.append(walked)
    assert len({(one.population, one.count, *one.first()) for one in found}) == 1
    walked = found[0]
    assert walked.count == len(walked.first())
    cells = {row[0]: row[1:3] for row in rows}
    assert all(cells[place] == (start, end) for place, start, end in walked.first())
    return walked.population, [row[0] for row in walked.first()]


@quick()
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


@quick()
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


@quick()
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


@quick()
@given(ROWS, BATCH)
def test_repeated(cells: list[Row], size: int) -> None:
    """Rows of one start and end are left to SQL, which compares them further."""
    rows = [(place, *row[:2], 1, row[3]) for place, row in enumerate(cells)]
    [walked] = walk([_walk("repeated")], NAMES, _batches(rows, size), 1, is_ordered=True)
    if len({row[1:] for row in rows}) < len(rows):
        assert isinstance(walked.failed, NotKnown)
    else:
        assert (walked.population, walked.count, walked.failed) == (len(rows), 0, None)


@quick()
@given(ROWS, BATCH)
def test_walks_share_their_rows(cells: list[Row], size: int) -> None:
    rows = [(place, *row) for place, row in enumerate(cells)]
    alone = list(_batches(rows, size, "by start"))
    flags = [pa.array([one.as_py() * 5 for one in batch.column(3)], pa.int64()) for batch in alone]
    both = [batch.set_column(3, "f", one) for batch, one in zip(alone, flags, strict=True)]
    pair = [_walk("inside"), replace(_walk("nested"), by=())]
    together = [(one.population, one.first()) for one in walk(pair, NAMES, both, 5)]
    single = [
        (one.population, one.first()) for some in pair for one in walk([some], NAMES, alone, 5)
    ]
    assert together == single


@pytest.mark.parametrize("is_ordered", [False, True])
@quick()
@given(
    by=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2) | st.none()), max_size=9),
    size=BATCH,
)
def test_groups_are_of_texts_and_of_several_columns(
    by: list[tuple[str, int | None]], size: int, is_ordered: bool
) -> None:
    ordered = sorted(by, key=lambda one: (one[0], _first(one[1]))) if is_ordered else by
    batches = []
    for begin in range(0, len(ordered), size):
        names, numbers = zip(*ordered[begin : begin + size], strict=True)
        fixed = [pa.array([cell] * len(names)) for cell in (1, 2, 9, 1)]
        arrays = [*fixed, pa.array(names), pa.array(numbers, pa.int64())]
        batches.append(pa.RecordBatch.from_arrays(arrays, list("psefnm")))
    both = Walk("disjoint", by=("name", "number"))
    columns = [*NAMES[:4], "name", "number"]
    [walked] = walk([both], columns, batches, 1, is_ordered=is_ordered)
    assert walked.count == len(ordered) - len(set(ordered))


def test_the_first_bad_rows_are_kept() -> None:
    rows = [(place, 10_000 - place, 20_000, 1, 7) for place in range(10_000)]
    [walked] = walk([_walk("inside")], NAMES, _batches(rows, 64), 3, is_ordered=True)
    assert (walked.population, walked.count) == (10_000, 10_000)
    assert [row[0] for row in walked.first()] == [0, 1, 2]


@pytest.mark.parametrize("kind", ["disjoint", "inside", "nested"])
def test_groups_in_order_may_be_many(kind: WalkKind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that come one after the other; rows of many groups in no order are read again."""
    monkeypatch.setattr(ordered, "MOST_GROUPS", 5)
    rows = [(place, place % 2, 9 - place % 2, 1, place // 2) for place in range(40)]
    bad = {"disjoint": 20, "inside": 40, "nested": 0}[kind]
    [walked] = walk([_walk(kind)], NAMES, _batches(rows, 3), 50, is_ordered=True)
    assert (walked.count, walked.failed) == (bad, None)
    [walked] = walk([_walk(kind)], NAMES, _batches(rows, 3, "by start"), 50)
    assert isinstance(walked.failed, NotInOrder)


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
    over_rows = [one for one in every if one.search.walk or " OVER " in one.search.joined]
    compared = 0
    with opened(simulate(tmp_path), "database") as trial:
        for relation in over_rows:
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
                        assert (found.count, first) == expected[1:], relation.id
                        is_loose = relation.search.link or relation.search.excuse
                        if is_loose and not found.count:
                            assert found.population >= expected[0] > 0, relation.id
                        else:
                            assert found.population == expected[0], relation.id
                        compared += 1
    assert compared > 20


def test_a_graph_that_runs_again_excuses_its_launches_alone(tmp_path: Path) -> None:
    """The last launch of a stream is the first one again; one more has another number, though."""
    relation = load_relations()["REL111"]
    of_stream = (
        "SELECT t.rowid AS row, t.* FROM TASK t JOIN CANN_API c USING (connectionId) "
        "WHERE c.type = 10000 AND t.contextId = 4294967295 AND streamId = (SELECT streamId "
        "FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) GROUP BY 1 ORDER BY count(*) DESC)"
    )
    with opened(simulate(tmp_path), "database") as trial:
        trial.execute(f"CREATE TEMP TABLE line AS {of_stream} ORDER BY t.startNs")
        for columns, again, last, falls in (
            ("connectionId, taskId", 1, 0, 0),
            ("connectionId", 2, 2, 1),
        ):
            trial.execute(
                f"UPDATE TASK SET ({columns}) = (SELECT {columns} FROM line WHERE rowid = {again}) "
                f"WHERE rowid = (SELECT row FROM line ORDER BY rowid DESC LIMIT 1 OFFSET {last})"
            )
            found = trial.ask(relation)
            assert isinstance(found, Answer)
            assert found.count == falls, columns
            loose = replace(relation, search=relation.search.without_excuse())
            everything = trial.ask(loose)
            assert isinstance(everything, Answer)
            assert everything.count == falls + 1


def test_only_what_rises_can_be_excused() -> None:
    """Without some of its rows, what rises still does; a step may become too large, though."""
    excused = [one.search for one in load_relations().values() if one.search.excuse]
    assert excused
    for search in excused:
        walk = search.own_walk
        assert (walk.kind, walk.most, walk.wrap) == ("rising", None, None)


@pytest.mark.parametrize("kind", ["disjoint", "inside", "nested"])
def test_a_text_among_numbers_is_no_answer(kind: WalkKind) -> None:
    texts = pa.array(["soon", "later"])
    numbers = pa.array([1, 1])
    batch = pa.RecordBatch.from_arrays([numbers, numbers, texts, numbers], list("psef"))
    with pytest.raises(pa.ArrowTypeError):
        walk([Walk(kind)], NAMES[:4], [batch], 1)


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


@pytest.mark.parametrize("has_place", [True, False])
@pytest.mark.parametrize(
    ("strict", "wrap", "most"),
    some(
        [(True, 6, None), (False, None, None), (False, None, 1), (False, 4, 1), (False, 6, 1)],
        every=3,
    ),
)
@quick()
@given(
    cells=st.lists(
        st.tuples(MOMENTS, MOMENTS, st.integers(0, 2), st.sampled_from((1, 3))), max_size=12
    ),
    size=BATCH,
)
def test_rising(
    cells: list[Row],
    size: int,
    strict: bool,
    wrap: int | None,
    most: int | None,
    has_place: bool,
) -> None:
    """Each value less that of the row before in its group, or too much greater, where both are
    known.
    """
    rows = [
        (place, *row) for place, row in enumerate(sorted(cells, key=lambda one: _first(one[0])))
    ]
    judged = bad = 0
    last: dict[int, int | None] = {}
    for _, _, value, group, flags in rows:
        before = last.get(group)
        last[group] = value
        if flags == 3 and value is not None and before is not None:
            judged += 1
            falls = value <= before if strict else value < before
            is_wrong = falls if most is None else value - before > most
            bad += is_wrong and (wrap is None or abs(before - value) < wrap // 2)
    names = ["place", "moment", "value", "group", "flags"]
    batches = []
    for begin in range(0, len(rows), size):
        columns = zip(*rows[begin : begin + size], strict=True)
        arrays = [pa.array(one, pa.int64()) for one in columns]
        batches.append(pa.RecordBatch.from_arrays(arrays, names).select(names[not has_place :]))
    rising = Walk(
        "rising",
        by=("group",),
        order=("moment",),
        value="value",
        strict=strict,
        wrap=wrap,
        most=most,
    )
    [walked] = walk([rising], names[not has_place :], batches, 1)
    shared = len({(row[1], row[3]) for row in rows if row[1] is not None}) < len(rows)
    if shared and not has_place:  # which of two rows of a moment, or of none, is the first?
        assert isinstance(walked.failed, NotInOrder)
    else:
        assert (walked.population, walked.count, walked.failed) == (judged, bad, None)


def test_rising_values_that_are_too_large_are_left_to_sql() -> None:
    numbers = pa.array([0, 1 << 62, -(1 << 63) + 1])
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2, 3]), numbers], ["moment", "value"])
    rising = Walk("rising", order=("moment",), value="value")
    [walked] = walk([rising], ["moment", "value"], [batch], 1)
    assert isinstance(walked.failed, NotKnown)


def test_numbers_as_far_apart_as_integers_can_be_are_judged(tmp_path: Path) -> None:
    """Those too large for a walk are left to SQL, whose abs() refuses the least integer."""
    relation = load_relations()["LOS101"]
    of_stream = (
        "SELECT rowid FROM TASK WHERE contextId = 4294967295 AND streamId = "
        "(SELECT streamId FROM TASK GROUP BY 1 ORDER BY count(*) DESC LIMIT 1) ORDER BY startNs"
    )
    with opened(simulate(tmp_path), "database") as trial:
        for place, number in enumerate((-(1 << 63) + 1, 1)):
            trial.execute(
                f"UPDATE TASK SET taskId = {number} "
                f"WHERE rowid = ({of_stream} LIMIT 1 OFFSET {place})"
            )
        assert isinstance(trial.ask(relation), Answer)
