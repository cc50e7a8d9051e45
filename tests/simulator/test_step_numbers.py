"""A step has one number: in every file of every rank, in the truth, and in the scenario.

Counted by hand as torch_npu.profiler.schedule does, with the steps that it skips, waits for and
warms up in.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ascend_simulator import write_run
from ascend_simulator.scenario import parse

SCENARIO = """
model: {kind: dense-transformer, layers: 1, hidden: 64, heads: 4, sequence: 64, vocabulary: 256}
parallelism: {ranks: 2}
schedule: {first: 3, wait: 1, warmup: 2, active: 2, repeat: 2}
capture: {level: 2, mstx: true, memory: true}
faults: [{kind: slow-rank, ranks: [1], steps: [7, 11], factor: 2000}]
"""
ROUNDS = [6, 7], [11, 12]
FAULTS = [7, 7], [11, 11]
TEXTS = {
    "trace_view.json": r'"name": ?"ProfilerStep#(\d+)"',
    "communication.json": r'"step(\d+)": ?\{',
    "communication_matrix.json": r'"step(\d+)": ?\{',
}
TABLES = {
    "analysis.db": [
        "SELECT step FROM StepTraceTime",
        "SELECT substr(step, 5) FROM CommAnalyzerTime",
        "SELECT substr(step, 5) FROM CommAnalyzerMatrix",
    ],
    "ascend_pytorch_profiler_?.db": [
        "SELECT id FROM STEP_TIME",
        "SELECT substr(value, 14) FROM STRING_IDS WHERE value LIKE 'ProfilerStep#%'",
    ],
}
KERNELS = """
    SELECT STEP_TIME.id, count(*) FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)
    JOIN CANN_API USING (connectionId) JOIN STEP_TIME
    ON CANN_API.startNs BETWEEN STEP_TIME.startNs AND STEP_TIME.endNs GROUP BY 1
"""


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(folder: Path) -> Iterator[tuple[str, set[int]]]:
    """Every place of a rank's output that names steps, and the numbers there."""
    for name, pattern in TEXTS.items():
        found = re.findall(pattern, (folder / name).read_text(encoding="utf-8"))
        yield name, set(map(int, found))
    for name, column in (("kernel_details.csv", "Step Id"), ("step_trace_time.csv", "Step")):
        yield name, {int(row[column]) for row in csv_rows(folder / name)}
    for name, queries in TABLES.items():
        (path,) = folder.glob(name)
        for query in queries:
            yield query, {int(step) for (step,) in rows(path, query)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("steps") / "run"
    return write_run(parse(SCENARIO), 1, out, ("pytorch-db", "pytorch-text")).folder


@pytest.mark.parametrize("round_", [0, 1])
def test_a_step_has_one_number(run: Path, round_: int) -> None:
    folder = run / f"round_{round_}"
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert [one["steps"] for one in truth["faults"]] == [FAULTS[round_]]
    outputs = sorted(folder.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT"))
    assert len(outputs) == len(truth["totals"]) == 2
    for output, totals in zip(outputs, truth["totals"], strict=True):
        assert [one["step"] for one in totals["steps"]] == ROUNDS[round_]
        assert [one["step"] for one in totals["step_trace_time"]] == ROUNDS[round_]
        found = list(numbers(output))
        assert found == [(place, set(ROUNDS[round_])) for place, _ in found]


@pytest.mark.parametrize("round_", [0, 1])
def test_the_kernels_of_a_step_have_its_number(run: Path, round_: int) -> None:
    """By the calls that launched them, and by kernel_details.csv, which also has collectives."""
    for output in run.glob(f"round_{round_}/*/ASCEND_PROFILER_OUTPUT"):
        details = csv_rows(output / "kernel_details.csv")
        own = [row for row in details if not row["Name"].startswith("hcom_")]
        (path,) = output.glob("ascend_pytorch_profiler_?.db")
        assert Counter(int(row["Step Id"]) for row in own) == dict(rows(path, KERNELS))
