"""The log of the device joined with the operators of the framework: M7, M42, M43, M49 to M53."""

from __future__ import annotations

import csv
import math
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindspore_captures import drawn_operators, hwts_record, hwts_records, write_capture
from mindspore_plain import (
    Execution,
    Log,
    adjacent,
    compute_time,
    executions,
    last_start,
    logs,
    timeline,
)
from mindspore_real import parsed, real
from slices import some

from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.parse.framework import framework_of
from ascend_ref.mindspore.parse.pairing import Known, pairing
from ascend_ref.mindspore.parse.run import Run
from ascend_spec import mindspore_catalog

HWTS = "hwts.log.data.45.dev.profiler_default_tag.0.slice_0"
TASKS = "Framework.host.vm.task_desc_info.0.slice_0"
DAY = "2020-07-01"
WITH_FIRST = "2020-06-20"
LATE = "2023-07-02"

DAYS = [
    "2020-07-01",
    "2021-12-16",
    "2021-12-17",
    "2022-05-07",
    "2022-06-28",
    "2022-09-19",
    "2022-09-24",
    "2023-02-28",
    "2023-03-09",
    "2023-04-12",
    "2023-04-26",
    "2023-07-02",
]
"""The first days of facts that change what is written."""


@pytest.mark.parametrize("name", ["output_op_compute_time_1.txt", "output_timeline_data_1.txt"])
def test_m7_m43_the_real_executions_are_written_as_upstream_does(tmp_path: Path, name: str) -> None:
    job = real("mindinsight/JOB3")
    golden = real(f"mindinsight/run_1/normal_run/profiler/{name}")
    assert parsed(job, tmp_path / "out", DAY) == 0
    assert (tmp_path / "out" / name).read_bytes() == golden.read_bytes()


def test_m43_the_real_first_start_is_written_as_upstream_does(tmp_path: Path) -> None:
    job = real("mindinsight/JOB3")
    golden = real("mindinsight/run_1/normal_run/profiler/min_cycle_counter_1.txt")
    assert parsed(job, tmp_path / "out", WITH_FIRST) == 0
    assert (tmp_path / "out/min_cycle_counter_1.txt").read_bytes() == golden.read_bytes()
    starts = (tmp_path / "out/output_timeline_data_1.txt").read_text().splitlines()[1:]
    assert starts[0].split(",")[2] == "0.0"


def test_m43_a_real_folder_holds_the_first_start_next_to_times_of_the_counter(
    tmp_path: Path,
) -> None:
    job, golden = real("mindinsight/JOB3"), real("mindinsight/run_1/normal_run/profiler")
    assert parsed(job, tmp_path / "out") == 0
    same = {one.name: one.read_bytes() for one in golden.iterdir()}
    assert len(same) == 3
    assert {name: (tmp_path / "out" / name).read_bytes() for name in same} == same


@pytest.mark.parametrize("day", ["2020-06-07", "2020-07-02"])
def test_m51_the_first_start_is_written_on_some_days_alone(tmp_path: Path, day: str) -> None:
    write_capture(tmp_path / "JOB", 1, day)
    parsed(tmp_path / "JOB", tmp_path / "out", day)
    assert not (tmp_path / "out/min_cycle_counter_0.txt").exists()


@pytest.mark.parametrize("day", some(DAYS, every=3))
@pytest.mark.parametrize("seed", [3, 5])
def test_m7_m43_m51_drawn_captures_give_what_a_plain_join_gives(
    tmp_path: Path, day: str, seed: int
) -> None:
    job = tmp_path / "JOB"
    write_capture(job, seed, day)
    assert parsed(job, tmp_path / "out", day) == 0
    (capture,) = find_captures(job)
    framework = framework_of(Run(capture, day, tmp_path))
    assert framework is not None
    content = b"".join(hwts_records(seed, drawn_operators(seed)))
    found = executions(logs(content, day), framework.names, day)
    assert found
    output = tmp_path / "out"
    assert (output / "output_op_compute_time_0.txt").read_text() == compute_time(found, day)
    assert (output / "output_timeline_data_0.txt").read_text() == timeline(found)
    _check_detail(output, day)
    _check_types(output, day)


def _check_detail(output: Path, day: str) -> None:
    lines = (output / "output_op_compute_time_0.txt").read_text().splitlines()[3:-1]
    counted = day >= "2023-02-28"
    expected = [line.split()[:2] + line.split()[3:4] * counted for line in lines]
    header, *rows = _table(output / "aicore_intermediate_0_detail.csv")
    assert header[:2] == ["full_op_name", "execution_time"]
    assert rows == expected


