"""Speed and memory of writing timelines, against the standard library's json in the same run.

    python benchmarks/text_timeline.py [--folder DIR]

Needs about 2 GB of memory, since the standard library holds every event, and 1 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lines import Line, best, show
from peak import peak_memory

from ascend_ref.profile import write_pytorch_profile
from ascend_ref.recorded import Recorded, from_captures, from_database
from ascend_ref.timeline import write_timeline
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override
from ascend_spec import catalog

PRESET = "dense-8"
STEPS = 144
"""So many steps of one rank make a timeline of about a million events."""
MEGABYTE = 1_000_000
LARGER = 5


def recording(steps: int = STEPS) -> Recorded:
    """A recording of the framework with about 7,000 events a step."""
    run = simulate(override(named(PRESET), ranks=None, steps=steps, level=None))
    return from_captures([run.capture(0)], "pytorch")


def database(folder: Path, steps: int) -> Path:
    """The same recording as a database."""
    run = simulate(override(named(PRESET), ranks=None, steps=steps, level=None))
    newest = catalog().revisions[-1].id
    profile = write_pytorch_profile(folder / str(steps), run.capture(0), newest)
    (path,) = profile.rglob("ascend_pytorch_profiler_*.db")
    return path


def measure_speed(folder: Path) -> Iterator[Line]:
    """Writing a million events, against ``json.dump`` of the events that were written."""
    recorded = recording()
    (path,) = write_timeline(recorded, folder)
    ours = best(lambda: write_timeline(recorded, folder))
    with path.open(encoding="utf-8") as file:
        events = json.load(file)
    copy = folder / "dumped.json"

    def dump() -> None:
        with copy.open("w", encoding="utf-8") as file:
            json.dump(events, file, ensure_ascii=False)

    theirs = best(dump, 1)
    assert copy.read_bytes() == path.read_bytes(), "the same text"
    rate = len(events) / ours / MEGABYTE
    against = f"json.dump {theirs:.1f} s, ours {ours:.2f} s, {rate:.2f} M events/s"
    yield Line(f"timeline: write {len(events):,} events", theirs / ours, 3, "x", False, against)


def measure_memory(folder: Path) -> Iterator[Line]:
    """What a process holds that reads a database and writes its timeline."""
    peaks = [_peak(database(folder, times * STEPS), folder) for times in (1, LARGER)]
    for peak, events in peaks:
        what = f"timeline: memory, {events:,} events"
        yield Line(what, peak / MEGABYTE, 500, "MB", True, "database to trace_view.json")


def _peak(path: Path, folder: Path) -> tuple[int, int]:
    """Peak memory in Byte, and the number of events."""
    command = [sys.executable, __file__, "--child", str(path), "--folder", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(done[0]), int(done[1])


def _child(path: Path, folder: Path) -> None:
    (written,) = write_timeline(from_database(path), folder)
    peak = peak_memory()
    events = 0
    with written.open("rb") as file:
        # A block may end within the key, so the search goes on with its last bytes.
        rest = b""
        while block := file.read(MEGABYTE):
            events += (rest + block).count(b'"ph"')
            rest = block[-3:]
    print(peak, events)


def measure(folder: Path) -> Iterator[Line]:
    """Every figure."""
    yield from measure_speed(folder)
    yield from measure_memory(folder)


def main() -> int:
    """Print the figures; 1 where one misses its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        _child(arguments.child, arguments.folder)
        return 0
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        lines = list(measure(Path(folder)))
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
