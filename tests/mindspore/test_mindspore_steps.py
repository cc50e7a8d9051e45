"""Steps of a training: real files byte for byte, and whatever points against a plain search."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindspore_real import parsed, real
from step_captures import StepCapture, made_steps, track_bytes

from ascend_ref.cli import main
from ascend_ref.mindspore.parse.parse import Parsed, parse
from ascend_ref.mindspore.parse.point_tags import tags_of
from ascend_ref.mindspore.parse.step_rows import Reduction, StepRows
from ascend_ref.mindspore.parse.step_trace import reductions_of
from ascend_ref.mindspore.parse.steps import FIRST, Point, Segmentation, Step, steps_of
from ascend_spec import mindspore_catalog

STEPS = "step_trace_raw_0_detail_time.csv"
TRACE = "training_trace.46.dev.profiler_default_tag.0.slice_0"

# One day between each two changes of the parser.
DAYS = (
    "2020-06-20",
    "2020-08-01",
    "2020-12-10",
    "2021-01-01",
    "2021-02-01",
    "2021-06-20",
    "2021-08-30",
    "2021-12-01",
    "2021-12-30",
    "2022-02-01",
    "2022-07-10",
    "2022-08-01",
    "2022-12-01",
)
TIMES = st.integers(1, 50)
KINDS = st.sampled_from(["fp", "bp", "end", None])
BEHIND_END = Segmentation("behind-end", "end-before", "kept")
AT_START = Segmentation("at-start", "end-before", "kept")


def run_on(folder: Path, capture: StepCapture) -> Parsed:
    shutil.rmtree(folder, ignore_errors=True)
    capture.write(folder / "raw")
    (done,) = parse(folder / "raw", folder / "out", capture.day)
    return done


def rows_in(folder: Path) -> list[list[str]]:
    path = folder / "out" / STEPS
    return list(csv.reader(path.read_text().splitlines())) if path.exists() else []


def table(day: str, gain: str, averaged: str, found: Sequence[Reduction] = ()) -> StepRows:
    columns = mindspore_catalog().tables["step_trace_raw"].columns_on(day)
    return StepRows(columns, gain, averaged, lambda step: found)


def test_m29_m30_m31_m32_m33_m34_m47_real_points_give_the_real_steps(tmp_path: Path) -> None:
    golden = real("mindinsight/profiler") / STEPS
    output = tmp_path / "out"
    line_end = ["--line-end", "lf"]
    assert (
        main(["mindspore", "parse", str(real("mindinsight/JOB1")), "-o", str(output), *line_end])
        == 0
    )
    assert (output / STEPS).read_bytes() == golden.read_bytes()


def test_m29_lines_of_csv_end_as_those_of_upstream(tmp_path: Path) -> None:
    golden = real("mindinsight/profiler") / STEPS
    assert parsed(real("mindinsight/JOB1"), tmp_path / "out") == 0
    found = (tmp_path / "out" / STEPS).read_bytes()
    assert found == golden.read_bytes().replace(b"\n", b"\r\n")


def test_m31_m32_m33_m34_each_row_adds_up(tmp_path: Path) -> None:
    assert parsed(real("mindinsight/JOB1"), tmp_path / "out") == 0
    header, *rows, average = rows_in(tmp_path)
    assert (len(rows), average[0]) == (20, "-")
    for before, row in pairwise(rows):
        one = dict(zip(header, map(int, row), strict=True))
        assert one["total"] == one["iteration_interval"] + one["fp_and_bp"] + one["tail"]
        assert one["start_point"] == int(before[header.index("end_point")])


@given(st.lists(st.tuples(KINDS, TIMES), max_size=20))
def test_m30_steps_end_where_their_ends_are(points: list[tuple[str | None, int]]) -> None:
    found = [
        (one.start, one.fp, one.bp, one.end)
        for one in steps_of((Point(kind, 0, 0, 1, time) for kind, time in points), BEHIND_END)  # type: ignore[arg-type]
    ]
    ends = [place for place, (kind, _) in enumerate(points) if kind == "end"]
    expected = []
    for before, end in pairwise([-1, *ends]):
        part = points[before + 1 : end]
        fp, bp = (next((t for k, t in reversed(part) if k == kind), None) for kind in ("fp", "bp"))
        start = FIRST if before < 0 else points[before][1]
        expected.append((start, fp, bp, points[end][1]))
    assert found == expected


@given(st.lists(st.tuples(st.booleans(), st.booleans(), TIMES, TIMES, TIMES), max_size=8))
def test_m30_a_step_that_is_not_ended_leaves_none_to_the_next(
    steps: list[tuple[bool, bool, int, int, int]],
) -> None:
    """Steps with a start each, of which some have no backward end or no end."""
    points = []
    for has_bp, has_end, fp, bp, end in steps:
        points += [Point("start", 10010, 0, 1, 1), Point("fp", 1, 0, 1, fp)]
        points += [Point("bp", 2, 0, 1, bp)] * has_bp + [Point("end", 255, 0, 1, end)] * has_end
    found = [(one.start, one.fp, one.bp, one.end) for one in steps_of(points, AT_START)]
    starts = [FIRST, *(end if has_end else FIRST for _, has_end, _, _, end in steps)]
    assert found == [
        (start, fp, bp if has_bp else None, end)
        for start, (has_bp, has_end, fp, bp, end) in zip(starts, steps, strict=False)
        if has_end
    ]


def test_m30_further_records_behind_an_end_repeat_the_row() -> None:
    points = [Point("start", 9, 0, 1, 1), Point("fp", 1, 0, 1, 2), Point("bp", 2, 0, 1, 3)]
    points += [Point("end", 255, 0, 1, 4), Point("fp", 1, 0, 1, 5)]
    assert [one.fp for one in steps_of(points, AT_START)] == [2, 5]
    assert [one.fp for one in steps_of(points, BEHIND_END)] == [2]


@given(st.lists(st.tuples(TIMES, TIMES, TIMES, TIMES), max_size=6), st.booleans())
def test_m30_averages_are_rounded_half_to_even(
    steps: list[tuple[int, int, int, int]], is_all: bool
) -> None:
    rows = table("2020-06-20", "of-first-row", "all" if is_all else "without-first")
    for start, fp, bp, end in steps:
        rows.add(Step(start, fp, bp, end))
    averaged = rows.rows if is_all else rows.rows[1:]
    if not averaged:
        assert rows.average == [0] * len(rows.header)
        return
    columns = list(zip(*averaged, strict=True))[1:]
    means = [round(Fraction(sum(map(int, one)), len(averaged))) for one in columns]
    assert rows.average == ["-", *means]


@given(
    st.lists(st.tuples(st.integers(3, 8), st.integers(1, 3), TIMES), max_size=12),
    st.sampled_from(["all", "by-tags", "by-operators"]),
)
def test_m30_reductions_are_pairs_on_a_stream(
    points: list[tuple[int, int, int]], pairs: str
) -> None:
    step = Step(1)
    for tag, stream, time in points:
        step.reductions.setdefault(stream, []).append(Point("reduction", tag, tag, stream, time))
    tags = tags_of("training_trace", "2020-06-20")
    name = lambda point: f"op{point.tag // 2}"  # noqa: E731
    found = [tuple(one) for one in reductions_of(step, pairs, tags, name)]
    expected = []
    for stream in dict.fromkeys(stream for _, stream, _ in points):
        own = [(tag, time) for tag, other, time in points if other == stream]
        for place in range(0, len(own) if len(own) % 2 == 0 else 0, 2):
            (begin, first), (end, second) = own[place : place + 2]
            is_pair = {
                "all": True,
                "by-tags": begin in (3, 5, 7) and end == begin + 1,
                "by-operators": begin // 2 == end // 2,
            }[pairs]
            if is_pair:
                expected.append((stream, place // 2, f"op{begin // 2}", first, second))
    assert found == expected


@pytest.mark.parametrize(
    ("day", "columns"),
    [
        ("2020-07-14", ["stream_7_parallel_0_start_point", "stream_7_parallel_0_end_point"]),
        ("2020-07-15", ["stream_7_0_AllReduce", "stream_7_0_AllReduce_start_point"]),
        ("2021-01-26", ["stream_7_0_AllReduce-op5", "stream_7_0_AllReduce-op5_start_point"]),
        ("2021-12-28", ["stream_7_0_Default/x/AllReduce-op5"]),
    ],
)
def test_m50_m51_reductions_are_named_by_the_day(day: str, columns: list[str]) -> None:
    reduction = Reduction(7, 0, "Default/x/AllReduce-op5", 10, 15)
    rows = table(day, "of-first-row", "all", [reduction])
    rows.add(Step(1, 2, 3, 4))
    named = dict(zip(rows.header, rows.rows[0], strict=True))
    assert list(named)[9 : 9 + len(columns)] == columns
    ends = ("_start_point", "_end_point")
    assert [named[one] for one in columns] == [
        10 if one.endswith(ends[0]) else 15 if one.endswith(ends[1]) else 5 for one in columns
    ]


def test_m50_a_reduction_without_operator_is_parallel() -> None:
    for day, text in (("2020-08-01", "stream_7_0_parallel"), ("2022-01-01", "stream_7_0_parallel")):
        rows = table(day, "of-first-row", "all", [Reduction(7, 0, "", 10, 15)])
        rows.add(Step(1, 2, 3, 4))
        assert list(rows.header)[9] == text


@pytest.mark.parametrize(("gain", "width"), [("of-first-row", 9), ("growing", 12)])
def test_m50_columns_that_come_late_are_lost_or_come_at_the_end(gain: str, width: int) -> None:
    found: list[Reduction] = []
    rows = table("2022-08-01", gain, "all", found)
    rows.add(Step(1, 2, 3, 4))
    found.append(Reduction(7, 0, "AllReduce-op5", 10, 15))
    rows.add(Step(4, 5, 6, 7))
    assert [len(one) for one in rows.rows] == [9, width]
    assert (len(rows.header), len(rows.average)) == (width, 9)


def test_m34_inference_has_no_tail() -> None:
    rows = table("2021-01-01", "of-first-row", "all")
    rows.add(Step(10, 20, 50, 90))
    header, row, average = rows.table(is_training=False)
    assert header[-3:] == ["fp_point", "iteration_interval", "fp"]
    assert (row[-3:], average[-3:]) == ([20, 10, 70], [20, 10, 70])


@pytest.mark.parametrize("day", DAYS)
def test_m52_times_of_no_step_use_up_its_number(tmp_path: Path, day: str) -> None:
    capture = made_steps(0, day)
    fp, bp, end = (2, 3, 4) if capture.is_track else (1, 2, 255)
    start = [] if capture.is_track else [(0, 10, 1, 1)]
    whole = [(fp, 11, 1, 10), (bp, 12, 1, 20), (end, 13, 1, 30)]
    without = [(fp, 11, 1, 40), (end, 13, 1, 50)]
    again = [(fp, 11, 1, 60), (bp, 12, 1, 70), (end, 13, 1, 80)]
    capture.slices = [[*start, *whole, *start, *without, *start, *again]]
    capture.names = {key: name for key, name in capture.names.items() if "Init" not in name}
    run_on(tmp_path, capture)
    assert [row[0] for row in rows_in(tmp_path)[1:-1]] == ["1", "3"]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), day=st.sampled_from(DAYS), data=st.data())
def test_m53_slices_in_any_order_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, day: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("steps")
    capture = made_steps(seed, day)
    capture.write(folder / "raw")
    every = sorted((folder / "raw" / "data").iterdir())
    shuffled = folder / "shuffled" / "data"
    shuffled.mkdir(parents=True)
    for path in data.draw(st.permutations(every)):
        shutil.copy(path, shuffled / path.name)
    parse(folder / "raw", folder / "out", day)
    parse(folder / "shuffled", folder / "again", day)
    one, two = (
        {
            path.name: path.read_bytes().replace(b"/shuffled/", b"/raw/")
            for path in (folder / name).iterdir()
        }
        for name in ("out", "again")
    )
    assert one == two


def test_m47_m51_the_first_step_is_left_out_where_it_only_fills_the_queue(tmp_path: Path) -> None:
    capture = StepCapture("2022-12-01", [])
    capture.slices = [[(2, 11, 1, 10), (3, 12, 1, 20), (4, 13, 1, 30)] * 3]
    capture.names = {(1, n): f"Gradients/x-op{n}" for n in range(10, 15)}
    run_on(tmp_path / "all", capture)
    capture.names[1, 20] = "Default/InitDataSetQueue-op0"
    run_on(tmp_path / "some", capture)
    counts = [len(rows_in(tmp_path / one)) for one in ("all", "some")]
    assert counts == [5, 4]


def test_m52_a_cut_record_is_stated_by_its_byte_and_the_rest_is_parsed(tmp_path: Path) -> None:
    golden = (real("mindinsight/profiler") / STEPS).read_bytes()
    content = (real("mindinsight/JOB1") / TRACE).read_bytes()
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / TRACE).write_bytes(content + b"\x01" * 7)
    assert parsed(tmp_path / "raw", tmp_path / "out") == 1
    stated = (tmp_path / "out" / "incomplete.txt").read_text()
    assert "byte 4,800: the last 7 bytes are no whole record of 20" in stated
    assert (tmp_path / "out" / STEPS).read_bytes() == golden.replace(b"\n", b"\r\n")


def test_m52_another_job_is_left_out(tmp_path: Path) -> None:
    day = "2020-06-20"
    own = [(10010, 1, 1, 1), (1, 1, 1, 10), (2, 1, 1, 20), (255, 1, 1, 30)]
    other = [(7777, 1, 1, 31), (1, 1, 1, 40), (2, 1, 1, 50), (255, 1, 1, 60)]
    done = run_on(tmp_path / "both", StepCapture(day, [own, other, own]))
    (stated,) = done.damage
    assert "slice_1: byte 0: 4 records of steps of the job 7777" in stated
    run_on(tmp_path / "own", StepCapture(day, [own, own]))
    assert rows_in(tmp_path / "both") == rows_in(tmp_path / "own")


@pytest.mark.parametrize(("day", "at"), [("2020-06-20", 20), ("2021-12-01", 0), ("2022-12-01", 0)])
def test_m52_a_time_of_64_bits_is_stated_and_left_out(tmp_path: Path, day: str, at: int) -> None:
    is_track = at == 0
    fp, bp, end = (2, 3, 4) if is_track else (1, 2, 255)
    start = [] if is_track else [(10010, 1, 1, 1)]
    records = [(fp, 11, 1, 1 << 63), (fp, 11, 1, 10), (bp, 12, 1, 20), (end, 13, 1, 30)]
    names = {(1, n): f"Gradients/x-op{n}" for n in range(10, 15)}
    done = run_on(tmp_path, StepCapture(day, [[*start, *records]], names))
    assert any(f"byte {at:,}: " in one and "2^63" in one for one in done.damage)
    assert [row[:3] for row in rows_in(tmp_path)[1:-1]] == [["1", "10", "30"]]


def test_m52_records_of_other_sizes_are_passed_over_and_none_ends_the_file(tmp_path: Path) -> None:
    day = "2021-12-01"
    records = [(2, 11, 1, 10), (3, 12, 1, 20), (4, 13, 1, 30)]
    points = [track_bytes([one]) for one in records]
    long = b"\x00\x05" + (24).to_bytes(2, "little") + bytes(20)
    none = bytes(40)
    capture = StepCapture(day, [[]], {(1, 1): "Gradients/x-op1"})
    capture.write(tmp_path / "raw")
    path = next((tmp_path / "raw" / "data").glob("ts_track*"))
    path.write_bytes(points[0] + long + points[1] + long + points[2] + none + points[0])
    (done,) = parse(tmp_path / "raw", tmp_path / "out", day)
    assert [row[:3] for row in rows_in(tmp_path)[1:-1]] == [["1", "10", "30"]]
    assert [f"byte {3 * 40 + 2 * 24}: " in one for one in done.damage] == [True]


def test_m52_tasks_of_points_without_operator_are_stated(tmp_path: Path) -> None:
    records = [(2, 11, 1, 10), (3, 12, 1, 20), (4, 13, 1, 30)]
    capture = StepCapture("2022-12-01", [records], {(1, 11): "Gradients/x", (1, 12): "Gradients/y"})
    done = run_on(tmp_path, capture)
    assert ["1 tasks of points" in one and "1_13" in one for one in done.damage] == [True]
    assert len(rows_in(tmp_path)) == 3


def test_m50_reductions_behind_an_early_end_are_named_by_it(tmp_path: Path) -> None:
    step = [(0, 1, 1, 1), (1, 1, 1, 10), (2, 1, 1, 20), (255, 5, 7, 21), (256, 5, 7, 22)]
    step += [(257, 5, 7, 23), (258, 5, 7, 24), (65535, 1, 1, 30)]
    points = {255: "Default/AllReduce-op1", 257: "Default/AllReduce-op2"}
    for day, names in (("2021-01-27", ["end", "start"]), ("2021-01-28", [])):
        run_on(tmp_path / day, StepCapture(day, [step], {(1, 1): "Gradients/x"}, points))
        header = rows_in(tmp_path / day)[0][9:]
        expected = names or ["AllReduce-op1", "AllReduce-op2"]
        assert header[::3] == [f"stream_7_{n}_{name}" for n, name in enumerate(expected)]


def test_m29_m51_the_end_of_late_steps_is_65535(tmp_path: Path) -> None:
    step = [(0, 1, 1, 1), (1, 1, 1, 10), (2, 1, 1, 20), (65535, 1, 1, 30)]
    names = {(1, 1): "Gradients/x"}
    for day, count in (("2020-12-15", 0), ("2020-12-16", 4)):
        folder = tmp_path / day
        run_on(folder, StepCapture(day, [step * 2], names))
        assert len(rows_in(folder)) == count


@pytest.mark.parametrize(
    ("day", "name", "operators"),
    [
        (
            "2020-06-20",
            "step_trace_point_info.json",
            ("Default/network/Conv2D-op1", "Default/network/Last-op3"),
        ),
        ("2022-07-10", "step_trace_point_info_0.json", ("", "")),
        ("2022-12-01", "step_trace_point_info_0.json", ("Default/b", "Gradients/c")),
    ],
)
def test_m50_points_are_named_by_the_day(
    tmp_path: Path, day: str, name: str, operators: tuple[str, str]
) -> None:
    capture = made_steps(1, day)
    fp, bp, end = (2, 3, 4) if capture.is_track else (1, 2, 255)
    start = [] if capture.is_track else [(0, 10, 1, 1)]
    capture.slices = [[*start, (fp, 11, 1, 10), (bp, 12, 1, 20), (end, 13, 1, 30)]]
    capture.names = {(1, 10): "Default/a", (1, 11): "p", (1, 1): "Default/b"}
    capture.names |= {(1, 2): "Gradients/c", (1, 12): "q", (1, 13): "r"}
    run_on(tmp_path, capture)
    expected = f'{{"fp_start": "{operators[0]}", "bp_end": "{operators[1]}"}}'
    assert (tmp_path / "out" / name).read_text() == expected
