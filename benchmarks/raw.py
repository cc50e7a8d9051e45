"""Speed of reading raw records and of exporting them, as ratios against alternatives in one run.

    python benchmarks/raw.py [--records 10000000] [--tasks 5000000] [--events 2800000]
        [--samples 8000000] [--pairs 3] [--msprof DIR] [--folder DIR]

A tree of so many tasks is exported, which is 60 steps of llm-inference, of 8,000 tasks each, over
and over. msprof is that of a checkout of its sources, where one is named; it exports the 60 steps
once. Samples are those of cores during 20 of these steps, over and over. Events are those of
:mod:`kernel_details`. Exports are measured in processor time, in turn with what they are compared
with; the middle one of the ratios counts. Needs 1 GB of disk for each million of tasks, and as much
for temporary files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import construct
import numpy as np
import numpy.typing as npt
from kernel_details import EVENTS
from kernel_details import measure as kernel_details
from lines import Line, best, show
from raw_tree import repeat

from ascend_ref.capture import Capture
from ascend_ref.profile.raw import export_raw
from ascend_ref.profile.write import write_msprof_outputs
from ascend_ref.raw.cores import LOAD
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.encode.tree import SLICE
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.fields import bits_of, numbers, put
from ascend_ref.raw.layout import Layout, layout_of
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import read_blocks, write_slices
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog, raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import DEVICE_MAGIC, MAGIC

SAMPLE = 20_000
MILLION = 1_000_000
SLICES = 7
STEPS = 60
SAMPLED_STEPS = 20
SAMPLES_FILE = "ffts_profile"
PAIRS = 3
ALONE = "none: one process"
BOUND = "fixed bound: the most that it held at once"
CHILD = """
import os
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from peak import peak_memory

from ascend_ref.profile.raw import export_raw

export_raw(Path(sys.argv[2]), Path(sys.argv[3]), ("db",))
print(peak_memory(), sum(os.times()[:2]))
"""


def made(record: str, count: int) -> npt.NDArray[Any]:
    """Sound records, by turns of the kinds of start and end."""
    index = np.arange(count, dtype=np.uint64)
    rows = np.zeros(count, dtype_of(raw_catalog().record(record)))
    if record == "API_EVENT":
        rows["magicNumber"] = MAGIC
        rows["level"] = 10_000
        rows["beginTime"] = 1 + 100 * index
        rows["endTime"] = rows["beginTime"] + 50
    else:
        rows["magic"] = DEVICE_MAGIC
        rows["head"] = index % 2 | index % 16 << 6
        rows["taskId"] = index // 2 % 65_536
        rows["timestamp"] = 1000 + 10 * index
    return rows


def write(folder: Path, rows: npt.NDArray[Any]) -> list[Slice]:
    """The records in slices that end anywhere within one."""
    content = memoryview(rows.tobytes())
    ends = [len(content) * part // SLICES + part for part in range(SLICES)]
    slices = []
    for number, (begin, end) in enumerate(zip(ends, [*ends[1:], len(content)], strict=True)):
        path = folder / f"{rows.dtype.itemsize}.slice_{number}"
        path.write_bytes(content[begin if number else 0 : end])
        slices.append(Slice(path, number, ()))
    return slices


def write_numbers(
    folder: Path, kind: str, dtype: np.dtype[Any], columns: dict[str, npt.NDArray[np.int64]]
) -> None:
    """The slices of records whose fields, and parts of fields, are columns of numbers."""
    file = raw_catalog().files[kind]
    declaration = raw_catalog().record(file.members[0].record)
    rows = np.zeros(len(next(iter(columns.values()))), dtype)
    for name, column in columns.items():
        put(declaration, rows, name, column)
    write_slices(folder, file.name, rows, SLICE, age="unaging", device=0)


def is_written(folder: Path, content: memoryview) -> bool:
    """Whether the slices in a folder are this content, one after the other."""
    place = 0
    for path in sorted(folder.iterdir(), key=lambda one: int(one.name.rpartition("_")[2])):
        part = path.read_bytes()
        if content[place : place + len(part)] != part:
            return False
        place += len(part)
    return place == len(content)


def columns_of(declaration: construct.Struct, rows: npt.NDArray[Any]) -> dict[str, Any]:
    """Every named field of records, or each part of the bits of one."""
    names = (one.name for one in declaration.subcons if one.name)
    fields = ((name, bits_of(getattr(declaration, name))) for name in names)
    every = [part for name, parts in fields for part in parts or (name,)]
    return {name: numbers(declaration, name, rows) for name in every}


def read(slices: list[Slice], layout: Layout) -> int:
    """Every record with all checks, sorted by kind; how many there are."""
    damage: list[Damage] = []
    number = 0
    for block in read_blocks(slices, layout, "device", damage):
        number += sum(int(np.count_nonzero(mask)) for mask in layout.split(block.rows))
    assert not damage
    return number


def bare(slices: list[Slice], dtype: np.dtype[Any]) -> int:
    """The same bytes, looked at by nobody."""
    return sum(len(np.fromfile(one.path, np.uint8)) for one in slices) // dtype.itemsize


def measure(folder: Path, kind: str, record: str, count: int) -> Iterator[Line]:
    """Reading one kind of file."""
    rows = made(record, count)
    slices = write(folder, rows)
    layout = layout_of(raw_catalog().files[kind], 5, {})
    assert read(slices, layout) == count
    ours = best(lambda: read(slices, layout))
    floor = best(lambda: bare(slices, rows.dtype))
    content = rows[:SAMPLE].tobytes()
    declaration = raw_catalog().record(record)
    slow = best(lambda: construct.Array(SAMPLE, declaration).parse(content), 1)
    rate = count / ours / MILLION
    times = (slow / SAMPLE) / (ours / count)
    yield Line(f"{kind}: records with checks", rate, 20, "M/s", False, ALONE)
    yield Line(f"{kind}: read", times, 200, "x", False, "construct, record by record")
    yield Line(f"{kind}: read", ours / floor, 15, "x", True, "np.fromfile, nothing checked")
    columns = columns_of(declaration, rows)
    target = folder / f"{kind}.encoded"
    target.mkdir()
    ours = best(lambda: write_numbers(target, kind, rows.dtype, columns))
    assert is_written(target, memoryview(rows.tobytes()))
    parsed = construct.Array(SAMPLE, declaration).parse(content)
    slow = best(lambda: construct.Array(SAMPLE, declaration).build(parsed), 1)
    times = (slow / SAMPLE) / (ours / count)
    yield Line(f"{kind}: records written", count / ours / MILLION, 20, "M/s", False, ALONE)
    yield Line(f"{kind}: write", times, 200, "x", False, "construct, record by record")


def tree(prof: Path, steps: int, *, is_sampled: bool = False) -> Capture:
    """Write the raw files of steps; what they hold. is_sampled: cores are, not their tasks."""
    scenario = override(preset("llm-inference"), ranks=None, steps=steps, level=None)
    if is_sampled:
        scenario = replace(scenario, capture=replace(scenario.capture, aic_mode="sample-based"))
    capture = raw_view(simulate(scenario).capture(0)).capture
    write_raw(prof, capture)
    return capture


def anew(folder: Path, action: Callable[[Path], object]) -> float:
    """Seconds of an action that writes a folder."""
    target = folder / "target"
    shutil.rmtree(target, ignore_errors=True)
    return best(lambda: action(target), 1)


def in_child(prof: Path, target: Path) -> tuple[float, float]:
    """Export in a process of its own: the MB that it held at once, its processor seconds."""
    shutil.rmtree(target, ignore_errors=True)
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(prof), str(target)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    peak, seconds = done.stdout.split()
    return int(peak) / 1e6, float(seconds)


def against_msprof(folder: Path, prof: Path, tasks: int, msprof: Path) -> Line:
    """A raw folder to a database, and to msprof's CSV files."""
    script = msprof / "analysis" / "msprof" / "msprof.py"

    def theirs(target: Path) -> None:
        shutil.copytree(prof, target / "PROF_1")
        command = [sys.executable, str(script), "export", "summary", "-dir", str(target)]
        subprocess.run(command, check=True, capture_output=True)

    ours = anew(folder, lambda target: export_raw(prof, target, ("db",)))
    times = anew(folder, theirs) / ours
    return Line(f"export: {tasks:,} tasks", times, 20, "x", False, "msprof in Python, CSV files")


