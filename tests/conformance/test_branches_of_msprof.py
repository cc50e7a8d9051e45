"""Databases changed as branches of msprof write them that no profile at hand went through.

Each test names the file of the exporter. Its rules are silent on what is legal, and find the
nearest defect.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from profiles import copy_real, real

from ascend_conformance.check import check
from ascend_conformance.options import Options, Selection

DATABASE = "ascend_pytorch_profiler_0.db"
TASK = "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The database of a real profile alone, whose analysis has other rules."""
    real("level1_rank0")
    return copy_real("level1_rank0", tmp_path) / DATABASE


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as rows:
        for statement in statements:
            rows.execute(statement)
        rows.commit()


def found(path: Path, *rules: str) -> set[str]:
    options = Options(workers=1, selection=Selection(select=rules))
    return {one.rule for one in check([path], options).findings}


def test_range_of_mstx_encloses_the_tasks_of_its_stream(database: Path) -> None:
    """``msproftx_device_processor.cpp`` makes one task of the two marks of a range."""
    stream = "SELECT streamId FROM TASK GROUP BY streamId ORDER BY count(*) DESC LIMIT 1"
    text = "SELECT id FROM STRING_IDS WHERE value = 'MsTx'"
    change(
        database,
        "INSERT INTO STRING_IDS SELECT max(id) + 1, 'MsTx' FROM STRING_IDS WHERE id < 268435456",
        f"INSERT INTO TASK ({TASK}) SELECT min(startNs) - 9, max(endNs), deviceId, 4000000001, "
        f"max(globalTaskId) + 1000, globalPid, ({text}), 4294967295, streamId, 65535, 4294967295 "
        f"FROM TASK WHERE streamId = ({stream})",
    )
    assert found(database, "DB504") == set()
    change(database, f"UPDATE TASK SET taskType = 0 WHERE taskType = ({text})")
    assert found(database, "DB504") == {"DB504"}
