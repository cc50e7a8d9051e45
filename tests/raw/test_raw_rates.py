"""Amounts and rates against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ascend_ref.raw.rates import LONGEST, MOST, amounts, least_amounts, rates

SECOND = 10**9
NUMBERS = st.integers(0, 2**63 - 1) | st.integers(0, 10**12)
LENGTHS = st.integers(0, 2**63 - 1) | st.integers(0, 3 * SECOND)
EACH = st.sampled_from([1, 16, 32, 4096])
PAIRS = st.lists(st.tuples(NUMBERS, LENGTHS), min_size=1, max_size=9)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Numbers and lengths, and these as they are taken."""
    numbers, lengths = zip(*pairs, strict=True)
    taken = [min(one, LONGEST) for one in lengths]
    return np.array(numbers, np.int64), np.array(lengths, np.int64), taken


@given(PAIRS, EACH)
def test_rates_are_those_of_exact_fractions(pairs: list[tuple[int, int]], each: int) -> None:
    number, length, taken = columns(pairs)
    exact = [
        min(math.floor(Fraction(one * each * SECOND, of)), MOST) if of else 0
        for one, of in zip(number.tolist(), taken, strict=True)
    ]
    assert rates(number, length, each).tolist() == exact


@given(PAIRS, EACH)
def test_amounts_are_those_of_exact_fractions(pairs: list[tuple[int, int]], each: int) -> None:
    number, length, taken = columns(pairs)
    exact = [
        Fraction(one * of, each * SECOND) for one, of in zip(number.tolist(), taken, strict=True)
    ]
    least = [min(math.ceil(one), MOST) for one in exact]
    assert least_amounts(number, length, each).tolist() == least
    found = amounts(number, length, each).tolist()
    shown = rates(np.array(least), length, each).tolist()
    for one, amount, low, rate, given_rate in zip(
        exact, found, least, shown, number.tolist(), strict=True
    ):
        # Python rounds fractions to the nearest whole number, of two to the even one.
        assert amount == (low if rate == given_rate else min(round(one), MOST))


@given(PAIRS, EACH)
@example([(2, 1_300_000_000)], 1)
def test_a_rate_that_was_shown_is_shown_again(pairs: list[tuple[int, int]], each: int) -> None:
    """Also where half a second or more passes, in which nearest amounts have other rates."""
    number, length, _ = columns(pairs)
    shown = rates(np.minimum(number, MOST), length, each)
    assert rates(amounts(shown, length, each), length, each).tolist() == shown.tolist()
    assert rates(least_amounts(shown, length, each), length, each).tolist() == shown.tolist()
