"""Clean folders on which the rules are tried: simulated captures of small runs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ascend_simulator.ge.host_text import write_host_text
from ascend_simulator.run import simulate, write_run
from ascend_simulator.scenario import override, preset

from .rules import TEXT

SEED, PID = 3, 4242

SPECIMENS: Mapping[str, str] = {
    "operators": "cnn-910b",
    "graphs": "text-museum",
    TEXT: "text-museum",
}
"""By the name of the subject, the preset of which it is the first rank."""


def write_specimen(subject: str, folder: Path) -> Path:
    """Write a small clean PROF_*, or a text, and nothing else into an empty folder.

    Raises ``KeyError`` for an unknown subject.
    """
    scenario = override(preset(SPECIMENS[subject]), ranks=2, steps=2)
    if subject == TEXT:
        return write_host_text(simulate(scenario, SEED).capture(0), folder, PID)
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        run = write_run(scenario, SEED, Path(place) / "run", ("raw",)).folder
        found = sorted(run.rglob("PROF_*"))[0]
        return Path(shutil.move(found, folder / found.name))
