"""What a conversion writes of simulated captures passes the check of the present generation."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_conformance.check import check
from ascend_ref.cli import main
from ascend_ref.mindspore.convert.convert import LOST
from ascend_ref.mindspore.convert.found import Runs
from ascend_ref.mindspore.convert.precision import precision_of, runs_in_turn


def simulated(path: Path, name: str, day: str, ranks: int = 1, steps: int = 1) -> Path:
    """The folder of a simulated job."""
    job = ["--as", "mindspore-raw", "--generation", day]
    sizes = ["--ranks", str(ranks), "--steps", str(steps)]
    assert main(["simulate", name, "-o", str(path), *job, *sizes]) == 0
    return path


def converted(source: Path, target: Path) -> Path:
    """What ``ascend-ref mindspore convert`` makes."""
    assert main(["mindspore", "convert", str(source), "-o", str(target)]) == 0
    return target


def offences(*folders: Path) -> set[str]:
    """The rules that folders break, and those that could not be evaluated."""
    report = check(folders)
    return {one.rule for one in report.findings if one.verdict in ("violation", "failure")}


def databases(folder: Path, query: str) -> list[list[tuple[Any, ...]]]:
    """The answers of the databases of all ranks."""
    found = []
    for path in sorted(folder.rglob("ascend_mindspore_profiler_*.db")):
        with closing(sqlite3.connect(path)) as connection:
            found.append(connection.execute(query).fetchall())
    return found


@pytest.mark.campaign
def test_a_task_of_several_files_stands_once(tmp_path: Path) -> None:
    source = simulated(tmp_path / "job", "ai-cpu-bound", "2023-07-02", ranks=2)
    target = converted(source, tmp_path / "made")
    of_log = databases(target, "SELECT count(*) FROM TASK")
    of_cpu = databases(
        target,
        "SELECT count(*) FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.taskType "
        "JOIN TASK t USING (globalTaskId) WHERE s.value = 'AI_CPU'",
    )
    parts = databases(
        target, "SELECT count(*) FROM COMMUNICATION_TASK_INFO JOIN TASK t USING (globalTaskId)"
    )
    for number, job in enumerate(sorted(source.glob("PROF_*"))):
        log = next(job.rglob("hwts.data.*.slice_0")).read_bytes()
        ends = sum(log[place] & 7 == 1 for place in range(0, len(log), 64))
        kernels = next(job.rglob("DATA_PREPROCESS.AICPU.*.slice_0")).stat().st_size // 128
        traces = [json.loads(one.read_text()) for one in job.rglob("*.trace")]
        assert of_log[number] == [(ends,)]
        assert of_cpu[number] == [(kernels,)]
        assert parts[number] == [(sum(len(one["traceEvents"]) for one in traces),)]
    assert offences(target) == set()


@pytest.mark.campaign
def test_what_is_made_of_exported_intermediate_files_passes(tmp_path: Path) -> None:
    source = simulated(tmp_path / "job", "ai-cpu-bound", "2024-05-01", ranks=2)
    assert main(["mindspore", "parse", str(source), "-o", str(tmp_path / "parsed")]) == 0
    target = converted(tmp_path / "parsed", tmp_path / "made")
    profiles = sorted(target.iterdir())
    assert len(profiles) == 2
    for profile in profiles:
        assert "known to 496 ns" in (profile / LOST).read_text()
    expected = []
    for path in sorted((tmp_path / "parsed").rglob("aicpu_intermediate_*.csv")):
        with path.open(newline="") as file:
            lengths = [float(row["execution_time"]) for row in csv.DictReader(file)]
        expected.append(sorted(round(one * 1e6) for one in lengths))
    found = databases(
        target,
        "SELECT t.endNs - t.startNs FROM TASK t JOIN COMPUTE_TASK_INFO c USING (globalTaskId) "
        "JOIN STRING_IDS s ON s.id = c.taskType WHERE s.value = 'AI_CPU' ORDER BY 1",
    )
    assert [[length for (length,) in one] for one in found] == expected
    assert offences(target) == set()


tasks = st.lists(
    st.tuples(st.integers(0, 3_000), st.integers(0, 1_200), st.integers(0, 2)), max_size=30
)


@given(tasks, st.integers(0, 600))
def test_a_task_ends_where_the_next_begins(rows: list[tuple[int, int, int]], known: int) -> None:
    rows = sorted(rows, key=lambda one: (one[0], one[0] + one[1]))
    start, length, stream = (np.array([one[at] for one in rows], np.int64) for at in range(3))
    runs = Runs(start, start + length, stream, start, start)
    made, count = runs_in_turn(runs, known)
    expected = []
    for place, (begin, long, own) in enumerate(rows):
        later = [one[0] for one in rows[place + 1 :] if one[2] == own]
        over = begin + long - later[0] if later else 0
        expected.append(later[0] if 0 < over <= known else begin + long)
    assert made.end.tolist() == expected
    assert count == sum(one != two for one, two in zip(expected, runs.end.tolist(), strict=True))
    assert (made.end >= made.start).all()


def test_a_start_is_known_to_what_its_doubles_show() -> None:
    starts = [1_767_258_000_152_066_700 + 317 * one for one in range(2_000)]
    written = [float(f"{start // 1_000}.{start % 1_000:03}") / 1e3 for start in starts]
    off = [round(Fraction(one) * 10**6) - start for one, start in zip(written, starts, strict=True)]
    assert 250 < max(off) - min(off) <= precision_of(starts[-1])


@pytest.mark.exhaustive
def test_raw_and_intermediate_files_pass(tmp_path: Path) -> None:
    source = simulated(tmp_path / "job", "data-bound", "2020-07-01")
    assert main(["mindspore", "parse", str(source), "-o", str(tmp_path / "parsed")]) == 0
    made = [converted(one, tmp_path / f"made-{one.name}") for one in (source, tmp_path / "parsed")]
    assert offences(*made) == set()


@pytest.mark.exhaustive
def test_memory_of_graphs_is_parsed_under_the_new_name_of_operators(tmp_path: Path) -> None:
    day = "2024-05-01"
    source, target = simulated(tmp_path / "job", "cnn-910a", day), str(tmp_path / "parsed")
    assert main(["mindspore", "parse", str(source), "-o", target, "--generation", day]) == 0
    (path,) = (tmp_path / "parsed").glob("memory_usage_summary_*.json")
    found = json.loads(path.read_text())
    assert found["peak_mem"] > found["static_mem"] > 0
    # Tables of AI CPUs of these days state the type alone.
    assert offences(converted(tmp_path / "parsed", tmp_path / "made")) == set()