def _check_types(output: Path, day: str) -> None:
    """Sums of exact decimals, as far as their digits go."""
    header, *rows = _table(output / "aicore_intermediate_0_type.csv")
    assert header[1] == ("total_time" if day >= "2023-02-28" else "execution_time")
    types = {row[3]: row[5] for row in _table(output / "framework_raw_0.csv")[1:]}
    expected: dict[str, list[Decimal]] = {}
    for name, time, *count in _table(output / "aicore_intermediate_0_detail.csv")[1:]:
        number = Decimal(count[0]) if count else Decimal(1)
        own = expected.setdefault(types[name], [Decimal(0), Decimal(0)])
        own[0] += Decimal(time) * number
        own[1] += number
    assert [row[0] for row in rows] == list(expected)
    assert [Decimal(row[2]) for row in rows] == [one[1] for one in expected.values()]
    for row, (time, _) in zip(rows, expected.values(), strict=True):
        assert math.isclose(Decimal(row[1]), time, rel_tol=1e-20)
    if not "2023-02-28" <= day < "2023-03-09":
        assert abs(sum(Decimal(row[3]) for row in rows) - 100) <= Decimal("0.01") * len(rows)


def _table(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(("day", "percent"), [("2023-03-08", "66.67"), ("2023-03-09", "100.00")])
def test_m51_percent_was_of_the_averages_too_for_some_days(
    tmp_path: Path, day: str, percent: str
) -> None:
    """Of 2 executions of 3 ms: of 9 ms in all, later of 6."""
    job = tmp_path / "JOB"
    write_capture(job, 1, day)
    one = drawn_operators(1)[0]
    ticks = [0, 300_000, 10**8, 10**8 + 300_000]
    for path in (job / "data").glob("hwts*"):
        path.unlink()
    records = [hwts_record(at % 2, one.stream, one.task, tick, at) for at, tick in enumerate(ticks)]
    (job / "data/hwts.data.0.slice_0").write_bytes(b"".join(records))
    assert parsed(job, tmp_path / "out", day) == 0
    _, row = _table(tmp_path / "out/aicore_intermediate_0_type.csv")
    assert row == [one.type, "6.0", "2", percent]


def test_m43_several_tasks_of_one_operator_count_by_the_first(tmp_path: Path) -> None:
    """Their times are added, but divided by the executions of the first task alone."""
    job = tmp_path / "JOB"
    job.mkdir()
    (job / TASKS).write_text("Default/A-op1 1 5 0\nDefault/A-op1 1 6 0\n")
    tasks = [5, 6, 5, 6]
    records = [
        hwts_record(end, 0, task, 10**6 + 10**6 * at + end * 100_000, 0)
        for at, task in enumerate(tasks)
        for end in (0, 1)
    ]
    (job / HWTS).write_bytes(b"".join(records))
    assert parsed(job, tmp_path / "out", DAY) == 0
    lines = (tmp_path / "out/output_op_compute_time_0.txt").read_text().splitlines()
    assert lines[3:] == ["Default/A-op1 2.0  0", "total op  2.0 0"]


@pytest.mark.parametrize(
    ("day", "has_types"), [("2021-07-29", True), ("2021-07-30", False), ("2022-07-07", False)]
)
def test_m52_a_log_in_which_nothing_is_known(tmp_path: Path, day: str, has_types: bool) -> None:
    job = tmp_path / "JOB"
    write_capture(job, 2, day)
    for path in (job / "data").glob("hwts*"):
        path.write_bytes(hwts_record(0, 77, 77, 77, 0))
    assert parsed(job, tmp_path / "out", day) == 0
    output = tmp_path / "out"
    assert (output / "output_op_compute_time_0.txt").read_text().endswith("total op  0 0\n")
    assert len(_table(output / "aicore_intermediate_0_detail.csv")) == 1
    assert (output / "aicore_intermediate_0_type.csv").exists() == has_types


def test_m52_the_first_start_of_nothing_is_infinite(tmp_path: Path) -> None:
    job = tmp_path / "JOB"
    job.mkdir()
    (job / TASKS).write_text("Default/A-op1 1 5 0\n")
    (job / HWTS).write_bytes(hwts_record(0, 0, 5, 77, 0))
    assert parsed(job, tmp_path / "out", WITH_FIRST) == 0
    assert (tmp_path / "out/min_cycle_counter_0.txt").read_text() == "inf"


@pytest.mark.parametrize("missing", ["hwts*", "Framework*"])
def test_m52_one_of_two_files_alone(tmp_path: Path, missing: str) -> None:
    job = tmp_path / "JOB"
    write_capture(job, 2, DAY)
    for path in (job / "data").glob(missing):
        path.unlink()
    assert parsed(job, tmp_path / "out", DAY) == 0
    made = {path.name.rpartition("_")[0] for path in (tmp_path / "out").iterdir()}
    assert made == ({"framework_raw"} if missing == "hwts*" else {"output_format_data_hwts"})


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40),
    st.lists(st.integers(0, 40), max_size=5),
    st.sampled_from(["adjacent", "last-start"]),
)
def test_m43_pairs_are_those_of_a_plain_walk(
    records: list[tuple[int, bool]], cuts: list[int], way: str
) -> None:
    """However the records are cut into blocks."""
    log = [
        (str(name), Log(0 if begins else 1, 0, 0, 0, 0, 0, at))
        for at, (name, begins) in enumerate(records)
    ]
    walk = adjacent if way == "adjacent" else last_start
    expected = [_places(one) for one in walk(log)]
    pair = pairing(way)
    edges = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    found = []
    for start, end in pairwise(edges):
        made = pair(_known(records[start:end], start))
        found += zip(made.start.tick.tolist(), made.end.tick.tolist(), strict=True)
    assert found == expected


