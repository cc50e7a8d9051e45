"""The numbers and shapes of a picture are those of the recording."""

from __future__ import annotations

import csv
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from plot_cases import ORIGIN, Run, real, words, write_summary
from slices import some

from ascend_ref.derive.intervals import union
from ascend_ref.tools.plot.blocks import LEVELS, Shown, Window, blocks, seen
from ascend_ref.tools.plot.draw import draw, read
from ascend_ref.tools.plot.errors import CannotDraw
from ascend_ref.tools.plot.kinds import Kind
from ascend_ref.tools.plot.step import step_of
from ascend_ref.tools.plot.units import duration, percent

CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_CPU", "DSA_SQE")


def some_runs(seed: int) -> list[Run]:
    draws = random.Random(seed)
    runs = []
    for _ in range(draws.randint(1, 12)):
        start, length = draws.randint(0, 80), draws.choice((0, 1, 3, 20))
        if draws.random() < 0.3:
            runs.append(Run("COMMUNICATION", start, length, "hcom_allReduce__1", None))
        else:
            runs.append(Run(draws.choice(CORES), start, length, draws.choice("abc")))
    return runs


def ticks(runs: list[Run]) -> set[int]:
    return {tick for run in runs for tick in range(run.start, run.start + run.length)}


@pytest.mark.parametrize("seed", some(range(40), every=4))
def test_the_overlap_is_that_of_counting_every_nanosecond(seed: int, tmp_path: Path) -> None:
    runs = some_runs(seed)
    path = write_summary(tmp_path / "op_summary_1.csv", runs)
    step = step_of(read(path).recording, None)
    communicating = ticks([run for run in runs if run.stream is None])
    computing = ticks([run for run in runs if run.stream is not None])
    first = min(run.start for run in runs)
    last = max(run.start + run.length for run in runs)
    assert (step.start, step.end) == (ORIGIN + first, ORIGIN + last)
    assert [part.total for part in step.overlap] == [
        len(computing),
        len(communicating),
        len(communicating - computing),
        len(set(range(first, last)) - computing - communicating),
    ]
    for operator in step.operators:
        kind = "allReduce" if operator.kind is Kind.OPERATION else operator.name
        own = [
            run
            for run in runs
            if (run.stream is None) == (operator.kind is Kind.OPERATION)
            and (run.stream is None or run.name == kind)
            and (run.stream is None or CORES.index(run.kind) == operator.kind)
        ]
        assert (operator.runs, operator.total) == (len(own), sum(run.length for run in own))
    lengths = [gap.end - gap.start for gap in step.gaps]
    assert lengths == sorted(lengths, reverse=True)


def test_the_header_tells_the_shares_and_the_length(tmp_path: Path) -> None:
    runs = [
        Run("AI_CORE", 0, 500_000),
        Run("COMMUNICATION", 400_000, 350_000, "hcom_allReduce__1", None),
        Run("AI_VECTOR_CORE", 900_000, 100_000),
    ]
    drawn = draw(write_summary(tmp_path / "op_summary_1.csv", runs), None, tmp_path / "p.svg")
    shown = words(tmp_path / "p.svg")
    assert shown[0] == "Whole capture: 1.00 ms"
    assert shown[3:9] == [
        "60.0 %",
        "computing",
        "25.0 %",
        "exposed communication",
        "15.0 %",
        "free",
    ]
    assert "communication 350.0 us, 100.0 us of it behind computing" in shown[9]
    assert drawn.step.length == 1_000_000
    gap = [(one.end - one.start, one.after, one.before) for one in drawn.step.gaps]
    assert gap == [(150_000, "allReduce", "Add")]


REAL_STEP = {
    "Computing": 8_873_756,
    "Communication": 105_991_878,
    "Communication(Not Overlapped)": 101_963_203,
    "Free": 25_744_050,
}


@pytest.mark.parametrize("name", ["trace_view.json", "kernel_details.csv"])
def test_the_figures_of_a_real_step_are_those_of_step_trace_time(name: str) -> None:
    folder = real("text/pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT")
    with (folder / "step_trace_time.csv").open(newline="") as file:
        (told,) = csv.DictReader(file)
    step = step_of(read(folder / name).recording, int(told["Step"]))
    names = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
    for one, part in zip(names, step.overlap, strict=True):
        # Each of some hundred times is a fraction of a ns in the exporter, whole in the files.
        assert part.total == pytest.approx(float(told[one]) * 1000, abs=100)
        assert round(float(told[one]) * 1000) == REAL_STEP[one]
    assert step.length == pytest.approx(float(told["Stage"]) * 1000, abs=250)
    if name == "trace_view.json":
        assert step.prepared == pytest.approx(float(told["Preparing"]) * 1000, abs=250)


