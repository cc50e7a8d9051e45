"""The stage from the raw files of a process to CSV files and timelines."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.profile.raw import export_raw
from ascend_ref.raw import find_folders
from ascend_ref.raw.vocabulary import level, numbered
from ascend_spec import layout_catalog, raw_catalog
from ascend_spec.core.packed import dtype_of

from ..difference import texts
from ..difference.files import texts_below
from .case import Case
from .writing import write_profile

FORMATS = ("raw", "csv", "timeline")
KINDS = ("csv", "timeline")
SLICES = 11
"""Files that records of one kind are cut into: with numbers of one and of two digits."""


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: its raw files below ``input``, what is true of them below ``expected``.

    The truth is written from the recording itself, as far as raw files hold it. Its records stand
    in several slices, as those of long collections do.
    """
    make_raw(case, folder, FORMATS, lambda below: [one.path for one in texts_below(below)], writer)
    profile = next((folder / "input").iterdir())
    shutil.rmtree(profile / layout_catalog().folder("msprof", "output"))


def make_raw(
    case: Case,
    folder: Path,
    formats: Sequence[str],
    written: Callable[[Path], Collection[Path]],
    writer: str | None = None,
) -> None:
    """The same for any formats; ``written`` gives the files of a profile that are the truth."""
    profile = write_profile(case, folder / "run", formats, writer)
    expected = folder / "expected"
    expected.mkdir()
    for one in written(profile):
        shutil.move(one, expected / one.name)
    cut_into_slices(profile)
    (folder / "input").mkdir()
    shutil.move(profile, folder / "input" / profile.name)
    shutil.rmtree(folder / "run")


def cut_into_slices(profile: Path) -> None:
    """Cut every file of records in a folder of raw files between two records."""
    for folder in find_folders(profile):
        for kind, slices in folder.files.items():
            file = raw_catalog().files[kind]
            sizes = [raw_catalog().record_size(one.record) for one in file.members]
            if file.sliced and sizes and None not in sizes:
                for one in slices:
                    _cut(one.path, lcm(*(size or 1 for size in sizes)))


def _cut(path: Path, size: int) -> None:
    content = path.read_bytes()
    step = -(-len(content) // (size * SLICES)) * size
    stem = path.name.rpartition("_")[0]
    for number, start in enumerate(range(0, len(content), step or 1)):
        path.with_name(f"{stem}_{number}").write_bytes(content[start : start + step])


def can_be_drawn(case: Case) -> bool:
    """Whether there are raw files of a case: CANN's profiler has them."""
    return case.output == "msprof" and case.scenario.capture.npu


def reference(source: Path, target: Path) -> None:
    """Our own export of raw files."""
    export_raw(source, target / "text", KINDS)


differences = partial(texts.differences, numbered=("connection_id",))
"""The comparison of texts; how calls are numbered is the exporter's choice (raw-prof 7.2)."""


def operators(folder: Path) -> int:
    """How many operators the input of a case holds: how often the host launched a node, such as a
    kernel or a collective; where it launched none, how many tasks there are.
    """
    calls = _records(folder, "api_event", "API_EVENT")
    of_nodes = calls["level"] == level("NODE")
    launches = of_nodes & (calls["type"] == numbered("node_types")["launch"])
    return int(launches.sum()) or len(_records(folder, "task_track", "TASK_TRACK"))


def _records(folder: Path, kind: str, record: str) -> npt.NDArray[Any]:
    (source,) = (folder / "input").iterdir()
    slices = [one.path for found in find_folders(source) for one in found.files.get(kind, ())]
    content = b"".join(one.read_bytes() for one in slices)
    layout = dtype_of(raw_catalog().record(record))
    return np.frombuffer(content[: len(content) // layout.itemsize * layout.itemsize], layout)