def _places(one: Execution) -> tuple[float, float]:
    return float(one[1].tick or 0), float(one[2].tick or 0)


def _known(records: list[tuple[int, bool]], first: int) -> Known:
    operator = np.array([name for name, _ in records], np.int64)
    begins = np.array([begins for _, begins in records], np.bool_)
    tick = np.arange(first, first + len(records), dtype=np.float64)
    return Known(operator, begins, operator, operator, tick)


def test_m49_m50_each_intermediate_file_has_one_parser_and_columns() -> None:
    tables = mindspore_catalog().tables
    own = {"hwts": 1, "framework": 1, "operators": 3, "aicore": 2}
    for parser, number in own.items():
        made = [one for one in tables.values() if one.parser == parser]
        assert len(made) == number
        for one in made:
            assert one.columns
            assert all(column.unit for column in one.columns if column.style == "shortest")
            assert set(one.made_of) <= {*tables, *mindspore_catalog().files}


def test_m51_a_way_holds_on_each_day() -> None:
    for method in mindspore_catalog().methods.values():
        ways = method.ways
        assert ways[0].since is None
        assert ways[-1].until is None
        assert [one.until for one in ways[:-1]] == [one.since for one in ways[1:]]


EARLY = {
    "output_format_data_hwts_0.txt": """\
====================45 HWTS data====================
Type             cnt    Core ID    Block ID    Task ID    Cycle counter    Stream ID
-------------  -----  ---------  ----------  ---------  ---------------  -----------
Start of task      0          0           0          5          1000000            3
End of task        1          0           0          5          1012345            3
Start of task      2          0           0          4     123456789012            3
End of task        3          0           0          4     123456789012            3
""",
    "output_op_compute_time_0.txt": """\
====================op compute time====================
op_name          compute_time(ms)    stream_id
-------------  ------------------  -----------
Default/A-op1             0                  3
Default/B-op2             0.12345            3
total op                  0.12345            0
""",
    "output_timeline_data_0.txt": """\
====================timeline info====================
op_name          stream_id    start_time    duration
-------------  -----------  ------------  ----------
Default/B-op2            3   0               0.12345
Default/A-op1            3   1.23456e+06     0
""",
    "min_cycle_counter_0.txt": "1000000.0",
}


@pytest.mark.parametrize("name", EARLY)
def test_m51_the_first_days_draw_tables(tmp_path: Path, name: str) -> None:
    """Tasks are known by their number, whatever their stream; operators are in order of names."""
    job = tmp_path / "JOB"
    job.mkdir()
    (job / TASKS).write_text("Default/B-op2 1 5 0\nDefault/A-op1 1 4 0\n")
    ticks = [(5, 1_000_000), (5, 1_012_345), (4, 123_456_789_012), (4, 123_456_789_012)]
    records = [hwts_record(at % 2, 3, task, tick, at) for at, (task, tick) in enumerate(ticks)]
    (job / HWTS).write_bytes(b"".join(records))
    assert parsed(job, tmp_path / "out", "2020-06-17") == 0
    assert (tmp_path / "out" / name).read_text() == EARLY[name]
