"""Texts made visible, numbers and times in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_conformance.report.escape import scalar_text, visible
from ascend_conformance.report.phrases import counted, duration, enumerated, moment, time_span


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("TASK", "TASK"),
        ("", ""),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("\u3164", "\\u3164"),
        ("\u00a0", "\\xa0"),
        ("\u6f22", "\u6f22"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 77 + "..."),
        ("\x00" * 21, "\\x00" * 19 + "\\..."),
    ],
)
def test_what_would_not_show_is_spelled(text: str, shown: str) -> None:
    assert visible(text, 80) == shown


@given(st.text(st.characters()), st.integers(4, 40))
def test_visible_texts_are_printable_and_bounded(text: str, limit: int) -> None:
    shown = visible(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "NULL"), (12, "12"), ("12", '"12"'), ('"', '"\\""'), (0.5, "0.5"), (2**63, str(2**63))],
)
def test_values_show_their_type(value: int | float | str | None, shown: str) -> None:
    assert scalar_text(value, 80) == shown


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "note", "no note"),
        (1, "note", "1 note"),
        (1204, "note", "1,204 notes"),
        (2, "advice", "2 advice"),
    ],
)
def test_counts_in_words(count: int, noun: str, words: str) -> None:
    assert counted(count, noun) == words


def test_a_cut_list_counts_the_rest() -> None:
    assert enumerated(["a", "b"], 0, "place") == "a, b"
    assert enumerated(["a", "b"], 1, "place") == "a, b and 1 further place"
    assert enumerated([], 12, "place") == "12 further places"


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.000 us"),
        (1_234_567, "1.234 ms"),
        (119_999_000_000, "119.999 s"),
        (120 * 10**9, "2 min 0 s"),
        (7_199 * 10**9, "119 min 59 s"),
        (7_200 * 10**9, "2 h 0 min"),
        (-1_500_000_000, "-1.500 s"),
    ],
)
def test_durations_choose_their_unit(ns: int, words: str) -> None:
    assert duration(ns) == words


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (0, "1970-01-01 00:00:00.000 UTC"),
        (-1, "1969-12-31 23:59:59.999 UTC"),
        (2**63 - 1, "2262-04-11 23:47:16.854 UTC"),
        (10**21, "1,000,000,000,000,000,000,000 ns"),
    ],
)
def test_moments_are_dates_in_utc(ns: int, words: str) -> None:
    assert moment(ns) == words


def test_a_span_may_lack_an_end_or_both() -> None:
    assert time_span(None, None) is None
    assert time_span(None, 5) is None
    assert time_span(0, None) == "from 1970-01-01 00:00:00.000 UTC"
    assert time_span(0, 2_000) == "1970-01-01 00:00:00.000 UTC, 2.000 us"
