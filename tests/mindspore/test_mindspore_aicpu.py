"""Kernels of AI CPUs: real files byte for byte, and text that is none."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mindspore_real import parsed, real
from other_captures import aicpu_records, aicpu_text
from step_captures import StepCapture

from ascend_ref.mindspore.parse.drawn import drawn
from ascend_ref.mindspore.parse.parse import Parsed, parse
from ascend_spec.core.packed import dtype_of
from ascend_spec.mindspore.records import AICPU

OUTPUT = "output_data_preprocess_aicpu_0.txt"
ROWS = "aicpu_intermediate_0.csv"
TEXT = "DATA_PREPROCESS.dev.AICPU.0.slice_0"
NEW = "DATA_PREPROCESS.AICPU.0.slice_0"
THREAD = (
    b"Thread[ 1] process device[0]:aicpu[ 0] task end, tickDrvTopHalf=1,tickDrvBottomHalf=2, "
    b"tickBeforeRun=3,tickAfterRun=4, dispatchTime=5 us, totalTime=1567 us."
)
KERNEL = b"[1] Node:InitData, Run tart:10 1000, Run end:30 3000"


def parse_file(folder: Path, name: str, content: bytes, day: str | None = None) -> Parsed:
    raw = folder / "raw" / "data"
    raw.mkdir(parents=True)
    (raw / name).write_bytes(content)
    (done,) = parse(folder / "raw", folder / "out", day)
    return done


def test_m22_m23_m44_real_text_gives_the_real_table(tmp_path: Path) -> None:
    folder = real("mindinsight/JOB_AICPU")
    assert parsed(folder, tmp_path / "out", "2020-06-28") == 0
    assert (tmp_path / "out" / OUTPUT).read_bytes() == (folder / "expect" / OUTPUT).read_bytes()
    assert (tmp_path / "out" / ROWS).read_bytes().splitlines(keepends=True)[:2] == [
        b"serial_number,op_type,total_time,dispatch_time,run_start,run_end\r\n",
        b"1,InitData,1.567,0.1,2298200409,2298200538\r\n",
    ]


def test_m22_m23_m44_real_records_give_the_real_rows(tmp_path: Path) -> None:
    folder = real("mindspore/JOB_AICPU")
    names = {(22, 2): "Default/x/DropoutGenMask-op281", (22, 4): "Default/DropoutGenMask-op280"}
    StepCapture("2023-07-02", [], names).write(tmp_path / "raw")
    shutil.copy(folder / "data" / NEW, tmp_path / "raw" / "data")
    assert parsed(tmp_path / "raw", tmp_path / "out") == 0
    assert (tmp_path / "out" / OUTPUT).read_bytes() == (folder / "expect" / OUTPUT).read_bytes()


def test_m23_a_record_without_operator_has_the_key_of_its_task(tmp_path: Path) -> None:
    assert parsed(real("mindspore/JOB_AICPU"), tmp_path / "out") == 0
    row = (tmp_path / "out" / OUTPUT).read_text().splitlines()[1]
    assert row == "1 22_2 4.288 0.265 1.545 77282784881.5 77282786426.77"


@pytest.mark.parametrize(
    ("content", "day"),
    [
        (aicpu_text(3, is_counted=False), "2020-07-01"),
        (aicpu_text(3, is_counted=True), "2021-12-16"),
        (aicpu_records(1), "2023-07-02"),
    ],
)
def test_m51_content_shows_the_day(tmp_path: Path, content: bytes, day: str) -> None:
    done = parse_file(tmp_path, TEXT, content)
    assert done.written.day == day
    assert done.written.contradicts == ()


def test_m51_text_without_counters_under_the_new_name_is_older_than_counters(
    tmp_path: Path,
) -> None:
    done = parse_file(tmp_path, NEW, aicpu_text(3, is_counted=False))
    assert done.written.day == "2021-04-14"


@pytest.mark.parametrize(
    ("day", "first"),
    [
        ("2020-06-20", "serial_number           node_type_name      total_time(us)"),
        ("2020-07-14", "serial_number           node_type_name      total_time(ms)"),
        ("2020-07-15", "serial_number node_type_name total_time(ms) dispatch_time(ms) run_start"),
        ("2021-04-15", "serial_number node_type_name total_time(ms) dispatch_time(ms) execution"),
    ],
)
def test_m50_columns_by_the_day(tmp_path: Path, day: str, first: str) -> None:
    parse_file(tmp_path, TEXT, KERNEL + b"\0" + THREAD + b"\0", day)
    assert (tmp_path / "out" / OUTPUT).read_text().startswith(first)


def test_m50_the_first_row_is_lost_where_dashes_were(tmp_path: Path) -> None:
    content = (KERNEL + b"\0" + THREAD + b"\0") * 3
    for day, count in (("2020-07-14", 3), ("2020-07-15", 2), ("2020-07-24", 3)):
        parse_file(tmp_path / day, TEXT, content, day)
        assert len((tmp_path / day / "out" / ROWS).read_text().splitlines()) == 1 + count


def test_m52_text_of_no_kind_parts_a_kernel_from_its_thread(tmp_path: Path) -> None:
    content = b"\0".join([KERNEL, THREAD, KERNEL, b"rubbish \xff", THREAD, KERNEL, THREAD, b""])
    done = parse_file(tmp_path, TEXT, content, "2021-06-01")
    rubbish = 2 * len(KERNEL) + len(THREAD) + 3
    places = [one.split("byte ")[1].split(":")[0] for one in done.damage]
    assert places == [f"{rubbish:,}", f"{len(KERNEL) + len(THREAD) + 2:,}"]
    rows = (tmp_path / "out" / OUTPUT).read_text().splitlines()
    assert [row.split()[0] for row in rows[1:-1]] == ["1", "2"]


def test_m53_a_text_goes_on_in_the_next_slice(tmp_path: Path) -> None:
    content = (KERNEL + b"\n\0" + THREAD + b"\0") * 20
    parse_file(tmp_path / "one", TEXT, content, "2021-06-01")
    raw = tmp_path / "raw"
    raw.mkdir()
    edges = [0, 100, 101, 1500, len(content)]
    for number, (start, end) in enumerate(pairwise(edges)):
        (raw / f"DATA_PREPROCESS.dev.AICPU.0.slice_{number}").write_bytes(content[start:end])
    (done,) = parse(raw, tmp_path / "out", "2021-06-01")
    assert done.damage == ()
    expected = (tmp_path / "one" / "out" / OUTPUT).read_bytes()
    assert (tmp_path / "out" / OUTPUT).read_bytes() == expected


def test_m52_a_lost_slice_is_stated(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for number in (0, 2):
        content = KERNEL + b"\0" + THREAD + b"\0" + KERNEL[:20]
        (raw / f"DATA_PREPROCESS.dev.AICPU.0.slice_{number}").write_bytes(content)
    (done,) = parse(raw, tmp_path / "out", "2021-06-01")
    assert any("slice 1 is missing" in one for one in done.damage)
    assert sum("no line of aicpu" in one for one in done.damage) == 2
    assert len((tmp_path / "out" / OUTPUT).read_text().splitlines()) == 4


def test_m52_numbers_of_64_bits_and_records_of_wrong_magic_are_stated(tmp_path: Path) -> None:
    great = KERNEL.replace(b"3000", str(1 << 63).encode()) + b"\0" + THREAD + b"\0"
    done = parse_file(tmp_path / "text", TEXT, great + KERNEL + b"\0" + THREAD, "2021-06-01")
    assert ["byte 0: " in one and "2^63" in one for one in done.damage] == [True]
    rows = np.zeros(4, dtype_of(AICPU))
    rows["magicNumber"] = [0x5A5A, 0x5A5A, 0x1234, 0x5A5A]
    rows["run_end_counter"] = [1, 1 << 63, 1, 1]
    done = parse_file(tmp_path / "records", NEW, rows.tobytes())
    assert any("byte 256: 128 bytes are no whole record" in one for one in done.damage)
    assert any("byte 128: a time of 2^63" in one for one in done.damage)
    assert len((tmp_path / "records" / "out" / OUTPUT).read_text().splitlines()) == 4


@pytest.mark.parametrize("day", ["2021-12-22", "2022-01-10"])
def test_m52_text_is_refused_on_days_of_records_alone(tmp_path: Path, day: str) -> None:
    done = parse_file(tmp_path, NEW, KERNEL + b"\0" + THREAD + b"\0", day)
    assert (len(done.damage), done.files) == (1, ())


def test_m52_a_thread_of_more_parts_ends_a_kernel_from_2021_08_03_on(tmp_path: Path) -> None:
    content = KERNEL + b"\0" + THREAD + b", other=1\0"
    for day, count in (("2021-08-02", 0), ("2021-08-03", 1)):
        done = parse_file(tmp_path / day, NEW, content, day)
        assert (tmp_path / day / "out" / OUTPUT).exists() == bool(count)
        assert len(done.damage) == 1 - count


@given(
    st.lists(st.tuples(st.text("ab/-", min_size=1, max_size=30), st.integers(0, 10**9)), min_size=1)
)
def test_m50_columns_of_a_drawn_table_are_of_one_width(rows: list[tuple[str, int]]) -> None:
    header, dashes, *lines = drawn(["node_name", "start_time"], rows)
    first, second = map(len, dashes.split("  "))
    assert first == max(len("node_name") + 2, *(len(name) for name, _ in rows))
    assert header == f"{'node_name':{first}}  {'start_time':>{second}}"
    assert lines == [f"{name:{first}}  {number:>{second}}" for name, number in rows]


def test_m50_points_of_a_drawn_table_stand_below_each_other() -> None:
    lines = drawn(["a", "b"], [["x", 1.5], ["y", 12345.6789], ["z", 0.125], ["total"]])
    assert lines[2:] == ["x          1.5", "y      12345.7", "z          0.125", "total"]
