"""Clean folders on which the rules are tried: simulated jobs with what parsers make of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.parse.parse import parse
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import mindspore_catalog

Side = Literal["raw files", "intermediate files", "both"]

SPECIMENS: Mapping[str, tuple[str, str]] = {
    "G1": ("mindspore-raw", "2020-07-05"),
    "G1, at first": ("mindspore-raw", "2020-06-20"),
    "G2": ("mindspore-raw", "2021-12-16"),
    "G3": ("mindspore-raw", "2023-07-02"),
    "G3m, each iteration": ("mindspore-raw", "2023-10-15"),
    "G3m": ("mindspore-raw", "2025-06-02"),
    "GPU": ("mindspore-gpu", "2021-12-16"),
}
"""By the name of the subject, what is simulated of which day."""

PRESET = "cnn-910a"
SEED = 3


def write_specimen(subject: str, folder: Path) -> Mapping[Side, Path]:
    """Write small clean folders, of the first rank: its raw files, what is made of them, and both.

    Raises ``KeyError`` for an unknown subject.
    """
    form, day = SPECIMENS[subject]
    scenario = override(preset(PRESET), ranks=2, steps=3)
    run = write_run(scenario, SEED, folder / "run", (form,), generation=day).folder
    captures = sorted(find_captures(run), key=lambda one: (one.device, str(one.path)))
    name = captures[0].path.name
    sides: dict[Side, Path] = {
        "raw files": folder / "raw" / name,
        "intermediate files": folder / "made" / "profiler",
        "both": folder / "both" / name,
    }
    raw, made, both = sides.values()
    shutil.copytree(captures[0].path, raw)
    parse(raw, made, day)
    for path in list(made.iterdir()):
        if mindspore_catalog().file_of(path.name) is not None:
            path.unlink()
    shutil.copytree(raw, both)
    shutil.copytree(made, both, dirs_exist_ok=True)
    shutil.rmtree(run)
    return sides
