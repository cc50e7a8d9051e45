"""Differences between an answer and the truth, on plain values."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_conformance.engine.json_values import shown
from ascend_conformance.media.api.forms import in_older_form
from ascend_conformance.media.api.truth import Habits, differences
from ascend_spec.core.pointer import place_of, pointer_of

PLAIN = Habits()
SET = Habits(unordered={"": ()})
KEYED = Habits(unordered={"": ("name.text",)})
TIED = Habits(own=frozenset({"/*/id"}), ties={"": "at"})

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)


def found(expected: Any, actual: Any, habits: Habits = PLAIN) -> list[tuple[str, str]]:
    return [(one.finds, pointer_of(one.tokens)) for one in differences(expected, actual, habits)]


@given(JSON)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert found(value, copy.deepcopy(value)) == []


@given(JSON, JSON)
def test_whatever_is_not_equal_differs(one: Any, other: Any) -> None:
    numbers = {repr(one), repr(other)}
    if one != other or len(numbers) > 1:
        assert found(one, other)


@pytest.mark.parametrize(
    ("expected", "actual", "finds"),
    [
        ("1.50", "1.5", "spelling"),
        ("3606.0", "3606", "spelling"),
        ("1e3", "1000.0", "spelling"),
        ("257", 257, None),
        ("257", 258, "value"),
        ("12", "13", "value"),
        ("NA", "N/A", "value"),
        ("", "0", "value"),
        ("9" * 5000, "9" * 5001, "value"),
        (True, 1, "value"),
        (0, False, "value"),
        (1, 1.0, None),
        (80.15799, 80.15798950195312, None),
        (80.15799, 80.158, "value"),
        (1e300, 1.0000001e300, "value"),
        (10**400, 1.5, "value"),
        (2**63, 2**63 + 1, "value"),
        (None, "", "value"),
        ({}, [], "value"),
    ],
)
def test_single_values(expected: Any, actual: Any, finds: str | None) -> None:
    assert found(expected, actual) == ([] if finds is None else [(finds, "")])


def test_a_missing_element_is_told_once_where_it_should_stand() -> None:
    every = list(range(100))
    assert found(every, every[:40] + every[41:]) == [("elements", "/40")]
    assert found(every, every[:40]) == [("elements", "/40")]
    assert found(every[:40], every) == [("elements", "/40")]


def test_members_are_told_one_by_one() -> None:
    told = found({"a": 1, "b": {"c": [1, 2]}, "d": 0}, {"a": 2, "b": {"c": [1, 3]}, "e/~": 0})
    assert told == [("value", "/a"), ("value", "/b/c/1"), ("elements", "/d"), ("elements", "")]


def test_order_does_not_count_in_a_set() -> None:
    every = [str(number % 7) for number in range(20)]
    mixed = every.copy()
    random.Random(3).shuffle(mixed)
    assert found(every, mixed, SET) == []
    assert found(every, mixed) != []
    assert found(["0", "1"], ["1", "2"], SET) == [("value", "/1")]
    assert found(["0", "1"], ["1"], SET) == [("elements", "/1")]
    assert found(["1"], ["1", "1"], SET) == [("elements", "/1")]


def test_elements_of_a_set_are_known_by_their_names() -> None:
    one, two = ({"name": {"text": name}, "value": name * 2} for name in "ab")
    assert found([one, two], [two, one], KEYED) == []
    assert found([one, two], [{**two, "value": "x"}, one], KEYED) == [("value", "/0/value")]
    renamed = {**one, "name": {"text": "c"}}
    assert found([one, two], [two, renamed], KEYED) == [("value", "/1/name/text")]
    assert found([one, one, two], [two, one, renamed], KEYED) == [("value", "/2/name/text")]


def test_neighbours_of_one_time_may_change_places() -> None:
    one, two, three = ({"at": at, "name": name} for at, name in ((1, "a"), (1, "b"), (2, "c")))
    assert found([one, two, three], [two, one, three], TIED) == []
    assert found([one, two, three], [one, three, two], TIED) != []
    numbered = [{**two, "id": 1}, {**one, "id": 2}, {**three, "id": 0}]
    assert found([{**one, "id": 5}, {**two, "id": 6}, {**three, "id": 7}], numbered, TIED) == []


def test_json_in_a_text_is_compared_by_its_value() -> None:
    habits = Habits(json=frozenset({"/args"}))
    assert found({"args": '{"a":"1","b":"2"}'}, {"args": '{"b": "2", "a": "1"}'}, habits) == []
    assert found({"args": '{"a":"1"}'}, {"args": '{"a":1}'}, habits) == [("value", "/args")]
    assert found({"args": "{}"}, {"args": "[" * 10_000}, habits) == [("value", "/args")]


def test_condemned_places_are_left_out_with_what_is_below() -> None:
    expected, actual = {"a": {"b": 1}, "c": 2}, {"a": {"b": 2}, "c": 3}
    (left,) = differences(expected, actual, PLAIN, ("body",), {("body", "a")})
    assert left.tokens == ("body", "c")


def test_places_are_pointers_and_columns() -> None:
    tokens = ("body", "Cacheline Records", 3, "a/b~c", 0)
    assert pointer_of(tokens) == "/body/Cacheline Records/3/a~1b~0c/0"
    assert place_of(tokens) == "/body/Cacheline Records/*/a~1b~0c/*"
    assert shown("x\n\x1b[31m" * 100).isprintable()
    assert len(shown({"a": "x" * 1000}) + shown("x" * 1000) + shown(10**5000)) < 300


def test_the_older_form_is_without_the_wrapping_and_what_came_later() -> None:
    """As the documents' example of source/details/baseInfo has it."""
    figures = {"name": "sin_custom", "soc": "x", "opType": "vector", "blockDim": "32"}
    newer = {**figures, "deviceId": "0", "pid": "1"}
    body = {"compare": newer, "baseline": dict.fromkeys(newer, "")}
    assert in_older_form("source/details/baseInfo", body, "seed") == figures
    lines = {
        "lines": [{"Line": 1, "Instruction Executed": 2, "Cycle": 3, "Address Range": [["a", "b"]]}]
    }
    assert in_older_form("source/api/line", lines, "seed") == {
        "lines": [
            {"Line": 1, "Instructions Executed": 2, "Cycles": 3, "Address Range": [["a", "b"]]}
        ]
    }
