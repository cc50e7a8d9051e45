"""The stage from the raw files of a process to CSV files and timelines."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from ascend_ref.profile.raw import export_raw
from ascend_ref.raw import find_folders
from ascend_simulator import write_run
from ascend_spec import layout_catalog, raw_catalog

from . import texts
from .case import Case
from .files import texts_below

FORMATS = ("raw", "csv", "timeline")
KINDS = ("csv", "timeline")


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: its raw files below ``input``, what is true of them below ``expected``.

    The truth is written from the recording itself, as far as raw files hold it. Of several
    profiles the last is taken: its ranks and devices are not 0.
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
    run = write_run(case.scenario, case.seed, folder / "run", formats, writer=writer)
    profile = run.profiles[-1]
    expected = folder / "expected"
    expected.mkdir()
    for one in written(profile):
        shutil.move(one, expected / one.name)
    (folder / "input").mkdir()
    shutil.move(profile, folder / "input" / profile.name)
    shutil.rmtree(folder / "run")


def can_be_drawn(case: Case) -> bool:
    """Whether there are raw files of a case: CANN's profiler has them."""
    return case.output == "msprof" and case.scenario.capture.npu


def reference(source: Path, target: Path) -> None:
    """Our own export of raw files."""
    export_raw(source, target / "text", KINDS)


differences = partial(texts.differences, numbered=("connection_id",))
"""The comparison of texts; how calls are numbered is the exporter's choice (raw-prof 7.2)."""


def operators(folder: Path) -> int:
    """How many operators the input of a case holds."""
    size = raw_catalog().record_size("NODE_BASIC_INFO") or 1
    (source,) = (folder / "input").iterdir()
    slices = [
        one for found in find_folders(source) for one in found.files.get("node_basic_info", ())
    ]
    return sum(one.path.stat().st_size // size for one in slices)
