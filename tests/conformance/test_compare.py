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


def compare_reals(
    store: Store, left: Sequence[float], right: Sequence[float], comparison: Comparison
) -> int:
    """How many numbers of the left differ from those of the right, one by one."""
    sides: dict[Which, Selected] = {}
    both: Mapping[Which, Sequence[float]] = {"left": left, "right": right}
    for which, values in both.items():
        rows = ", ".join(
            f"(0, {place}, 1, {place}, {str(value)!r}::DOUBLE)"
            for place, value in enumerate(values)
        )
        query = f"SELECT * FROM (VALUES {rows}) v(file, row, times, number, value)"
        named = {"number": "number", "value": "value"}
        types = {"number": "INTEGER", "value": "DOUBLE"}
        sides[which] = Selected(Side(which, named), query, types, {})
    columns = {"value": comparison}
    agreement = Agreement(sides["left"].side, sides["right"].side, ("number",), columns)
    asked = Compared(agreement, ("number",), None, columns, sides)
    return outcome(store, asked).differing["value"]


def test_a_printed_number_agrees_within_one_unit_of_its_last_decimal(store: Store) -> None:
    # 260794.52 / 3 = 86931.50666: real files print .506, and others .507.
    exact, one = 260794.52 / 3, Comparison("us")
    assert compare_reals(store, [86931.506, 12.25], [exact, 12.25], one) == 0
    assert compare_reals(store, [86931.507, 12.25], [exact, 12.25], one) == 0
    assert compare_reals(store, [86931.505, 12.25], [exact, 12.25], one) == 1


def test_the_finest_number_of_a_column_gives_its_decimals(store: Store) -> None:
    # Variances 0.303 and 0.302 of lengths that were rounded to ns before, and after.
    assert compare_reals(store, [0.303, 4.5], [0.302, 4.5], Comparison()) == 0
    # Six decimals: as far apart they are two numbers.
    assert compare_reals(store, [0.303, 4.512345], [0.302, 4.512345], Comparison()) == 1


def test_two_decimals_agree_where_a_writer_prints_so_few(store: Store) -> None:
    printed, exact = [3.48, 15.0, 6.11], [3.48340625, 15.0026875, 6.114]
    assert compare_reals(store, printed, exact, Comparison("us", decimals=2)) == 0
    assert compare_reals(store, printed, exact, Comparison("us")) == 3


def test_what_a_float_does_not_hold_is_no_difference(store: Store) -> None:
    # Neighbouring floats near 1.7e15 are a quarter apart, sums end in another bit.
    assert compare_reals(store, [1736410576435143.0], [1736410576435143.25], Comparison("us")) == 0
    assert compare_reals(store, [8873.756], [8873.756000000001], Comparison("us")) == 0
    assert compare_reals(store, [1736410576435143.0], [1736410576435147.0], Comparison("us")) == 1


def test_what_is_no_number_agrees_with_none(store: Store) -> None:
    nan, infinite = float("nan"), float("inf")
    assert compare_reals(store, [nan, infinite, 1.0], [1.0, 1.0, 1.0], Comparison("us")) == 2
    extra = Comparison("us", extra="left.value")
    assert compare_reals(store, [1.0, nan, 1.0], [1.0, 1.0, infinite], extra) == 2
