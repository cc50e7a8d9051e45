"""Time on the cores and cube utilization, computed again without a clock that a file states.

The figures are those of real kernels of which cycles, blocks, clock and cores are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from ascend_conformance.media.text.database import Facts, open_facts
from ascend_conformance.media.text.derived import FUNCTIONS
from ascend_conformance.media.text.derived.reading import Asked


@pytest.fixture
def facts() -> Iterator[Facts]:
    with open_facts() as opened:
        yield opened


def computed(facts: Facts, rows: str) -> pa.Table:
    """What the kernels follow from: time, cycles, blocks, ratio, duration, utilization."""
    columns = (
        'file, row, "Task Type", "aicore_time(us)", aic_total_cycles, "Block Num", '
        '"aic_mac_ratio", "Task Duration(us)", "cube_utilization(%)", "Task Start Time(us)"'
    )
    facts.connection.execute(
        f"CREATE TABLE csv.op_summary AS SELECT * FROM (VALUES {rows}) t({columns})"
    )
    return FUNCTIONS["core_time"](Asked(facts, "FROM csv.op_summary", {"file": "op_summary"}))


def row(
    number: int, time: Any, cycles: int, blocks: int, utilization: Any = "NULL", ratio: float = 0.5
) -> str:
    return (
        f"(0, {number}, 'AI_CORE', {time}::DOUBLE, {cycles}, {blocks}, {ratio}::DOUBLE, "
        f"87139.38::DOUBLE, {utilization}::DOUBLE, 1000)"
    )


def one(table: pa.Table, name: str, place: int = 0) -> Any:
    return table[name][place].as_py()


def test_more_blocks_than_cores_take_several_rounds(facts: Facts) -> None:
    # 256 blocks are eleven rounds of 24 cores, 100 are five, 24 are one; 1,800 MHz.
    rows = [row(1, 12.716, 532_700, 256), row(2, 25.0, 900_000, 100), row(3, 15.0, 648_000, 24)]
    found = computed(facts, ", ".join(rows))
    assert one(found, "cube_unknown") is None
    assert (one(found, "cube_clock"), one(found, "cube_cores")) == (1800, 24)
    assert [one(found, "cube_rounds", place) for place in range(3)] == [11, 5, 1]
    assert one(found, "cube") == pytest.approx(532_700 / 1800 / 256 * 11)


def test_a_single_kernel_of_many_blocks_is_no_guess_that_fails(facts: Facts) -> None:
    found = computed(facts, row(1, 12.716, 532_700, 256))
    assert one(found, "cube_unknown") is None
    assert one(found, "cube") == pytest.approx(12.716, abs=0.001)


def test_one_row_among_many_that_fit_is_off(facts: Facts) -> None:
    rows = [row(number, 10.0 + number, (10 + number) * 1800 * 24, 24) for number in range(20)]
    rows[7] = row(7, 27.0, 17 * 1800 * 24, 24)
    found = computed(facts, ", ".join(rows))
    assert (one(found, "cube_unknown"), one(found, "cube_clock")) == (None, 1800)
    assert one(found, "cube", 7) == pytest.approx(17.0)


def test_times_of_two_decimals_fit(facts: Facts) -> None:
    # Ascend910A at 1,000 MHz with 32 cores; printed 3.48, 15.0 and 6.11.
    rows = [row(1, 3.48, 111_469, 32), row(2, 15.0, 480_086, 32), row(3, 6.11, 195_648, 32)]
    found = computed(facts, ", ".join(rows))
    assert (one(found, "cube_unknown"), one(found, "cube_clock")) == (None, 1000)


def test_times_of_no_clock_are_not_judged_and_the_guess_is_named(facts: Facts) -> None:
    times = (7.003, 2.519, 91.404, 0.877, 333.21, 5.9, 12.034, 48.61)
    rows = [row(number, time, 431_000 + number, 24) for number, time in enumerate(times)]
    found = computed(facts, ", ".join(rows))
    assert "MHz" in one(found, "cube_unknown")
    assert "of 8 rows" in one(found, "cube_unknown")


def test_times_in_ms_are_those_of_a_clock_all_the_same(facts: Facts) -> None:
    times = range(1000, 1020)
    rows = [row(number, time / 1000, time * 1800 * 24, 24) for number, time in enumerate(times)]
    found = computed(facts, ", ".join(rows))
    assert one(found, "cube_unknown") is None
    assert one(found, "cube") == pytest.approx(1000.0)


def test_utilization_is_that_of_the_cores_by_either_engine(facts: Facts) -> None:
    # 532,700 / (1,800 * 24 * 87,139.38) * 100 = 0.01415, with a ratio of 0 only in C++.
    found = computed(facts, row(1, 12.716, 532_700, 256, 0.014, 0.0))
    assert one(found, "utilization_cpp") == pytest.approx(0.014, abs=0.0005)


def test_a_utilization_that_no_file_shows_is_not_computed(facts: Facts) -> None:
    found = computed(facts, row(1, 12.716, 532_700, 256))
    assert one(found, "utilization_cpp") is None
    assert one(found, "utilization_python") is None


def test_times_too_short_to_show_a_clock_are_not_judged(facts: Facts) -> None:
    found = computed(facts, ", ".join([row(1, 0.01, 9, 1), row(2, 0.0, 0, 1)]))
    assert [one(found, "cube", place) for place in range(2)] == [None, 0.0]
