"""Steps of a GPU, of lines of operators and of lines of steps."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.mindspore.parse.gpu_step_trace import Operator, steps_of_operators
from ascend_ref.mindspore.parse.parse import Parsed, parse
from ascend_ref.mindspore.raw.lines import Line

NAME = "step_trace_profiling_0.txt"
STEPS = "step_trace_raw_0_detail_time.csv"
OPERATORS = (
    "Default/Conv2D-op1 100,110 200,210 \n"
    "Gradients/Conv2DBackprop-op5 120,150 220,250 \n"
    "Default/Assign-op9 160,170 260,270 \n"
    "Default/x/AllReduce-op3 130,140 230,245 \n"
)
STEP = (
    "Default/s-op1,1000 Default/f-op2,1109 Default/b-op3,1500 Default/e-op4,1709 "
    "x/AllReduce-op3,1305,1409\n"
)


def parse_text(folder: Path, text: str, day: str) -> Parsed:
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / NAME).write_text(text)
    (done,) = parse(folder / "raw", folder / "out", day)
    return done


def rows_in(folder: Path) -> list[list[str]]:
    path = folder / "out" / STEPS
    return list(csv.reader(path.read_text().splitlines())) if path.exists() else []


def test_m37_m38_m39_m40_m48_lines_of_operators_give_steps(tmp_path: Path) -> None:
    done = parse_text(tmp_path, OPERATORS, "2021-12-01")
    header, first, second, _ = rows_in(tmp_path)
    assert header[9:] == [
        f"stream_ops_0_AllReduce{end}" for end in ("", "_start_point", "_end_point")
    ]
    assert first == ["1", "100", "170", "70", "100", "150", "0", "50", "20", "10", "130", "140"]
    assert second == ["2", "160", "270", "110", "200", "250", "40", "50", "20", "15", "230", "245"]
    info = json.loads((tmp_path / "out" / "step_trace_point_info_0.json").read_text())
    assert info == {"fp_start": "Default/Conv2D-op1", "bp_end": "Gradients/Conv2DBackprop-op5"}
    assert done.damage == ()


def test_m37_m48_lines_of_steps_are_in_ns(tmp_path: Path) -> None:
    parse_text(tmp_path, STEP * 2, "2022-12-01")
    header, first, *_ = rows_in(tmp_path)
    assert header[9] == "stream_ops_0_AllReduce-op3"
    assert first == ["1", "100", "170", "70", "110", "150", "10", "40", "20", "10", "130", "140"]
    info = json.loads((tmp_path / "out" / "step_trace_point_info_0.json").read_text())
    assert info == [{"fp_start": "Default/f-op2", "bp_end": "Default/b-op3"}] * 2


def test_m48_m51_in_their_first_days_the_start_had_a_line(tmp_path: Path) -> None:
    parse_text(tmp_path, "Default/Start-op0 90,95 190,195 \n" + OPERATORS, "2020-11-12")
    rows = rows_in(tmp_path)
    assert [row[1:3] for row in rows[1:3]] == [["90", "170"], ["190", "270"]]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (OPERATORS.replace("230,245 ", ""), "line 4: 1 pairs of times, where others have 2"),
        (OPERATORS.replace("230,245", "230;245"), "line 4: no pair of times: '230;245'"),
        (OPERATORS + "rubbish\n", "line 5: no line of gpu_step_trace: 'rubbish'"),
        (OPERATORS + STEP, "line 1: an operator between steps"),
        ("\n".join(OPERATORS.splitlines()[:2]), "line 2: 2 operators, where steps need 3"),
        (OPERATORS.replace("245", str(1 << 64)), ""),
        (STEP.replace("1305", "x"), "line 1: no operator that communicates"),
        (STEP.replace("1000", str(1 << 63)), "line 1: start_time is"),
    ],
)
def test_m52_what_is_no_step_is_stated_by_its_line(tmp_path: Path, text: str, stated: str) -> None:
    done = parse_text(tmp_path, text, "2022-12-01")
    assert any(stated in one for one in done.damage) or not stated


@given(
    st.integers(0, 5).flatmap(
        lambda count: st.lists(
            st.lists(
                st.tuples(st.integers(1, 99), st.integers(1, 99)), min_size=count, max_size=count
            ),
            min_size=3,
            max_size=5,
        )
    )
)
def test_m38_m39_each_step_has_the_pairs_of_its_number(times: list[list[tuple[int, int]]]) -> None:
    operators = [
        Operator(Line(Path(), number, "operator", {}), "x", own)
        for number, own in enumerate(times, 1)
    ]
    found = [
        (one.step.start, one.step.fp, one.step.bp, one.step.end, [c.times for c in one.collectives])
        for one in steps_of_operators(operators, "forward-start", [])
    ]
    forward, backward, end, *others = times
    assert found == [
        (
            forward[0][0] if n == 0 else end[n - 1][0],
            forward[n][0],
            backward[n][1],
            end[n][1],
            [one[n] for one in others],
        )
        for n in range(len(forward))
    ]
