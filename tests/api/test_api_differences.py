"""Differences of figures that are texts."""

from __future__ import annotations

import pytest

from ascend_ref.tools.serve.details import difference, whole_difference


@pytest.mark.parametrize(
    ("compare", "baseline", "expected"),
    [
        ("", "1", ""),
        ("1", "", ""),
        ("5", "3", "2"),
        ("3", "5", "-2"),
        ("1.5", "1.4", "0.1"),
        ("1.23456", "0", "1.235"),  # three digits
        ("0.00012345", "0", "0.000123"),  # behind the leading zeros
        ("1.0005", "1", "0.0005"),
        ("100", "0", "100"),
        ("1.2000", "1", "0.2"),
        ("NA", "2", "-2"),  # no number counts as 0
        ("2", "N/A", "2"),
        ("-1", "1", "-2"),
        ("2.5 us", "1", "1.5"),  # what a text begins with
        ("1e3", "1", "999"),
        ("7", "7", "0"),
        ("-0.0", "0.0", "0"),
        ("1e999999999", "0", "0"),
        ("9" * 5000, "1", "-1"),
        ("nan", "inf", "0"),
    ],
)
def test_difference(compare: str, baseline: str, expected: str) -> None:
    assert difference(compare, baseline) == expected


def test_a_difference_of_extremes_stays_short() -> None:
    assert len(difference("1e299", "1e-299")) < 1000
    assert difference("1e-299", "0").startswith("0.000")


@pytest.mark.parametrize(
    ("compare", "baseline", "expected"),
    [
        ("257", "256", "1"),
        ("1", "3", "-2"),
        ("", "3", "-3"),
        ("NA", "3", "-3"),
        ("3.9", "1", "2"),
        ("18446744073709551615", "0", "9223372036854775807"),
        ("0", "18446744073709551615", "-9223372036854775808"),
        ("18446744073709551616", "1", "-1"),  # beyond 64 bits counts as 0
        ("9" * 5000, "1", "-1"),
    ],
)
def test_whole_difference(compare: str, baseline: str, expected: str) -> None:
    assert whole_difference(compare, baseline) == expected
