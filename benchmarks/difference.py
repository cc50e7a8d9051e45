"""Time and memory of ``diff`` on two databases, against reading all rows of both.

    python benchmarks/difference.py [--rows 5000000] [--folder DIR]

B is the recording of A with other numbers for its texts and calls, the tasks in the opposite order,
a task with its kernel less, and a task that is a ns longer. Reading is a SELECT of all columns of
each table, with the same library. Needs about 3 GB of disk for 5 million tasks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import workload
from lines import Line, show
from peak import peak_memory

from ascend_conformance.difference.diff import diff
from ascend_ref.db.reader import stream_columns
from ascend_ref.db.writer import write_database

MEBIBYTE = 1 << 20
TIMES = 4
"""As long as reading both takes, at most."""
MEMORY = 600
"""MB at any number of rows."""
LOST = 5
"""The task from the end, counted from 0, that B does not have."""
FURTHER = 7_000_000
"""Added to the numbers of texts and calls in B."""
NONE = workload.NONE_32
REPEATS = 3


def write_both(folder: Path, rows: int) -> tuple[Path, Path]:
    """The two databases, written once."""
    paths = tuple(folder / side / f"msprof_{rows:014d}.db" for side in "ab")
    for path, change in zip(paths, (False, True), strict=True):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            tables = workload.tables(rows)
            write_database(path, workload.schema(), _changed(tables) if change else tables)
    return paths[0], paths[1]


def _changed(tables: dict[str, workload.Columns]) -> dict[str, workload.Columns]:
    found = dict(tables)
    for name, columns in tables.items():
        known = workload.schema().tables[name].columns
        found[name] = {
            one: _renumbered(values, known[one].type, own=(name, one) == ("STRING_IDS", "id"))
            for one, values in columns.items()
        }
    tasks = {one: values[::-1].copy() for one, values in found["TASK"].items()}
    tasks["endNs"][len(tasks["endNs"]) // 3] += 1
    found["TASK"] = {one: np.delete(values, LOST) for one, values in tasks.items()}
    kernels = found["COMPUTE_TASK_INFO"]
    kept = kernels["globalTaskId"] != tasks["globalTaskId"][LOST]
    found["COMPUTE_TASK_INFO"] = {one: values[kept] for one, values in kernels.items()}
    return found


def _renumbered(values: np.ndarray, kind: str, *, own: bool) -> np.ndarray:
    if own or kind in ("stringId", "connectionId", "globalTaskId"):
        return np.where(values == NONE, values, values + FURTHER)
    return values


def read(path: Path) -> int:
    """Read all rows of all tables; returns their number."""
    return sum(
        batch.num_rows
        for table in workload.tables(1)
        for batch in stream_columns(path, f"SELECT * FROM {table}")
    )


def measured(what: str, left: Path, right: Path) -> dict[str, float]:
    """Seconds of processors, peak memory in bytes and differences of one run in its own process."""
    words = [sys.executable, __file__, "--run", what, str(left), str(right)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run(what: str, left: Path, right: Path) -> dict[str, float]:
    """One run in this process."""
    started = time.process_time()  # of all threads: other work on the machine does not count
    found = read(left) + read(right) if what == "read" else _differences(left, right)
    seconds = time.process_time() - started
    return {"seconds": seconds, "peak": peak_memory(), "found": found}


def _differences(left: Path, right: Path) -> int:
    report = diff(left, right)
    assert not report.files[0].unreadable, report.files[0].unreadable
    return sum(one.count for one in report.findings)


def measure(folder: Path, rows: int) -> Iterator[Line]:
    """The figures for so many tasks."""
    left, right = write_both(folder, rows)
    reading = min(measured("read", left, right)["seconds"] for _ in range(REPEATS))
    against = f"reading both {reading:.2f} s"
    for what, other, expected in (
        ("the same rows", left, 0),
        ("other numbers and order", right, 3),
    ):
        runs = [measured("diff", left, other) for _ in range(REPEATS)]
        assert all(one["found"] == expected for one in runs), runs
        seconds = min(one["seconds"] for one in runs)
        yield Line(f"diff, {what}, {rows:,} tasks", seconds / reading, TIMES, "x", True, against)
        peak = max(one["peak"] for one in runs) / MEBIBYTE
        yield Line("peak memory of it", peak, MEMORY, "MB", True, "fixed bound")


def main() -> int:
    """Run everything; 1 when a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--run", nargs=3, metavar=("WHAT", "A", "B"))
    asked = parser.parse_args()
    if asked.run:
        what, left, right = asked.run
        print(json.dumps(run(what, Path(left), Path(right))))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        lines = list(measure(asked.folder or Path(temporary), asked.rows))
    show(lines)
    return int(not all(line.holds for line in lines))


if __name__ == "__main__":
    sys.exit(main())
