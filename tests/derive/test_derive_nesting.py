"""Stacks of calls against a stack kept call by call."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.capture.model import NONE
from ascend_ref.derive.nesting import innermost, last_reaching, parents

moments = st.integers(0, 40)
calls = st.lists(st.tuples(moments, st.integers(0, 15)).map(lambda call: (call[0], sum(call)))).map(
    sorted
)


def columns(given_calls: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(given_calls, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


@given(calls)
def test_the_parent_of_a_call_is_what_is_left_on_the_stack(
    given_calls: list[tuple[int, int]],
) -> None:
    stack: list[int] = []
    expected = []
    for place, (start, _) in enumerate(given_calls):
        while stack and given_calls[stack[-1]][1] < start:
            stack.pop()
        expected.append(stack[-1] if stack else NONE)
        stack.append(place)
    assert parents(*columns(given_calls)).tolist() == expected


@given(calls, st.lists(moments))
def test_the_innermost_call_is_the_last_one_that_is_open(
    given_calls: list[tuple[int, int]], asked: list[int]
) -> None:
    found = innermost(*columns(given_calls), np.array(asked, np.int64)).tolist()
    for moment, place in zip(asked, found, strict=True):
        holding = [row for row, (start, end) in enumerate(given_calls) if start <= moment <= end]
        assert place == max(holding, default=NONE)


@given(
    st.lists(st.integers(-9, 9), max_size=70),
    st.lists(st.tuples(st.integers(0, 70), st.integers(-10, 10))),
)
def test_the_last_value_that_reaches_a_threshold_is_found(
    values: list[int], queries: list[tuple[int, int]]
) -> None:
    queries = [(min(before, len(values)), threshold) for before, threshold in queries]
    table = np.array(queries, np.int64).reshape(-1, 2)
    found = last_reaching(np.array(values, np.int64), table[:, 0], table[:, 1]).tolist()
    for (before, threshold), place in zip(queries, found, strict=True):
        reaching = [row for row in range(before) if values[row] >= threshold]
        assert place == max(reaching, default=NONE)
