"""An analysis.db of another rank is one finding, and what it differs in follows from it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from profiles import copy_real

from ascend_conformance.check import check
from ascend_conformance.finding import Finding
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset

PROFILER = "ascend_pytorch_profiler_{}.db"


def of_simulation(folder: Path) -> tuple[Path, Path]:
    """The database folders of two simulated ranks."""
    scenario = override(preset("dense-8"), steps=1, ranks=2)
    run = write_run(scenario, 0, folder / "run", ("pytorch-db",))
    first, second = sorted(one.parent for one in run.folder.rglob("analysis.db"))
    return first, second


def of_real_ranks(folder: Path) -> tuple[Path, Path]:
    """Copies of the real databases of two ranks."""
    return copy_real("level1_rank0", folder), copy_real("level1_rank1", folder)


def leading(folder: Path) -> list[Finding]:
    """The violations of a folder that no other explains."""
    found = check([folder]).findings
    return [one for one in found if one.verdict == "violation" and one.cause is None]


@pytest.mark.exhaustive
@pytest.mark.parametrize("ranks_in", [of_simulation, of_real_ranks])
def test_an_analysis_of_another_rank_is_one_finding(
    ranks_in: Callable[[Path], tuple[Path, Path]], tmp_path: Path
) -> None:
    own, other = ranks_in(tmp_path)
    assert not leading(own)
    shutil.copy(other / "analysis.db", own)
    (cause,) = leading(own)
    assert (cause.rule, cause.table) == ("XLR901", "analysis.db")
    assert "ascend_pytorch_profiler_0.db" in cause.message
    assert {one.cause for one in check([own]).findings} == {None, "XLR901"}


def test_a_profiler_database_of_another_rank_is_named_with_its_rank(tmp_path: Path) -> None:
    own, other = of_simulation(tmp_path)
    shutil.copy(other / PROFILER.format(1), own / PROFILER.format(0))
    cause, rank = sorted(leading(own), key=lambda one: one.rule, reverse=True)
    assert (cause.rule, cause.table) == ("XLR901", PROFILER.format(0))
    assert cause.message.endswith("RANK_DEVICE_MAP says rank 1")
    assert rank.rule == "DB971"


def test_another_unit_in_one_table_is_no_other_capture(tmp_path: Path) -> None:
    own, _ = of_simulation(tmp_path)
    with closing(sqlite3.connect(own / "analysis.db")) as connection:
        connection.execute("UPDATE CommAnalyzerTime SET elapse_time = elapse_time * 1000")
        connection.commit()
    assert "XLR901" not in {one.rule for one in check([own]).findings}
    assert "DB954" in {one.rule for one in leading(own)}
