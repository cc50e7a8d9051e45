"""Clocks against exact fractions, and against the example of the document."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_trees import DC, DM, HC, HM, HM_DEV, M0, WALL_US

from ascend_ref.raw.clocks import (
    OUT_OF_RANGE,
    Clock,
    device_clock,
    host_clock,
    sampling_clock,
    since_start,
)

BASE = WALL_US * 1000 - M0
FREQUENCIES = st.sampled_from(["100.000000", "50", "48.5", "25.0", "1.92", "999.999", "3000"])


def nearest(value: Fraction) -> int:
    """The nearest whole number, the greater of two."""
    return math.floor(value + Fraction(1, 2))


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20),
    FREQUENCIES,
    st.integers(0, 2**40),
    st.integers(0, 2**61),
)
def test_times_are_those_of_exact_fractions(
    ticks: list[int], frequency: str, at: int, monotonic: int
) -> None:
    step = 1000 / Fraction(frequency)
    clock = Clock(at, Fraction(monotonic), step)
    found = clock.times(np.array(ticks, np.uint64)).tolist()
    for one, time in zip(ticks, found, strict=True):
        exact = nearest((one - at) * step + monotonic)
        if time == OUT_OF_RANGE:
            assert one >= 2**62 or abs(exact) >= 2**60
        else:
            assert time == exact


@given(st.integers(4, 2**50), FREQUENCIES, st.integers(0, 2**50))
def test_ticks_lead_back(tick: int, frequency: str, at: int) -> None:
    clock = Clock(at, Fraction(BASE), 1000 / Fraction(frequency))
    (time,) = clock.times(np.array([tick], np.uint64))
    (again,) = clock.ticks(np.array([time], np.int64))
    assert abs(int(again) - tick) <= (0 if clock.step >= 1 else 3)


@pytest.mark.parametrize(
    ("clock", "ticks", "after"),
    [
        (host_clock(BASE, Fraction(100), HM, HC, 0), HC, 5_000_000),
        (host_clock(BASE, Fraction(100), HM, HC, 0), HC + 100, 5_001_000),
        # 1000 ticks of 100 MHz moved all times by 10 us (raw-prof.md 3.5).
        (host_clock(BASE, Fraction(100), HM, HC, 1000), HC, 5_010_000),
        # At 1000 MHz records hold nanoseconds of the monotonic clock.
        (host_clock(BASE, Fraction(1000), HM, HC, 0), M0 + 42, 42),
        (device_clock(BASE, Fraction(50), Fraction(HM_DEV), DC), DC, 6_000_100),
        (device_clock(BASE, Fraction(50), Fraction(HM_DEV), DC), DC + 50, 6_001_100),
        (sampling_clock(BASE, Fraction(HM_DEV), DM), DM, 6_000_100),
        (since_start(BASE, Fraction(HM_DEV)), 7, 6_007_100),
    ],
)
def test_clocks_are_those_of_the_document(clock: Clock, ticks: int, after: int) -> None:
    """``after``: nanoseconds after the start of the capture, added up by hand."""
    assert clock.times(np.array([ticks], np.uint64)).tolist() == [WALL_US * 1000 + after]