def export(folder: Path, wanted: int, pairs: int, msprof: Path | None) -> Iterator[Line]:
    """A raw folder to a database, against writing the same tables without reading them."""
    prof, target = folder / "PROF_1", folder / "target"
    tasks = len(tree(prof, STEPS).tasks)
    if msprof is not None:
        yield against_msprof(folder, prof, tasks, msprof)
    times = -(-wanted // tasks)
    repeat(prof, times)
    (found,) = read_raw(prof)
    assert not found.damage
    assert len(found.capture.tasks) == times * tasks
    revision = catalog().revisions[-1].id
    peaks, ratios = [], []
    for _ in range(pairs):
        peak, seconds = in_child(prof, target)
        shutil.rmtree(target)
        target.mkdir()
        before = os.times()
        write_msprof_outputs(target, found.capture, revision, ("db",), spill=found.spill)
        after = os.times()
        bare = after.user + after.system - before.user - before.system
        peaks.append(peak)
        ratios.append(bare / seconds)
    what = f"export: {times * tasks:,} tasks to a database"
    middle = sorted(ratios)[len(ratios) // 2]
    against = f"rate of writing alone, {bare:.0f} s; {min(ratios):.2f} to {max(ratios):.2f}"
    yield Line(what, middle, 0.4, "x", False, against)
    yield Line(what, max(peaks), 500, "MB", True, BOUND)


def export_samples(folder: Path, wanted: int) -> Line:
    """A raw folder with samples of its cores to a database."""
    prof = folder / "PROF_2"
    capture = tree(prof, SAMPLED_STEPS, is_sampled=True)
    samples = len(capture.samples[LOAD]["timestampNs"])
    times = -(-wanted // samples)
    repeat(prof, times, {SAMPLES_FILE})
    peak, _ = in_child(prof, folder / "target")
    what = f"export: {times * samples:,} samples of cores to a database"
    return Line(what, peak, 500, "MB", True, BOUND)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=10 * MILLION)
    parser.add_argument("--tasks", type=int, default=5 * MILLION)
    parser.add_argument("--samples", type=int, default=8 * MILLION)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--msprof", type=Path)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        lines = list(measure(Path(folder), "api_event", "API_EVENT", arguments.records))
        lines += measure(Path(folder), "stars_soc", "STARS_LOG", arguments.records)
        lines += export(Path(folder), arguments.tasks, arguments.pairs, arguments.msprof)
        lines.append(export_samples(Path(folder), arguments.samples))
        lines += kernel_details(Path(folder), arguments.events, arguments.pairs)
    show(lines)


if __name__ == "__main__":
    main()
