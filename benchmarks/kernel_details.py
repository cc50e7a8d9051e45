"""Time from a database to kernel_details.csv, as a ratio against msprof-analyze in one run.

    python benchmarks/kernel_details.py [--events 2800000] [--pairs 1] [--folder DIR]

Events are tasks of devices, of steps of llm-inference, with their counters. Times are those of
processors, of whole processes: they do not grow with what else a machine does. msprof-analyze
writes api_statistic.csv as well, but it knows no steps. Needs half a gigabyte of disk and two of
memory for each million of events.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lines import Line, processor_seconds, show

from ascend_ref.profile.write import write_pytorch_profile
from ascend_simulator.run import simulate
from ascend_simulator.scenario import Scenario, override, preset
from ascend_spec import catalog

EVENTS = 2_800_000
BOUND = 5
CHILD = """
import sys
from pathlib import Path

from ascend_ref.recorded import from_database
from ascend_ref.text.write import write_csv_files

database, folder = map(Path, sys.argv[1:])
folder.mkdir()
write_csv_files(from_database(database), folder, files=["kernel_details"])
"""
NAME = "kernel_details.csv"


def profile(folder: Path, wanted: int) -> tuple[Path, int]:
    """A profile of the framework with a database of so many tasks, or a few more."""
    few = simulate(_steps(1)).capture(0)
    steps = -(-wanted // len(few.tasks))
    capture = simulate(_steps(steps)).capture(0)
    revision = catalog().revisions[-1].id
    return write_pytorch_profile(folder, capture, revision), len(capture.tasks)


def _steps(count: int) -> Scenario:
    return override(preset("llm-inference"), ranks=None, steps=count, level=None)


def rows_of(path: Path) -> int:
    """How many rows a CSV file has below its head."""
    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def measure(folder: Path, events: int, pairs: int) -> Iterator[Line]:
    """Both on the same database, in turn; the middle one of the ratios."""
    made, tasks = profile(folder / "profiles", events)
    (database,) = made.rglob("ascend_pytorch_profiler*.db")
    tool = Path(sys.executable).with_name("msprof-analyze")
    ratios = []
    for pair in range(pairs):
        target, results = folder / f"ours_{pair}", folder / f"theirs_{pair}"
        ours = processor_seconds([sys.executable, "-c", CHILD, str(database), str(target)])
        words = ["cluster", "-m", "export_summary", "-d", str(made.parent), "-o", str(results)]
        theirs = processor_seconds([str(tool), *words, "--force"])
        ratios.append(theirs / ours)
        (exported,) = (path for path in made.rglob(NAME))
        assert rows_of(exported) == rows_of(target / NAME)
        exported.unlink()
    middle = sorted(ratios)[len(ratios) // 2]
    what = f"kernel_details: {tasks:,} events of a database"
    yield Line(what, middle, BOUND, "x", False, "msprof-analyze, processor time")


def main() -> None:
    """Print the figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        show(list(measure(Path(folder), given.events, given.pairs)))


if __name__ == "__main__":
    main()
