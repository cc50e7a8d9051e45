"""Texts of numbers against Python's own formatting."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ascend_ref.derive.decimals import (
    Form,
    cpp_round,
    decimal_texts,
    number_texts,
    python_round,
    shortest_texts,
    sqlite_round,
    unit_floats,
)

integers = st.integers(-(1 << 63), (1 << 63) - 1)
places = st.integers(1, 6)
sizes = st.sampled_from([1e-4, 1.0, 1e3, 1e9, 1e16])
tame = st.builds(lambda share, size: share * size, st.floats(-1, 1), sizes)
halves = st.builds(lambda units: (2 * units + 1) / 2_000, st.integers(-(10**12), 10**12))
powers = st.builds(lambda odd, power: odd / 2**power, st.integers(-9999, 9999), st.integers(1, 9))
floats = st.one_of(st.floats(), tame, halves, powers)


def fixed(units: int, count: int) -> str:
    with localcontext(prec=60):
        return f"{Decimal(units).scaleb(-count):.{count}f}"


def stripped(text: str) -> str:
    """The text without the zeros that end its decimals."""
    return text.rstrip("0").rstrip(".") if "." in text else text


@given(st.lists(integers | st.integers(-1, 5000)), places)
@example([0, 7, 4095, 4096, -1, 10**15, 999], 3)
def test_integers_become_their_decimals(units: list[int], count: int) -> None:
    column = np.array(units, np.int64)
    told = decimal_texts(column, places=count).to_pylist()
    assert told == [fixed(value, count) for value in units]
    short = decimal_texts(column, Form.STRIPPED, places=count).to_pylist()
    assert short == [stripped(text) for text in told]
    shown = decimal_texts(column, Form.REPR, places=count, tab=True).to_pylist()
    assert shown == [f"{value / 10**count!r}\t" for value in units]


epochs = st.integers(1736408883_000_000_000, 1736408889_000_000_000)


@given(st.lists(st.one_of(integers, epochs)), places)
def test_units_become_the_nearest_floats(units: list[int], count: int) -> None:
    found = unit_floats(np.array(units, np.int64), count).tolist()
    assert found == [float(fixed(value, count)) for value in units]


@given(st.lists(floats), places)
@example([0.0625, 2.6755, 1e-300, 0.0005, 0.00049999999999999, -0.0001, 5e-324, 1e300], 3)
def test_floats_become_what_python_and_printf_print(values: list[float], count: int) -> None:
    column = np.array(values, np.float64)
    fixed_texts = [f"{value:.{count}f}" for value in values]
    rounded = [repr(round(value, count)) for value in values]
    assert number_texts(column, places=count).to_pylist() == rounded
    assert number_texts(column, Form.FIXED, places=count).to_pylist() == fixed_texts
    short = [stripped(text) for text in fixed_texts]
    assert number_texts(column, Form.STRIPPED, places=count).to_pylist() == short
    assert [repr(value) for value in python_round(column, count).tolist()] == rounded
    assert shortest_texts(column).to_pylist() == [repr(value) for value in values]


@given(st.lists(floats.filter(lambda value: abs(value) < 1e12)), places)
@example([0.5, 1.5, -0.5, 0.49999999999999994, 2.0005, -0.0], 3)
def test_the_cpp_rounding_goes_away_from_zero(values: list[float], count: int) -> None:
    expected = []
    for value in values:
        product = Decimal(value * 10.0**count)
        expected.append(float(product.quantize(Decimal(1), ROUND_HALF_UP)) / 10.0**count)
    found = cpp_round(np.array(values, np.float64), count).tolist()
    assert found == expected


decimal_halves = st.builds(lambda units: (2 * units + 1) / 2_000, st.integers(0, 10**11))


@given(st.lists(decimal_halves))
@example([62.5, 0.0625, 1.0005, 1.0015, 2.6755, 118.6025])
def test_decimal_halves_go_away_from_zero_in_sqlite(values: list[float]) -> None:
    found = sqlite_round(np.array([*values, *(-value for value in values)], np.float64))
    exact = [
        float(Decimal(repr(value)).quantize(Decimal("0.001"), ROUND_HALF_UP)) for value in values
    ]
    assert found.tolist() == [*exact, *(-value for value in exact)]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_the_cpp_rounding_survives_what_is_no_amount(number: float) -> None:
    np.testing.assert_equal(cpp_round(np.array([1.25, number]), 1)[0], 1.3)


def test_null_stays_null() -> None:
    units = pa.array([1500, None, -20])
    assert decimal_texts(units).to_pylist() == ["1.500", None, "-0.020"]
    assert number_texts(pa.array([1.5, None])).to_pylist() == ["1.5", None]
    assert shortest_texts(pa.chunked_array([[1.5, None], [2.0]])).to_pylist() == [
        "1.5",
        None,
        "2.0",
    ]


def test_nothing_becomes_nothing() -> None:
    assert decimal_texts(np.empty(0, np.int64)).to_pylist() == []
    assert number_texts(np.empty(0)).to_pylist() == []
    assert shortest_texts(pa.array([], pa.float64())).to_pylist() == []


def seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def test_a_column_of_times_takes_a_fraction_of_what_formatting_takes() -> None:
    ns = np.random.default_rng(5).integers(1 << 60, 1 << 61, 200_000)
    told = min(seconds(lambda: decimal_texts(ns)) for _ in range(3))
    plain = seconds(lambda: [f"{value // 1000}.{value % 1000:03d}" for value in ns.tolist()])
    assert told < plain / 2
