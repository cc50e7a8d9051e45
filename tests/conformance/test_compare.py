"""The comparator on hand-made showers: what is compared, who meets whom, and what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import pytest

from ascend_conformance.compare.agreement import Agreement, Comparison, Side, Which
from ascend_conformance.compare.follow import Shown, followed
from ascend_conformance.compare.match import Compared, Outcome, Selected, outcome
from ascend_spec.recording import Entity, EntityColumn


def entity(**units: str | None) -> Entity:
    columns = {name: EntityColumn(name, "any", "", unit) for name, unit in units.items()}
    return Entity("thing", "", (), columns, identity=("id",), interval=("start", "end", "length"))


THING = entity(id=None, start="ns", end="ns", length="ns", size="Byte", name=None)


def agreed(left: Mapping[str, Shown], right: Mapping[str, Shown], **more: Any) -> Agreement:
    sides = (Side("a", {}), Side("b", {}))
    agreement = Agreement(*sides, keys=("name",), compare=more.pop("compare", {}), **more)
    return followed(agreement, [THING], {"left": left, "right": right})


def test_what_both_show_is_compared_but_no_key_and_no_number_that_only_links() -> None:
    both = {one: Shown(one) for one in ("id", "start", "size", "name")}
    found = agreed({**both, "length": Shown("length")}, both)
    assert list(found.compare) == ["start", "size"]
    assert found.compare["start"] == Comparison("ns", "1")


def test_an_end_that_one_side_works_out_is_left_to_start_and_length() -> None:
    stored = {"start": Shown("s"), "end": Shown("e"), "length": Shown("e - s", follows=True)}
    drawn = {"start": Shown("ts"), "length": Shown("dur"), "end": Shown("x", follows=True)}
    assert list(agreed(stored, drawn).compare) == ["start", "length"]
    assert list(agreed(stored, stored).compare) == ["start", "end"]


def test_amounts_are_compared_in_the_unit_of_the_coarser_cell() -> None:
    stored = {"size": Shown("bytes")}
    printed = {"size": Shown("CAST(round(kb * 1024) AS BIGINT)", "kb", 1024)}
    found = agreed(stored, printed, compare={"size": Comparison("KB", "0.0011")})
    assert (found.left.columns["size"], found.right.columns["size"]) == ("bytes / 1024", "kb")


def test_what_is_not_to_be_compared_is_not() -> None:
    both = {"start": Shown("s"), "size": Shown("b")}
    assert list(agreed(both, both, but=("size",)).compare) == ["start"]


class Store:
    """A database of the test's own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, list(values)).fetchall()

    def value(self, query: str, values: Sequence[object] = ()) -> Any:
        return self.rows(query, values)[0][0]


@pytest.fixture
def store() -> Iterator[Store]:
    with duckdb.connect(":memory:") as connection:
        yield Store(connection)


Rows = Sequence[tuple[str, int, int]]
"""Name, start in ns and size of each row."""


def compare(store: Store, left: Rows, right: Rows) -> Outcome:
    """Rows of two sides by name, at the nearest start within 5 ns."""
    columns = {"start": Comparison("ns", "5"), "size": Comparison()}
    named: Mapping[str, str] = {name: name for name in ("name", *columns)}
    types = {"name": "VARCHAR", "start": "BIGINT", "size": "BIGINT"}
    both: Mapping[Which, Rows] = {"left": left, "right": right}
    sides: dict[Which, Selected] = {}
    for which, rows in both.items():
        flat = ", ".join(
            f"(0, {place}, 1, '{name}', {start}::BIGINT, {size}::BIGINT)"
            for place, (name, start, size) in enumerate(rows)
        )
        query = f"SELECT * FROM (VALUES {flat}) v(file, row, times, name, start, size)"
        sides[which] = Selected(Side(which, named), query, types, {})
    agreement = Agreement(sides["left"].side, sides["right"].side, ("name",), columns, "start")
    return outcome(store, Compared(agreement, ("name",), "start", columns, sides))


def test_rows_meet_by_key_and_time_and_differ_in_one_value(store: Store) -> None:
    found = compare(store, [("a", 10, 1), ("a", 90, 2)], [("a", 90, 2), ("a", 10, 3)])
    assert (found.differing, found.alone) == ({"start": 0, "size": 1}, {"left": 0, "right": 0})


def test_a_time_within_the_tolerance_is_no_difference(store: Store) -> None:
    found = compare(store, [("a", 10, 1), ("b", 20, 1)], [("a", 14, 1), ("b", 20, 1)])
    assert found.faults == 0


def test_a_row_that_is_missing_and_one_that_is_added_stand_alone(store: Store) -> None:
    found = compare(store, [("a", 10, 1), ("b", 20, 1)], [("a", 10, 1), ("c", 20, 1)])
    assert (found.alone, sum(found.differing.values())) == ({"left": 1, "right": 1}, 0)


def test_where_both_have_as_many_of_a_kind_a_late_one_differs_and_does_not_stand_alone(
    store: Store,
) -> None:
    found = compare(store, [("a", 10, 1), ("a", 500, 2)], [("a", 10, 1), ("a", 900, 2)])
    assert (found.differing, found.alone) == ({"start": 1, "size": 0}, {"left": 0, "right": 0})
