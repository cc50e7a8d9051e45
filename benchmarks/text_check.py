"""Reading and checking timelines, against json.load of the same file in the same run.

    python benchmarks/text_check.py [--folder DIR]

Needs 3 GB of memory, since the standard library holds every event, and 2 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lines import REPEATS, Line, best, show
from text_timeline import STEPS, recording

from ascend_ref.timeline import write_timeline

MEGABYTE = 1_000_000
LARGER = 4
"""How many times as many events the larger file has."""

CHILD = Path(__file__).with_name("text_child.py")


def timeline(folder: Path, steps: int = STEPS) -> Path:
    """A clean trace_view.json of about 7,000 events a step."""
    target = folder / str(steps) / "ASCEND_PROFILER_OUTPUT"
    target.mkdir(parents=True)
    (path,) = write_timeline(recording(steps), target)
    return path


def checked(path: Path, *words: str) -> dict[str, Any]:
    """What one check of a file in a process of its own took and found."""
    done = subprocess.run(
        [sys.executable, str(CHILD), str(path), *words], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["unreadable"] is None
    assert found["violations"] == 0, found
    return found


def measure(folder: Path) -> Iterator[Line]:
    """Every figure."""
    path = timeline(folder)
    theirs = best(lambda: json.loads(path.read_bytes()))
    for words, bound in ((("without-relations",), 1.4), ((), 1.0)):
        runs = [checked(path, *words) for _ in range(REPEATS)]
        small = min(runs, key=lambda one: float(one["seconds"]))
        size = path.stat().st_size / MEGABYTE
        against = f"json.load {theirs:.2f} s, ours {small['seconds']:.2f} s, {size:.0f} MB"
        what = f"timeline: read and check {small['events']:,}"
        what += ", no relations" if words else ""
        yield Line(what, theirs / small["seconds"], bound, "x", False, against)
    large = checked(timeline(folder, LARGER * STEPS))
    for one in (small, large):
        what = f"timeline: memory, {one['events']:,} checked"
        yield Line(what, one["peak"] / MEGABYTE, 500, "MB", True, f"{one['seconds']:.2f} s")


def main() -> int:
    """Print the figures; 1 where one misses its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path)
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as folder:
        lines = list(measure(Path(folder)))
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
