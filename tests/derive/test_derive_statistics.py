"""Statistics of APIs, operators and waiting: real files, known answers, plain loops."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_text import layer, nanoseconds, places, rows_of

from ascend_ref.derive.decimals import number_texts
from ascend_ref.derive.statistics import (
    api_statistic,
    communication_statistic,
    operator_statistic,
    wait_times,
)

LEVELS = {"AscendCL": "acl", "Model": "model", "Node": "node", "Hccl": "hccl"}
calls = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**9)), min_size=1)


def dense(given_calls: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """Owners without a gap, durations, and the durations of each owner."""
    keys, owner = places(key for key, _ in given_calls)
    duration = np.array([length for _, length in given_calls])
    return owner, duration, [[time for key, time in given_calls if key == own] for own in keys]


def test_every_row_of_the_real_api_statistic_comes_from_its_trace() -> None:
    events = layer("CANN")
    keys, owner = places(tuple(event["name"].split("@", 1)) for event in events)
    found = api_statistic(owner, nanoseconds(event["dur"] for event in events), "python")
    told = [
        (LEVELS[level], name, *row)
        for (level, name), *row in zip(
            keys,
            number_texts(found.total).to_pylist(),
            map(str, found.count),
            number_texts(found.average).to_pylist(),
            number_texts(found.minimum).to_pylist(),
            number_texts(found.maximum).to_pylist(),
            number_texts(found.variance).to_pylist(),
            strict=True,
        )
    ]
    written = [tuple(row.values()) for row in rows_of("api_statistic")]
    assert len(written) == 57
    assert sorted(told) == sorted(written)


@given(calls)
def test_the_python_engine_rounds_every_squared_deviation(
    given_calls: list[tuple[int, int]],
) -> None:
    owner, duration, groups = dense(given_calls)
    found = api_statistic(owner, duration, "python")
    for row, group in enumerate(groups):
        times = [length / 1000 for length in group]
        total = round(sum(times), 3)
        average = round(total / len(times), 3)
        squares = [round((time - average) ** 2, 3) for time in times]
        variance = round(sum(squares) / len(times), 3)
        assert (found.count[row], found.total[row]) == (len(times), total)
        assert (found.average[row], found.variance[row]) == (average, variance)
        assert (found.minimum[row], found.maximum[row]) == (min(times), max(times))


@given(calls)
def test_the_cpp_engine_rounds_the_variance_alone(given_calls: list[tuple[int, int]]) -> None:
    owner, duration, groups = dense(given_calls)
    found = api_statistic(owner, duration, "cpp")
    for row, group in enumerate(groups):
        times = [length / 1000 for length in group]
        average = math.floor(sum(times) / len(times) * 1000 + 0.5) / 1000
        exact = statistics.fmean((time - average) ** 2 for time in times)
        assert found.average[row] == average
        assert found.variance[row] == pytest.approx(exact, rel=1e-9, abs=0.000_501)


def test_the_engines_differ_by_the_rounding_of_the_deviations() -> None:
    # Deviations of 0.02 and -0.01 twice: squares 0.0004 and 0.0001, both nothing to Python.
    owner, duration = np.zeros(3, np.int64), np.array([1040, 1010, 1010])
    assert api_statistic(owner, duration, "python").variance.tolist() == [0.0]
    halves = np.array([1, 2, 5, 8])
    assert api_statistic(owner, duration + 30 * halves[:3], "cpp").average.tolist() == [1.1]
    wide = api_statistic(np.zeros(2, np.int64), np.array([1000, 1070]), "cpp")
    assert wide.variance.tolist() == [0.001]


def test_no_calls_have_no_statistic() -> None:
    none = np.empty(0, np.int64)
    assert len(api_statistic(none, none, "cpp").total) == 0
    assert len(operator_statistic(none, none, "python").total) == 0


def test_every_row_of_the_real_op_statistic_comes_from_kernel_details() -> None:
    kernels = [row for row in rows_of("kernel_details") if row["Accelerator Core"] != "HCCL"]
    keys, owner = places((row["Type"], row["Accelerator Core"]) for row in kernels)
    found = operator_statistic(owner, nanoseconds(row["Duration(us)"] for row in kernels), "python")
    rows = {key: place for place, key in enumerate(keys)}
    written = rows_of("op_statistic")
    assert len(written) == len(rows) == 33
    for told in written:
        row = rows[told["OP Type"], told["Core Type"]]
        assert int(told["Count"]) == found.count[row]
        assert float(told["Min Time(us)"]) == found.minimum[row]
        assert float(told["Max Time(us)"]) == found.maximum[row]
        assert float(told["Ratio(%)"]) == found.ratio[row]
        # The exporter summed fractions of ns, of which kernel_details shows none.
        lost = 0.0015 * found.count[row]
        assert float(told["Total Time(us)"]) == pytest.approx(found.total[row], abs=lost)
        assert float(told["Avg Time(us)"]) == pytest.approx(found.average[row], abs=0.0015)


@given(calls)
def test_the_statistic_of_operators_is_that_of_a_loop(given_calls: list[tuple[int, int]]) -> None:
    owner, duration, groups = dense(given_calls)
    for engine in ("python", "cpp"):
        for derive in (operator_statistic, communication_statistic):
            found = derive(owner, duration, engine)
            everything = sum(duration.tolist())
            for row, group in enumerate(groups):
                assert found.count[row] == len(group)
                assert found.total[row] == sum(group) / 1000
                assert (found.minimum[row], found.maximum[row]) == (
                    min(group) / 1000,
                    max(group) / 1000,
                )
                average = float(Fraction(sum(group), 1000 * len(group)))
                assert found.average[row] == pytest.approx(average, abs=0.000_501)
                ratio = 100 * sum(group) / everything if everything else 0
                assert found.ratio[row] == pytest.approx(ratio, abs=0.000_501)


def test_half_a_nanosecond_goes_up_in_sqlite_and_by_its_float_in_python() -> None:
    owner, duration = np.zeros(2, np.int64), np.array([62, 63])
    assert operator_statistic(owner, duration, "python").average.tolist() == [0.062]
    assert operator_statistic(owner, duration, "cpp").average.tolist() == [0.063]
    assert communication_statistic(owner, duration, "python").average.tolist() == [0.063]


def test_the_real_wait_times_follow_from_starts_and_durations() -> None:
    rows = rows_of("kernel_details")
    start = nanoseconds(row["Start Time(us)"] for row in rows)
    duration = nanoseconds(row["Duration(us)"] for row in rows)
    written = np.array([float(row["Wait Time(us)"]) for row in rows])
    assert len(rows) == 191
    assert (np.diff(start) >= 0).all()
    found = wait_times(start, duration, "python")
    assert np.abs(found - written).max() < 0.0011
    assert (np.abs(found - written) < 1e-9).sum() >= 135


@given(calls)
def test_a_device_waits_from_the_end_of_the_row_before(given_calls: list[tuple[int, int]]) -> None:
    start = np.cumsum([gap for _, gap in given_calls]) + 1_736_408_883_000_000_000
    duration = np.array([length for _, length in given_calls[::-1]])
    python, cpp = (wait_times(start, duration, engine).tolist() for engine in ("python", "cpp"))
    assert (python[0], cpp[0]) == (0, 0)
    for row in range(1, len(start)):
        begin, before, length = int(start[row]), int(start[row - 1]), int(duration[row - 1])
        assert python[row] == max(0, begin - before - length) / 1000
        assert cpp[row] == max(0.0, begin / 1000 - before / 1000 - length / 1000)
