"""The stage from a raw profile of the framework to what torch_npu makes of it."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from ascend_ref.profile.raw import export_raw
from ascend_ref.raw import find_folders
from ascend_simulator import write_run
from ascend_spec import layout_catalog, raw_catalog

from . import databases, texts
from .case import Case
from .files import File, tables_below, texts_below
from .pairing import Difference

FORMATS = ("pytorch-raw", "pytorch-db", "pytorch-text")


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: its raw profile below ``input``, what is true of it below ``expected``.

    The truth is written from the recording itself, as far as raw files hold it. Of several profiles
    the last is taken: its rank and device are not 0. There is one generation of ``writer``.
    """
    run = write_run(case.scenario, case.seed, folder / "run", FORMATS)
    profile = run.profiles[-1]
    shutil.move(profile / layout_catalog().folder("pytorch", "output"), folder / "expected")
    (folder / "input").mkdir()
    shutil.move(profile, folder / "input" / profile.name)
    shutil.rmtree(folder / "run")


def can_be_drawn(case: Case) -> bool:
    """Whether there is a raw profile of a case: the framework's profiler has it."""
    return case.output == "pytorch" and case.scenario.capture.cpu


def files(folder: Path) -> Sequence[File]:
    """The text deliverables in a folder and below, and the tables of its databases."""
    return [*texts_below(folder), *tables_below(folder)]


def differences(
    left: Sequence[File],
    right: Sequence[File],
    features: Collection[str] | None = None,
    sides: tuple[str, str] = ("the truth", "the exporter"),
) -> list[Difference]:
    """What the texts and the tables of two sides do not agree in."""
    found = texts.differences(left, right, features, sides, numbered=("connection_id",))
    return found + databases.differences(left, right, features, sides)


def reference(source: Path, target: Path) -> None:
    """Our own export of a raw profile."""
    export_raw(source, target / "profile")


def operators(folder: Path) -> int:
    """How many operators of the device the input of a case holds."""
    (source,) = (folder / "input").iterdir()
    found = find_folders(source)
    size = raw_catalog().record_size("NODE_BASIC_INFO") or 1
    slices = [part for one in found for part in one.files.get("node_basic_info", ())]
    return sum(one.path.stat().st_size // size for one in slices)
