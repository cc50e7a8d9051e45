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
from collections.abc import Iterator
from pathlib import Path

import workload
from db_load import compare_load
from lines import REPEATS, Line, best, show
from python_rules import compare_with_python_loop

from ascend_ref.db.open import open_readonly, quick_check
from ascend_ref.db.writer import write_database
from ascend_ref.migrate.database import migrate_database
from ascend_spec import catalog

MEBIBYTE = 1 << 20


def database(folder: Path, rows: int) -> Path:
    """The benchmark's database of this many tasks, written once."""
    path = folder / f"msprof_{rows:014d}.db"
    if not path.exists():
        write_database(path, workload.schema(), workload.tables(rows))
    return path


CHECK = Path(__file__).with_name("db_check.py")


def check_in_process(path: Path, *words: str) -> dict[str, float]:
    """Time, peak memory in bytes and findings of one check in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(CHECK), str(path), *words], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    assert not found["unreadable"], found
    assert not found["findings"], found
    return found


def measure_check(folder: Path, rows: int) -> Iterator[Line]:
    """Checks against SQLite's own quick_check of the same file: with and without relations."""
    path = database(folder, rows)
    connection = open_readonly(path)
    quick = best(lambda: quick_check(connection))
    connection.close()
    against = f"quick_check {quick:.2f} s"
    alone = min(check_in_process(path, "without-relations")["seconds"] for _ in range(REPEATS))
    what = f"check without relations, {rows:,} tasks"
    yield Line(what, alone / quick, 6, "x", True, against)
    runs = [check_in_process(path) for _ in range(REPEATS)]
    seconds = min(run["seconds"] for run in runs)
    yield Line(f"check, all rules, {rows:,} tasks", seconds / quick, 12, "x", True, against)
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


def measure_migrate(folder: Path, rows: int) -> Iterator[Line]:
    """Rows a second of a migration, indexes included, against the bulk load without any."""
    tables, schema = workload.tables(rows), workload.schema()
    source, older, newer = (folder / f"{name}.db" for name in ("loaded", "older", "newer"))
    load = best(lambda: write_database(source, schema, tables, indexes=False), 2)
    write_database(source, schema, tables)
    for what, old, new, revision in (
        ("down", source, older, "1.0.0"),
        ("up", older, newer, workload.REVISION),
    ):
        seconds = best(lambda: _migrate(old, new, revision), 2)  # noqa: B023 - called at once
        against = f"bulk load {load:.1f} s"
        yield Line(f"migrate {what}, 3 x {rows:,} rows", load / seconds, 0.4, "x", False, against)


def _migrate(old: Path, new: Path, revision: str) -> None:
    new.unlink(missing_ok=True)
    migrate_database(old, catalog().revision(revision), new)


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
            *measure_migrate(folder, given.rows),
            *measure_load(folder, given.rows),
        ]
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
