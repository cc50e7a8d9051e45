"""Speed of the database codec and checker, as ratios against named alternatives in one run.

    python benchmarks/db.py [--rows 5000000] [--folder DIR]

Every line is a ratio of two timings taken in this run on this machine. Needs about 3 GB of disk
for 5 million rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import workload
from db_load import compare_load
from python_rules import compare_with_python_loop

from ascend_ref.db.open import open_readonly, quick_check
from ascend_ref.db.writer import write_database

REPEATS = 3
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Line:
    """One figure: what, measured, the bound it must keep, and what it was compared with."""

    what: str
    measured: float
    bound: float
    unit: str
    at_most: bool
    against: str

    @property
    def holds(self) -> bool:
        """Whether the figure keeps its bound."""
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


def best(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """The shortest of several wall times in seconds: the least disturbed one."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def database(folder: Path, rows: int) -> Path:
    """The benchmark's database of this many tasks, written once."""
    path = folder / f"msprof_{rows:014d}.db"
    if not path.exists():
        write_database(path, workload.schema(), workload.tables(rows))
    return path


CHECK = """
import json, resource, sys, time
from pathlib import Path
from ascend_conformance.check import check
started = time.perf_counter()
report = check([sys.argv[1]])
seconds = time.perf_counter() - started
# ru_maxrss would include what this process shared with the benchmark before its exec.
status = Path("/proc/self/status")
marks = [line.split() for line in status.read_text().splitlines()] if status.exists() else []
peak = 1024 * next(
    (int(line[1]) for line in marks if line[0] == "VmHWM:"),
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
)
unreadable = report.files[0].unreadable
print(json.dumps({"seconds": seconds, "peak": peak, "findings": len(report.findings),
                  "unreadable": unreadable}))
"""


def check_in_process(path: Path) -> dict[str, float]:
    """Time, peak memory in bytes and findings of one check in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    assert not found["unreadable"], found
    assert not found["findings"], found
    return found


def measure_check(folder: Path, rows: int) -> Iterator[Line]:
    """The whole check against SQLite's own quick_check of the same file."""
    path = database(folder, rows)
    connection = open_readonly(path)
    quick = best(lambda: quick_check(connection))
    connection.close()
    runs = [check_in_process(path) for _ in range(REPEATS)]
    seconds = min(run["seconds"] for run in runs)
    yield Line(
        f"check, all rules, {rows:,} tasks",
        seconds / quick,
        12,
        "x",
        True,
        f"quick_check {quick:.2f} s",
    )
    peak = max(run["peak"] for run in runs) / MEBIBYTE
    yield Line(f"peak memory of that check, {rows:,} tasks", peak, 300, "MB", True, "fixed bound")


def measure_start() -> Iterator[Line]:
    """Start-up of the command against an empty interpreter run."""
    command = Path(sys.executable).with_name("ascend-ref")
    empty = best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 10)
    version = best(
        lambda: subprocess.run([command, "--version"], check=True, stdout=subprocess.DEVNULL), 10
    )
    yield Line(
        "ascend-ref --version", version / empty, 12, "x", True, f"python -c pass {empty:.3f} s"
    )


def measure_load(folder: Path, rows: int) -> Iterator[Line]:
    """Bulk load against executemany, fed from the same columns."""
    result = compare_load(folder, workload.schema(), workload.tables(rows))
    yield Line(
        f"bulk load, 3 x {rows:,} rows",
        result.ratio,
        2.5,
        "x",
        False,
        f"executemany {result.executemany_seconds:.1f} s, ours {result.ours_seconds:.1f} s, "
        f"indexes apart {result.index_seconds:.1f} s",
    )


def measure_python(folder: Path) -> Iterator[Line]:
    """The column rules in SQL against the same rules over rows fetched into Python."""
    result = compare_with_python_loop(database(folder, 200_000))
    yield Line(
        "column rules, 200,000 tasks",
        result.python_seconds / result.sql_seconds,
        5,
        "x",
        False,
        f"rows fetched into Python {result.python_seconds:.2f} s",
    )


def show(lines: list[Line]) -> None:
    """The table of figures."""
    print(f"{'figure':<44} {'measured':>10} {'bound':>10}        against")
    for line in lines:
        bound = f"{'<=' if line.at_most else '>='} {line.bound:g} {line.unit}"
        verdict = "ok" if line.holds else "MISSED"
        measured = f"{line.measured:.2f} {line.unit}"
        print(f"{line.what:<44} {measured:>10} {bound:>10} {verdict:<7} {line.against}")


def main() -> int:
    """Run everything; 1 when a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        lines = [
            *measure_start(),
            *measure_python(folder),
            *measure_check(folder, min(given.rows, 1_000_000)),
            *measure_check(folder, given.rows),
            *measure_load(folder, given.rows),
        ]
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
