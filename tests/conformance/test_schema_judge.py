"""One judge of JSON by schemas: places, counts and wording, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ascend_conformance.engine.schema_judge import Departure, Groups, SchemaJudge
from ascend_conformance.engine.sliced_judge import KEPT, SLICE, SlicedJudge

Row = tuple[str, tuple[str | int, ...], str, str]


def rows(found: list[Departure]) -> list[Row]:
    return [(one.spot.place, one.tokens, one.spot.expected, one.actual) for one in found]


ZERO_TO_11 = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"


@pytest.mark.parametrize(
    ("schema", "value", "row"),
    [
        ({"type": ["integer", "null"]}, "x", ("", (), "integer or null", '"x"')),
        ({"enum": ["μs", 2, None]}, 3, ("", (), '"μs", 2 or null', "3")),
        ({"enum": list(range(14))}, 99, ("", (), ZERO_TO_11 + " or 2 more", "99")),
        ({"required": ["a/b"]}, {}, ("/a~1b", ("a/b",), "the key a/b", "absent")),
        ({"items": {"minimum": 1}}, [1, 0], ("/*", (1,), "at least 1", "0")),
        ({"minItems": 2}, [[]], ("", (), "at least 2 elements", "a list of 1 element")),
        ({"prefixItems": [{}], "items": False}, [1, 2], ("", (1,), "no further elements", "2")),
        ({"patternProperties": {"^a": {"const": 1}}}, {"ab": 2}, ("/*", ("ab",), "1", "2")),
        ({"contains": {"const": 1}}, [], ("", (), "1 among the elements", "a list of 0 elements")),
        ({"not": {"enum": ["a", "b"]}}, "a", ("", (), 'none of "a", "b"', '"a"')),
        ({"not": {"enum": list(range(14))}}, 1, ("", (), f"none of {ZERO_TO_11} and 2 more", "1")),
        ({"multipleOf": 2, "description": "An even number."}, 3, ("", (), "An even number.", "3")),
        ({"multipleOf": 2}, 3, ("", (), "what 'multipleOf' asks for", "3")),
        ({"pattern": "^a$"}, "é\n", ("", (), 'a text that matches "^a$"', '"é\\n"')),
    ],
)  # fmt: skip
def test_a_departure_is_worded(schema: dict[str, Any], value: Any, row: Row) -> None:
    assert rows(list(SchemaJudge(schema).departures(value))) == [row]


def test_a_value_of_another_type_departs_once() -> None:
    judge = SchemaJudge({"type": "integer", "enum": [1, 2]})
    assert rows(list(judge.departures("x"))) == [("", (), "integer", '"x"')]
    assert rows(list(judge.departures(3))) == [("", (), "1 or 2", "3")]


def test_unknown_keys_are_named_each() -> None:
    judge = SchemaJudge({"properties": {"a": {}}, "additionalProperties": False})
    found = list(judge.departures({"a": 1, "b": 1, "c/d": 1}, ("body", 0)))
    assert {one.tokens for one in found} == {("body", 0, "b"), ("body", 0, "c/d")}
    assert all(one.is_unknown_key and one.spot.place == "" for one in found)


ALTERNATIVES = {
    "anyOf": [
        {"type": "object", "required": ["wait"], "properties": {"wait": {"type": "integer"}}},
        {"type": "null"},
    ]
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, [("/wait", "the key wait")]),
        ({"wait": "x"}, [("/wait", "integer")]),
        ("x", [("", "object or null")]),
        (None, []),
    ],
)
def test_of_alternatives_the_one_of_the_same_type_is_explained(
    value: Any, expected: list[tuple[str, str]]
) -> None:
    found = SchemaJudge(ALTERNATIVES).departures(value)
    assert [(one.spot.place, one.spot.expected) for one in found] == expected


def test_a_judge_may_be_narrowed_to_the_alternative_of_an_example() -> None:
    judge = SchemaJudge(ALTERNATIVES).like(None)
    assert [one.spot.expected for one in judge.departures({"wait": 1})] == ["null"]


def test_the_erratum_is_the_nearest_and_an_own_one_is_of_the_value_itself() -> None:
    judge = SchemaJudge(
        {
            "erratum": "B1",
            "advisory": True,
            "properties": {"a": {"type": "null"}, "b": {"type": "null", "erratum": "B2"}},
        }
    )
    a, b = judge.departures({"a": 1, "b": 1})
    assert (a.spot.erratum, a.spot.own_erratum, a.spot.advisory) == ("B1", None, True)
    assert (b.spot.erratum, b.spot.own_erratum) == ("B2", "B2")


def test_schemas_that_hold_themselves_are_judged_to_any_depth() -> None:
    tree = {"properties": {"in": {"$ref": "#/$defs/tree"}, "leaf": {"type": "null"}}}
    judge = SchemaJudge({"$ref": "#/$defs/tree", "$defs": {"tree": tree}})
    value: Any = {"leaf": 1}
    for _ in range(50):
        value = {"in": value}
    (found,) = judge.departures(value)
    assert found.spot.place == "/in" * 50 + "/leaf"


LISTS = {
    "properties": {
        "rows": {
            "items": {"properties": {"n": {"minimum": 0}, "in": {"items": {"type": "integer"}}}},
        }
    }
}


def summed(groups: Groups) -> dict[tuple[str, str], tuple[tuple[str | int, ...], int]]:
    return {key: (group.tokens, group.count) for key, group in groups.items()}


@pytest.mark.parametrize("length", [1, SLICE - 1, SLICE, SLICE + 1, 3 * SLICE])
def test_slices_give_what_the_whole_gives(length: int) -> None:
    """Counts and first places, wherever a slice ends."""
    elements = [{"n": -(at % 2), "in": [0] * (at % 3) + ["x"]} for at in range(length)]
    value = {"rows": elements}
    sliced = Groups(10_000)
    SlicedJudge(LISTS).judge(7, value, sliced)
    assert summed(sliced) == summed(SchemaJudge(LISTS).groups(value, 10_000))
    assert {group.document for group in sliced.values()} == {7}
    apart = Groups(10_000)
    for first in range(0, length, 100):
        SlicedJudge(LISTS).judge_elements(7, "rows", first, elements[first : first + 100], apart)
    assert summed(apart) == summed(sliced)


def test_an_inner_list_is_judged_beyond_what_is_kept_of_it() -> None:
    groups = Groups(10_000)
    SlicedJudge(LISTS).judge(0, {"rows": [{"in": [0] * (2 * KEPT) + ["x"]}]}, groups)
    assert summed(groups) == {("/rows/*/in/*", "type"): (("rows", 0, "in", 2 * KEPT), 1)}


def test_full_groups_end_the_judgement() -> None:
    groups = Groups(1_000)
    SlicedJudge(LISTS).judge(0, {"rows": [{"n": -1}] * 50_000}, groups)
    assert groups.is_full
    assert 1_000 <= groups["/rows/*/n", "minimum"].count < 1_000 + SLICE