@pytest.mark.parametrize("rank", ["level0_rank0", "level1_rank0", "level1_rank1"])
def test_the_figures_of_a_real_database_are_those_of_the_exporter(rank: str) -> None:
    folder = real(f"db/{rank}")
    columns = "step, computing, communication, communication_not_overlapped, free, stage, preparing"
    path = (folder / "analysis.db").resolve().as_uri()
    with closing(sqlite3.connect(f"{path}?mode=ro&immutable=1", uri=True)) as analysis:
        ((number, *told),) = analysis.execute(f"SELECT {columns} FROM StepTraceTime").fetchall()
    step = step_of(read(folder).recording, int(number))
    found = [*(part.total for part in step.overlap), step.length, step.prepared]
    assert found == [round(value * 1000) for value in told]


def test_every_moment_of_a_lane_shows_the_kind_that_takes_precedence() -> None:
    draws = random.Random(3)
    window = Window(100, 160, 30)
    for _ in range(50):
        bars = [
            (start := draws.randint(80, 170), start + draws.randint(0, 30), draws.randint(0, 4))
            for _ in range(draws.randint(0, 8))
        ]
        columns = np.array(bars, np.int64).reshape(-1, 3).T
        found = {
            tick: shown.kind
            for shown in seen(*columns, window)
            for first, last in zip(*shown.intervals, strict=True)
            for tick in range(first, last)
        }
        expected = {}
        for tick in range(100, 160):
            over = [kind for start, end, kind in bars if start <= tick < end]
            if over:
                expected[tick] = min(over)
        assert found == expected


def test_short_bars_become_the_share_of_each_column_that_they_fill() -> None:
    draws = random.Random(4)
    window = Window(0, 800, 20)
    for _ in range(50):
        taken = sorted(draws.sample(range(800), draws.randrange(0, 100, 2)))
        start, end = np.array(taken[::2], np.int64), np.array(taken[1::2], np.int64)
        drawn = blocks([Shown(Kind.CUBE, union(start, end))], window)
        spans = list(zip(start.tolist(), end.tolist(), strict=True))
        long = [span for span in spans if span[1] - span[0] >= 80]
        found = [
            span for shown in drawn.long for span in zip(*map(list, shown.intervals), strict=True)
        ]
        assert found == long
        short = {tick for span in spans if span not in long for tick in range(*span)}
        filled = [len(short & set(range(at, at + 40))) for at in range(0, 800, 40)]
        levels = [-(-LEVELS * one // 40) for one in filled]
        assert [sky.level.tolist() for sky in drawn.skylines] == ([levels] if short else [])


def test_a_picture_does_not_grow_with_its_tasks(tmp_path: Path) -> None:
    draws = random.Random(5)
    time, runs = 0, []
    for _ in range(30_000):
        time += draws.randint(0, 3_000)
        length = draws.choice((100, 2_000, 30_000))
        runs.append(Run(draws.choice(CORES), time, length, "Add", draws.randrange(3)))
        time += length // 3
    path = write_summary(tmp_path / "op_summary_1.csv", runs)
    draw(path, None, tmp_path / "p.svg")
    assert (tmp_path / "p.svg").stat().st_size < 500_000


def test_a_step_without_tasks_is_told(tmp_path: Path) -> None:
    path = write_summary(tmp_path / "op_summary_1.csv", [])
    with pytest.raises(CannotDraw, match="no task in the capture"):
        draw(path, None, tmp_path / "p.svg")


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0, "0"),
        (7, "7 ns"),
        (999, "999 ns"),
        (1_000, "1.00 us"),
        (12_345, "12.3 us"),
        (9_995_000, "10.0 ms"),
        (136_581_000, "136.6 ms"),
        (50_000_000_000, "50.0 s"),
        (5_000_000_000_000, "5,000 s"),
    ],
)
def test_lengths_come_in_the_unit_that_suits_them(length: int, text: str) -> None:
    assert duration(length) == text


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0.0 %"), (1, "<0.1 %"), (99_999, ">99.9 %"), (100_000, "100.0 %")]
)
def test_a_share_is_never_rounded_to_nothing_or_all(part: int, text: str) -> None:
    assert percent(part, 100_000) == text
