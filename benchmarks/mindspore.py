"""Speed and memory of MindSpore's operator chain, as ratios against alternatives in one run.

    python benchmarks/mindspore.py JOB [--megabytes 256] [--folder DIR]

JOB is a folder with one log of the scheduler and the tasks of the framework, as the real JOB3 of
MindInsight. The log is repeated with later and later counters up to the size.
"""

from __future__ import annotations

import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from lines import Line, best, show

from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.parse.framework import framework_of
from ascend_ref.mindspore.parse.hwts import HWTS, read_hwts
from ascend_ref.mindspore.parse.operators import OperatorTimes, TaskTable
from ascend_ref.mindspore.parse.pairing import executions
from ascend_ref.mindspore.parse.run import Run
from ascend_ref.mindspore.raw.records import layout_of
from ascend_ref.raw.fields import opaque

DAY = "2020-07-01"
MILLION = 1_000_000
SLICE = 1 << 26
"""Bytes of a slice, which ends anywhere within a record."""

TURNS = 5

CHILD = """
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from peak import peak_memory

from ascend_ref.mindspore.parse.parse import parse

started = time.perf_counter()
parse(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
print(peak_memory(), time.perf_counter() - started)
"""


def repeated(job: Path, folder: Path, size: int) -> int:
    """A job whose log is that of another over and over; how many records it has."""
    (capture,) = find_captures(job)
    log = capture.files[HWTS].slices[0].path
    for path in job.iterdir():
        if path != log and path.name.startswith("Framework"):
            shutil.copy(path, folder)
    content = log.read_bytes()
    layout = layout_of(HWTS, DAY)
    rows = np.frombuffer(content, np.uint8).reshape(-1, layout.size).copy()
    records = layout.view(0, rows)
    length = records["syscnt"][-1] - records["syscnt"][0] + np.uint64(1)
    times = -(-size // len(content))
    stem, number, rest = log.name.rpartition("_")[0] + "_", 0, b""
    for _ in range(times):
        rest += opaque(records).tobytes()
        records["syscnt"] += length
        if len(rest) > SLICE:
            (folder / f"{stem}{number}").write_bytes(rest[: SLICE + 13])
            rest, number = rest[SLICE + 13 :], number + 1
    (folder / f"{stem}{number}").write_bytes(rest)
    return times * len(rows)


def decoded(run: Run) -> int:
    """Every record with all checks; how many there are."""
    return sum(len(one) for one in read_hwts(run, []))


def joined(run: Run) -> int:
    """The executions of operators with their times; how many there are."""
    framework = framework_of(run)
    assert framework is not None
    tasks = TaskTable(framework.names, run.way("task_key"))
    times = OperatorTimes(len(tasks.operators), run.way("executions"))
    known = (tasks.known(one) for one in read_hwts(run, []))
    return sum(len(times.add(one)) for one in executions(known, run.way("execution")))


def plain(run: Run, most: int) -> int:
    """The same, record by record, of so many records at most."""
    framework = framework_of(run)
    assert framework is not None
    names, number, found = framework.names, 0, 0
    sums: dict[str, float] = {}
    begun: tuple[str, int] | None = None
    log = run.slices(HWTS)
    assert log is not None
    content = log[0].path.read_bytes()
    whole = memoryview(content)[: len(content) // 64 * 64]
    for head, _, _, _, task, tick, stream in struct.iter_unpack("<BBHHHQI44x", whole):
        number += 1
        if number > most:
            break
        name = names.get(f"{task}" if task >= 25_000 else f"{stream}_{task}")
        kind = head & 7
        if name is None or kind > 1:
            continue
        if kind == 0:
            begun = name, tick
        else:
            if begun is not None and begun[0] == name:
                sums[name] = sums.get(name, 0.0) + (tick - begun[1]) / 1e5
                found += 1
            begun = None
    return found


def in_turn(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """The least processor seconds of two actions, which take turns: others disturb both alike."""
    times: list[list[float]] = [[], []]
    for _ in range(TURNS):
        for action, own in zip((first, second), times, strict=True):
            started = time.process_time()
            action()
            own.append(time.process_time() - started)
    return min(times[0]), min(times[1])


def measure(job: Path, folder: Path, size: int) -> Iterator[Line]:
    """All figures."""
    target = folder / "JOB"
    target.mkdir()
    count = repeated(job, target, size)
    (capture,) = find_captures(target)
    run = Run(capture, DAY, folder)
    assert decoded(run) == count
    ours = best(lambda: decoded(run))
    yield Line("hwts: records with checks", count / ours / MILLION, 20, "M/s", False, "none")
    some = min(count, MILLION)
    ours, slow = in_turn(lambda: joined(run), lambda: plain(run, some))
    rate = f"struct and a dictionary, {some / slow / MILLION:.1f} M/s"
    yield Line("hwts: decode and join", count / ours / MILLION, 10, "M/s", False, "none")
    yield Line("hwts: decode and join", (slow / some) / (ours / count), 10, "x", False, rate)
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(target)]
    command += [str(folder / "out"), DAY]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    peak, seconds = done.stdout.split()
    what = f"parse: {count:,} records to text"
    yield Line(what, count / float(seconds) / MILLION, 0.5, "M/s", False, "none")
    yield Line(what, int(peak) / 1e6, 500, "MB", True, "fixed bound: the most held at once")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("job", type=Path)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        show(list(measure(arguments.job, Path(folder), arguments.megabytes * MILLION)))


if __name__ == "__main__":
    main()
