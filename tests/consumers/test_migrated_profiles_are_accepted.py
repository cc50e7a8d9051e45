"""msprof-analyze reads what was migrated, up and down, and finds the same figures in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from consumer_rows import check_row_1, check_row_2
from consumer_verdict import Verdict

from ascend_ref.migrate.profile import migrate_profile
from ascend_ref.states import Target
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

OLD, NEW = "1.0.0-2025-01", "1.2.0-2026-07"
ROWS: dict[str, Callable[[Path, Path], Verdict]] = {
    "steps": check_row_1,
    "operators": partial(check_row_2, mode="compute_op_sum"),
    "communication": partial(check_row_2, mode="hccl_sum"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """A run of each revision, migrated to the other one."""
    base = tmp_path_factory.mktemp("migrated")
    scenario = override(preset("dense-8"), ranks=2, steps=2)
    found = {}
    for old, new in ((OLD, NEW), (NEW, OLD)):
        run = write_run(scenario, 0, base / old, ("pytorch-db",), revision=old).folder
        migrate_profile(run, [Target("revision", new)], base / f"made_{old}")
        found[old, new] = base / f"made_{old}" / run.name
    return found


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("steps", marks=pytest.mark.exhaustive),
        pytest.param("operators", marks=pytest.mark.campaign),
        pytest.param("communication", marks=pytest.mark.campaign),
    ],
)
@pytest.mark.parametrize("way", [(OLD, NEW), (NEW, OLD)], ids=["up", "down"])
def test_a_migrated_run_is_read(
    runs: dict[tuple[str, str], Path], tmp_path: Path, way: tuple[str, str], what: str
) -> None:
    assert ROWS[what](runs[way], tmp_path).differences == []
