"""A database and a timeline of one run, as items."""

from __future__ import annotations

import pytest

from ascend_conformance.reduction.items import Items
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Items:
    """A folder with a database and a timeline."""
    folder = tmp_path_factory.mktemp("made")
    scenario = override(preset("single-op"), ranks=1, steps=1)
    run = write_run(scenario, 0, folder / "run", ("pytorch-db", "pytorch-text")).folder
    both = folder / "both"
    both.mkdir()
    for name in ("ascend_pytorch_profiler_0.db", "trace_view.json"):
        next(run.rglob(name)).rename(both / name)
    return Items(both)
