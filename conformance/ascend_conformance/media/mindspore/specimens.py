"""Clean folders on which the rules are tried: simulated jobs with what parsers make of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.parse.parse import parse
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

SPECIMENS: Mapping[str, tuple[str, str]] = {
    "G1": ("mindspore-raw", "2020-07-05"),
    "G1, at first": ("mindspore-raw", "2020-06-20"),
    "G2": ("mindspore-raw", "2021-12-16"),
    "G3": ("mindspore-raw", "2023-07-02"),
    "GPU": ("mindspore-gpu", "2021-12-16"),
}
"""By the name of the subject, what is simulated of which day."""

PRESET = "cnn-910a"
SEED = 3


def write_specimen(subject: str, folder: Path) -> Path:
    """Write a small clean folder, of the first rank; raises ``KeyError`` for an unknown subject."""
    form, day = SPECIMENS[subject]
    scenario = override(preset(PRESET), ranks=2, steps=3)
    run = write_run(scenario, SEED, folder / "run", (form,), generation=day).folder
    captures = sorted(find_captures(run), key=lambda one: (one.device, str(one.path)))
    job = folder / captures[0].path.name
    shutil.move(captures[0].path, job)
    made = folder / "made"
    parse(job, made, day)
    for path in made.iterdir():
        if not (job / path.name).exists():
            shutil.move(path, job / path.name)
    shutil.rmtree(made)
    shutil.rmtree(run, ignore_errors=True)
    return job
