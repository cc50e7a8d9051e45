"""Integration of traffic against counting it nanosecond by nanosecond, and sampling grids."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_timeline import START, kernel, operator, program, timeline

from ascend_simulator.draws import Draws
from ascend_simulator.program.model import Launch
from ascend_simulator.samples import Flow, Traffic
from ascend_simulator.samples.scene import Window, period_of, regular
from ascend_simulator.samples.traffic import Curve

motions = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 30), st.integers(0, 10**6), st.integers(0, 10**6)),
    max_size=12,
)
moments = st.lists(st.integers(0, 100), min_size=1, max_size=9, unique=True).map(sorted)


def flow_of(rows: list[tuple[int, int, int, int]]) -> Flow:
    columns = np.array(rows, np.int64).reshape(len(rows), 4).T
    return Flow(columns[0], columns[0] + columns[1], columns[2], columns[3])


@given(motions, moments)
def test_a_curve_is_the_sum_of_what_moves_in_every_nanosecond(
    rows: list[tuple[int, int, int, int]], at: list[int]
) -> None:
    grid = np.array(at, np.int64)
    curve = Curve(flow_of(rows), grid)
    for name, column in (("read", 2), ("written", 3)):
        found = getattr(curve, name)(grid).tolist()
        for place, moment in enumerate(at):
            exact = Fraction(0)
            for row in rows:
                start, length, amount = row[0], row[1], row[column]
                passed = sum(start <= tick < moment for tick in range(start, start + length))
                gone = start < moment if not length else False
                exact += amount if gone else Fraction(amount * passed, length) if length else 0
            assert 0 <= exact - found[place] < max(len(rows), 1)


@given(motions)
def test_every_byte_is_counted_once_all_is_over(rows: list[tuple[int, int, int, int]]) -> None:
    grid = np.array([3, 20, 21, 50, 91], np.int64)
    curve = Curve(flow_of(rows), grid)
    assert curve.read(grid)[-1] == sum(row[2] for row in rows)
    assert curve.written(grid)[-1] == sum(row[3] for row in rows)


@given(
    st.integers(0, 10**13),
    st.integers(1, 10**12),
    st.lists(st.integers(0, 1000), min_size=2, max_size=9, unique=True).map(sorted),
)
def test_long_motions_neither_overflow_nor_lose_a_byte(
    amount: int, length: int, parts: list[int]
) -> None:
    one = np.array([amount], np.int64)
    flow = Flow(np.array([START]), np.array([START + length]), one, one)
    grid = np.unique(np.append(START + length * np.array(parts) // 1000, START + length))
    found = Curve(flow, grid).read(grid)
    assert found[-1] == amount
    assert (np.diff(found, prepend=0) >= 0).all()
    exact = [Fraction(amount * int(moment - START), length) for moment in grid]
    pairs = zip(found.tolist(), exact, strict=True)
    assert all(abs(value - share) <= 1 + amount / 1000 for value, share in pairs)


windows = st.builds(
    lambda length, first, last: Window(START, START + length * 1000, *sorted((first, last))),
    st.integers(4, 10**6),
    st.integers(START, START + 10**9),
    st.integers(START, START + 10**9),
)


@settings(max_examples=300)
@given(windows, st.integers(1, 2000), st.integers(0, 99))
def test_a_grid_spans_what_moves_and_stays_in_the_session(
    window: Window, frequency: int, seed: int
) -> None:
    until = min(window.busy_until, window.end)
    window = Window(window.start, window.end, min(window.busy_from, until), until)
    grid = regular(window, period_of(frequency), Draws(seed, "grid"))
    assert window.start <= grid[0] <= grid[-1] <= window.end
    assert (np.diff(grid) > 0).all()
    assert ((grid - window.start) % 1000 == 0).all()
    assert grid[-1] >= until
    assert grid[0] <= window.busy_from or grid[0] == window.start
    assert (np.diff(grid)[:-1] <= period_of(frequency) + 4_000).all()


@pytest.mark.parametrize(
    ("frequency", "period"), [(50, 20_000_000), (100, 10_000_000), (3, 333_333_000)]
)
def test_periods_are_whole_microseconds(frequency: int, period: int) -> None:
    assert period_of(frequency) == period


def test_the_window_knows_the_first_and_the_last_motion() -> None:
    run = timeline(program([operator()], [Launch(0, (kernel(),))]))
    early, late = run.step_starts[0] - 5_000, run.session[1] - 1_000
    one = np.array([1], np.int64)
    window = Window.of(run, Traffic(hccs=Flow(np.array([early]), np.array([late]), one, one)))
    assert window == Window(*run.session, early, late)
    assert Window.of(run, Traffic()).busy_until == max(run.end.max(), run.step_ends[-1])
