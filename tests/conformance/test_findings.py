"""What a finding states beyond the rule: its verdict, and which part of a window is bad."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ascend_conformance.loss import part_of_window, window_of
from ascend_conformance.media import load_rules
from ascend_conformance.ruleset import SYSTEMATIC_ROWS


@pytest.mark.parametrize(
    ("count", "total", "verdict"),
    [
        (SYSTEMATIC_ROWS - 1, SYSTEMATIC_ROWS - 1, "advice"),
        (SYSTEMATIC_ROWS, 2 * SYSTEMATIC_ROWS, "violation"),
        (SYSTEMATIC_ROWS, 2 * SYSTEMATIC_ROWS + 1, "advice"),
    ],
)
def test_what_most_rows_break_is_a_violation(count: int, total: int, verdict: str) -> None:
    rule = replace(load_rules()["DB401"], verdict="advice", systematic=0.5)
    assert rule.finding("a.db", "", count, total).verdict == verdict
    assert replace(rule, systematic=None).finding("a.db", "", count, total).verdict == "advice"


@pytest.mark.parametrize(
    ("bad", "good", "part"),
    [
        ((1, 4), (5, 9), "head"),
        ((1, 5), (5, 9), "middle"),
        ((6, 7), (5, 9), "middle"),
        ((9, 12), (5, 9), "middle"),
        ((10, 12), (5, 9), "tail"),
        ((1, 9), (None, None), "all"),
    ],
)
def test_the_part_of_the_window_that_is_bad(
    bad: tuple[int, int], good: tuple[int | None, int | None], part: str
) -> None:
    assert part_of_window(bad, good) == part


def test_a_window_is_counted_from_the_first_row_of_all() -> None:
    assert window_of((110, 120), (105, 150)) == {
        "part": "middle",
        "from_ns": 5,
        "to_ns": 15,
        "window_ns": 45,
    }
