"""Samples of the memory of the process that real databases lose."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

ASKED = Options(selection=Selection(select=("LOS106",)), workers=1)


@pytest.mark.parametrize(("number", "expected"), [(0, []), (1, []), (2, ["LOS106"])])
@pytest.mark.parametrize("rank", ["db/level0_rank0", "generations/db_910a_2024_level1_rank0"])
def test_two_lost_samples_are_missed(
    rank: str, number: int, expected: list[str], tmp_path: Path
) -> None:
    copy = shutil.copytree(real(f"../{rank}"), tmp_path / "real", copy_function=shutil.copyfile)
    path = Path(copy) / "ascend_pytorch_profiler_0.db"
    with closing(sqlite3.connect(path)) as rows:
        for (kind,) in rows.execute("SELECT DISTINCT type FROM NPU_MEM").fetchall():
            select = "SELECT timestampNs FROM NPU_MEM WHERE type = ? ORDER BY 1 LIMIT ? OFFSET 5"
            gone = rows.execute(select, (kind, number)).fetchall()
            rows.executemany("DELETE FROM NPU_MEM WHERE timestampNs = ?", gone)
        rows.commit()
    assert [one.rule for one in check([Path(copy)], ASKED).findings] == expected
