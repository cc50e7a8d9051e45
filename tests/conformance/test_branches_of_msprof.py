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
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

DATABASE = "ascend_pytorch_profiler_0.db"
TASK = (
    "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, "
    "streamId, taskId, modelId"
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The database of a real profile alone, whose analysis has other rules."""
    real("level1_rank0")
    copy: Path = copy_real("level1_rank0", tmp_path)
    return copy / DATABASE


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


CHAIN = "globalTaskId IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO)"
SMALL = "globalTaskId IN (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO)"


def replay(tasks: str, model: int) -> list[str]:
    """Run some tasks again, one by one behind all others, as those of a graph."""
    return [
        f"UPDATE TASK SET modelId = {model} WHERE {tasks}",
        "CREATE TEMP TABLE later AS SELECT max(endNs) + 1000 - min(startNs) AS by FROM TASK",
        *again("TASK", LATER, tasks),
    ]


LATER = (
    "startNs = startNs + (SELECT by FROM temp.later), endNs = endNs + (SELECT by FROM temp.later)"
)


def again(table: str, changes: str, rows: str = "true") -> list[str]:
    """Add some rows of a table once more, changed."""
    return [
        f"CREATE TEMP TABLE again_{table} AS SELECT * FROM {table} WHERE {rows} ORDER BY rowid",
        f"UPDATE temp.again_{table} SET {changes}",
        f"INSERT INTO {table} SELECT * FROM temp.again_{table}",
    ]


def test_kernels_of_a_graph_that_runs_again(database: Path) -> None:
    """``ascend_task_association.cpp`` gives one task of the host to each of its executions."""
    change(database, *replay(CHAIN, 1))
    assert found(database, "DB502", "REL109", "REL111") == set()
    change(database, "UPDATE TASK SET modelId = 4294967295")
    assert found(database, "DB502") == {"DB502"}


def test_collective_of_a_graph_that_runs_again(database: Path) -> None:
    """``hccl_calculator.cpp`` makes an operator of each execution, with the tasks' own numbers."""
    change(
        database,
        *replay(SMALL, 1),
        *again("COMMUNICATION_OP", f"opId = opId + 100, {LATER}"),
        *again("COMMUNICATION_TASK_INFO", "opId = opId + 100"),
    )
    rules = ("DB502", "DB601", "DB610", "REL502", "REL525")
    assert found(database, *rules) == set()
    change(
        database,
        f"DELETE FROM TASK WHERE {SMALL}"
        f" AND startNs > (SELECT avg(startNs) FROM TASK WHERE {SMALL})",
        "UPDATE COMMUNICATION_OP SET endNs = endNs + 1",
    )
    assert found(database, *rules) == {"DB601", "DB610", "REL502"}


def test_kernel_that_the_device_did_not_run(database: Path) -> None:
    """``compute_task_info_processor.cpp`` writes every kernel of the host, and numbers it."""
    last = "(SELECT max(globalTaskId) FROM TASK)"
    change(
        database,
        f"UPDATE TASK SET globalTaskId = {last} + 1 WHERE globalTaskId = {last}",
        "CREATE TEMP TABLE kernel AS SELECT * FROM COMPUTE_TASK_INFO LIMIT 1",
        f"UPDATE temp.kernel SET globalTaskId = {last} - 1",
        "INSERT INTO COMPUTE_TASK_INFO SELECT * FROM temp.kernel",
    )
    assert found(database, "DB210", "DB211", "LOS205") == {"DB211"}
    change(
        database,
        "DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId NOT IN (SELECT globalTaskId FROM TASK)",
    )
    assert found(database, "DB210", "DB211", "LOS205") == {"LOS205"}


def test_clock_of_a_950_has_no_rows_at_the_borders(database: Path) -> None:
    """``low_power_processor.cpp`` adds none, unlike ``aicore_freq_processor.cpp``."""
    change(database, "UPDATE AICORE_FREQ SET timestampNs = timestampNs + 1")
    assert found(database, "DB824") == {"DB824"}
    change(database, "UPDATE NPU_INFO SET name = 'Ascend950'")
    assert found(database, "DB824") == set()


def test_clock_of_a_950_is_kept_from_before_the_session(database: Path) -> None:
    """``low_power_processor.cpp`` drops no sample, unlike ``aicore_freq_processor.cpp``."""
    change(database, "UPDATE AICORE_FREQ SET timestampNs = timestampNs - 1")
    assert found(database, "DB406") == {"DB406"}
    change(database, "UPDATE NPU_INFO SET name = 'Ascend950'")
    assert found(database, "DB406") == set()


def test_streams_of_a_950_share_the_numbers_of_tasks(database: Path) -> None:
    """``StarsCommon.set_unique_task_id``: they are alone over all streams of a device."""
    change(database, "UPDATE TASK SET taskId = taskId + 700 WHERE rowid > 20")
    assert found(database, "LOS101") == {"LOS101"}
    change(database, "UPDATE NPU_INFO SET name = 'Ascend950'")
    assert found(database, "LOS101") == set()
