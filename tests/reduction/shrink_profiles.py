"""Profiles that tests of shrinking begin with."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset


def simulated(folder: Path, name: str, steps: int) -> Mapping[str, Path]:
    """A database, CSV files and a timeline of one run, each by itself, and the whole run."""
    scenario = override(preset(name), ranks=1, steps=steps)
    run = write_run(scenario, 0, folder / "run", ("pytorch-db", "pytorch-text")).folder
    database = next(run.rglob("ascend_pytorch_profiler_0.db"))
    found = {}
    for kind, pattern in (
        ("db", database.name),
        ("text", "*.csv"),
        ("timeline", "trace_view.json"),
    ):
        (folder / kind).mkdir()
        for path in database.parent.glob(pattern):
            shutil.copy(path, folder / kind)
        found[kind] = folder / kind
    return found | {"run": folder / "run"}
