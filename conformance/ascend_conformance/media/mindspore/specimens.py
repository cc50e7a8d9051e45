"""Clean folders on which the rules are tried: simulated jobs with what parsers make of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.parse.parse import parse
from ascend_ref.mindspore.parse.shares import Shared
from ascend_simulator.choices import HardwareChoice, Parallelism, Scenario
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import mindspore_catalog

Side = Literal["raw files", "intermediate files", "both", "next to each other"]

PRESET, PIPELINE = "cnn-910a", "dense-pipeline"

SPECIMENS: Mapping[str, tuple[str, str, str]] = {
    "G1": ("mindspore-raw", "2020-07-05", PRESET),
    "G1, at first": ("mindspore-raw", "2020-06-20", PRESET),
    "G2": ("mindspore-raw", "2021-12-16", PRESET),
    "G2, a stage": ("mindspore-raw", "2021-12-16", PIPELINE),
    "G3": ("mindspore-raw", "2023-07-02", PRESET),
    "G3m, each iteration": ("mindspore-raw", "2023-10-15", PRESET),
    "G3m": ("mindspore-raw", "2025-06-02", PRESET),
    "GPU": ("mindspore-gpu", "2021-12-16", PRESET),
}
"""By the name of the subject, what is simulated of which day."""
SEED = 3


def write_specimen(subject: str, folder: Path) -> Mapping[Side, Path]:
    """Write small clean folders, of the first rank: its raw files, what is made of them, both
    in one folder, and both in folders next to each other.

    Raises ``KeyError`` for an unknown subject.
    """
    form, day, name = SPECIMENS[subject]
    is_stage = name == PIPELINE
    scenario = override(_stages() if is_stage else preset(name), ranks=2, steps=3)
    shared = Shared("pipeline-parallel" if is_stage else "data-parallel")
    run = write_run(scenario, SEED, folder / "run", (form,), generation=day).folder
    captures = sorted(find_captures(run), key=lambda one: (one.device, str(one.path)))
    # The first stage of a pipeline computes while nothing is received.
    name = captures[-1 if is_stage else 0].path.name
    sides: dict[Side, Path] = {
        "raw files": folder / "raw" / name,
        "intermediate files": folder / "made" / "profiler",
        "both": folder / "both" / name,
        "next to each other": folder / "near" / "profiler",
    }
    raw, made, both, near = sides.values()
    shutil.copytree(captures[-1 if is_stage else 0].path, raw)
    parse(raw, made, day, shared=shared)
    for path in list(made.iterdir()):
        if mindspore_catalog().file_of(path.name) is not None:
            path.unlink()
    shutil.copytree(raw, both)
    shutil.copytree(made, both, dirs_exist_ok=True)
    shutil.copytree(made, near)
    shutil.copytree(raw, near.parent / name)
    shutil.rmtree(run)
    return sides


def _stages() -> Scenario:
    """A small pipeline on a device whose cores count."""
    found = preset(PIPELINE)
    model = replace(found.model, data_type="FLOAT16", layers=2, hidden=512, heads=8, microbatches=2)
    hardware = HardwareChoice(product="910A")
    return replace(found, hardware=hardware, model=model, parallelism=Parallelism(2, pipeline=2))
