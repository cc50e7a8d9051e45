"""What a conversion writes of simulated captures passes the check of the present generation."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ascend_conformance.check import check
from ascend_ref.cli import main


def simulated(path: Path, name: str, day: str, ranks: int, steps: int = 2) -> Path:
    """The folder of a simulated job of several ranks."""
    job = ["--as", "mindspore-raw", "--generation", day]
    sizes = ["--ranks", str(ranks), "--steps", str(steps)]
    assert main(["simulate", name, "-o", str(path), *job, *sizes]) == 0
    return path


def converted(source: Path, target: Path) -> Path:
    """What ``ascend-ref mindspore convert`` makes."""
    assert main(["mindspore", "convert", str(source), "-o", str(target)]) == 0
    return target


def offences(folder: Path) -> set[str]:
    """The rules that a folder breaks, and those that could not be evaluated."""
    report = check([folder])
    return {one.rule for one in report.findings if one.verdict in ("violation", "failure")}


def databases(folder: Path, query: str) -> list[list[tuple[Any, ...]]]:
    """The answers of the databases of all ranks."""
    found = []
    for path in sorted(folder.rglob("ascend_mindspore_profiler_*.db")):
        with closing(sqlite3.connect(path)) as connection:
            found.append(connection.execute(query).fetchall())
    return found


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
