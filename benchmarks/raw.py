"""Speed of reading raw records and of exporting them, as ratios against alternatives in one run.

    python benchmarks/raw.py [--records 10000000] [--steps 60] [--msprof DIR] [--folder DIR]

``--steps`` of llm-inference are exported, 8,000 tasks each; msprof is that of a checkout of its
sources, where one is named. Needs about 1 GB of disk.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import construct
import numpy as np
import numpy.typing as npt
from lines import Line, best, show

from ascend_ref.profile.raw import export_raw
from ascend_ref.profile.write import write_msprof_outputs
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.layout import Layout, layout_of
from ascend_ref.raw.slices import read_blocks
from ascend_ref.raw.tree import Slice
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog, raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import DEVICE_MAGIC, MAGIC

SAMPLE = 20_000
MILLION = 1_000_000
SLICES = 7


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
    yield Line(f"{kind}: records with checks", rate, 20, "M/s", False, "none: one process")
    yield Line(f"{kind}: read", times, 200, "x", False, "construct, record by record")
    yield Line(f"{kind}: read", ours / floor, 15, "x", True, "np.fromfile, nothing checked")


def export(folder: Path, steps: int, msprof: Path | None) -> Iterator[Line]:
    """A raw folder to a database."""
    scenario = override(preset("llm-inference"), ranks=None, steps=steps, level=None)
    capture = raw_view(simulate(scenario).capture(0)).capture
    prof = folder / "PROF_1"
    write_raw(prof, capture)
    tasks = len(capture.tasks)

    def anew(action: Callable[[Path], object]) -> float:
        target = folder / "target"
        shutil.rmtree(target, ignore_errors=True)
        return best(lambda: action(target), 1)

    ours = anew(lambda target: export_raw(prof, target, ("db",)))
    revision = catalog().revisions[-1].id

    def load(target: Path) -> None:
        target.mkdir()
        write_msprof_outputs(target, capture, revision, ("db",))

    bare = anew(load)
    made_of = f"{tasks:,} tasks"
    yield Line(f"export: {made_of} to a database", ours / bare, 2.5, "x", True, "writing alone")
    if msprof is not None:
        script = msprof / "analysis" / "msprof" / "msprof.py"

        def theirs(target: Path) -> None:
            shutil.copytree(prof, target / "PROF_1")
            command = [sys.executable, str(script), "export", "summary", "-dir", str(target)]
            subprocess.run(command, check=True, capture_output=True)

        text = "msprof in Python, CSV files"
        yield Line(f"export: {made_of}", anew(theirs) / ours, 20, "x", False, text)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=10 * MILLION)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--msprof", type=Path)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        lines = list(measure(Path(folder), "api_event", "API_EVENT", arguments.records))
        lines += measure(Path(folder), "stars_soc", "STARS_LOG", arguments.records)
        lines += export(Path(folder), arguments.steps, arguments.msprof)
    show(lines)


if __name__ == "__main__":
    main()
