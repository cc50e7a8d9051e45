"""64 ranks of 20 steps on one worker and on two: time, and the memory of the largest process.

    python benchmarks/simulate_scale.py WORKERS FOLDER

Run like that, it simulates once and prints seconds and bytes, as JSON, for memory is that of a run
only where nothing else ran in its process.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lines import Line
from peak import peak_memory

from ascend_ref.execution import open_executor
from ascend_simulator.choices import Scenario
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

REPEATS = 2
MEBIBYTE = 1 << 20


def scenario() -> Scenario:
    """The preset with more layers."""
    small = override(preset("moe-64"), steps=20)
    return replace(small, model=replace(small.model, layers=8))


def run_alone(workers: int, folder: Path) -> dict[str, float]:
    """Seconds, rows and the memory in bytes of the largest process of a run."""
    out = folder / "run"
    done = subprocess.run(
        [sys.executable, __file__, str(workers), str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    found["rows"] = sum(rows_of(path) for path in out.glob("*_ascend_pt/*/*.db"))
    shutil.rmtree(out)
    return found


def rows_of(path: Path) -> int:
    """Rows of all tables of a database."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return sum(
            connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in names
        )


def measure_scale(folder: Path) -> Iterator[Line]:
    """One worker against two, and the memory of a worker."""
    runs = [(run_alone(1, folder), run_alone(2, folder)) for _ in range(REPEATS)]
    rows = runs[0][0]["rows"]
    assert all(run["rows"] == rows for pair in runs for run in pair), runs
    yield Line(f"64 ranks x 20 steps, {rows:,} rows", rows / 1e6, 20, "M", False, "fixed bound")
    peak = max(run["peak"] for pair in runs for run in pair) / MEBIBYTE
    yield Line("peak memory of a worker", peak, 2048, "MB", True, "fixed bound")
    one, two = (min(run["seconds"] for run in column) for column in zip(*runs, strict=True))
    against = f"one worker {one:.1f} s, two {two:.1f} s"
    yield Line("two workers against one", one / two, 1.7, "x", False, against)


def simulate_here(workers: int, out: Path) -> dict[str, float]:
    """Simulate in this process and its children. Memory includes this process."""
    started = time.perf_counter()
    with open_executor(workers) as executor:
        write_run(scenario(), 0, out, executor=executor)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak": peak_memory()}


if __name__ == "__main__":
    print(json.dumps(simulate_here(int(sys.argv[1]), Path(sys.argv[2]))))
