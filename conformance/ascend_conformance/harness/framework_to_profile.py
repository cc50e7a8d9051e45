"""The stage from a raw profile of the framework to what torch_npu makes of it."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from ascend_ref.profile.raw import export_raw
from ascend_spec import layout_catalog

from ..difference import databases, texts
from ..difference.files import File, tables_below, texts_below
from ..difference.pairing import Difference
from .case import Case
from .writing import write_profile

FORMATS = ("pytorch-raw", "pytorch-db", "pytorch-text")


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: its raw profile below ``input``, what is true of it below ``expected``.

    The truth is written from the recording itself, as far as raw files hold it. There is one
    generation of ``writer``.
    """
    profile = write_profile(case, folder / "run", FORMATS)
    shutil.move(profile / layout_catalog().folder("pytorch", "output"), folder / "expected")
    (folder / "input").mkdir()
    shutil.move(profile, folder / "input" / profile.name)
    shutil.rmtree(folder / "run")


def can_be_drawn(case: Case) -> bool:
    """Whether there is a raw profile of a case, the framework's profiler has it, and its files say
    when it was: the end says so where no device was recorded (:func:`base_time`). The profiler
    exports counters of the SoC with its option ``l2_cache`` alone.
    """
    one = case.scenario
    has_times = one.capture.npu or all(fault.kind != "abnormal-end" for fault in one.faults)
    has_counters = one.capture.l2 or not one.capture.soc_pmu
    return case.output == "pytorch" and one.capture.cpu and has_times and has_counters


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
