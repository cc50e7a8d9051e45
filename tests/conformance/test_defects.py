"""Defects that no reader reports (consumers.md 4, rows 1 to 3): ids, and links between tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from defects import (
    LINKED,
    ask,
    count,
    expect,
    lost,
    needs_real,
    references,
    some_rows,
)
from profiles import change, readable
from slices import few, some

from ascend_conformance.check import check

pytestmark = needs_real


def test_the_copies_are_sound_before_they_are_damaged(folder: Path) -> None:
    report = check([folder])
    assert [finding for finding in report.findings if finding.verdict == "violation"] == []


# 1. String ids


@pytest.mark.parametrize("place", some(references("STRING_IDS"), every=9))
def test_string_ids_that_dangle(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    dangling = f"{column} NOT IN (SELECT id FROM STRING_IDS) AND {column} <> 4294967295"
    assert ask(profiler, f"SELECT count(*) FROM {table} WHERE {dangling}") == [(0,)]
    change(
        profiler,
        f"UPDATE {table} SET {column} = (SELECT max(id) FROM STRING_IDS) + rowid "
        f"WHERE rowid IN ({some_rows(table)})",
    )
    expect(readable(profiler), place, count(profiler, table, dangling))


def test_a_string_that_was_deleted(profiler: Path) -> None:
    """One name lost: every column that named it is told."""
    change(
        profiler,
        "DELETE FROM STRING_IDS WHERE id = (SELECT taskType FROM COMPUTE_TASK_INFO LIMIT 1)",
    )
    file = readable(profiler)
    for place in ("COMPUTE_TASK_INFO.taskType", "TASK.taskType"):
        table, _, column = place.partition(".")
        dangling = f"{column} NOT IN (SELECT id FROM STRING_IDS)"
        if ask(profiler, f"SELECT 1 FROM {table} WHERE {dangling} LIMIT 1"):
            expect(file, place, count(profiler, table, dangling))


def test_string_ids_are_dropped(profiler: Path) -> None:
    expect(readable(change(profiler, "DROP TABLE STRING_IDS")), "STRING_IDS", (1, None))


# 2. Task ids


@pytest.mark.parametrize("place", references("TASK.globalTaskId"))
def test_task_ids_that_dangle(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(
        profiler,
        f"UPDATE {table} SET {column} = (SELECT max(globalTaskId) FROM TASK) + 1 + rowid "
        f"WHERE rowid IN ({some_rows(table)})",
    )
    dangling = f"{column} NOT IN (SELECT globalTaskId FROM TASK)"
    expect(readable(profiler), place, count(profiler, table, dangling))


@pytest.mark.parametrize("place", references("TASK.globalTaskId"))
def test_tasks_that_were_deleted(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(
        profiler,
        f"DELETE FROM TASK WHERE globalTaskId IN (SELECT {column} FROM {table} "
        f"WHERE rowid IN ({some_rows(table)}))",
    )
    dangling = f"{column} NOT IN (SELECT globalTaskId FROM TASK)"
    verdict = "advice" if table == "COMPUTE_TASK_INFO" else "violation"  # as if it never ran
    expect(readable(profiler), place, count(profiler, table, dangling), verdict)


def test_the_tasks_are_dropped(profiler: Path) -> None:
    """The analyser's mode ``all`` does not notice."""
    assert "COMPUTE_TASK_INFO.globalTaskId" in lost(change(profiler, "DROP TABLE TASK"), "TASK")


# 3. The chain from framework call to task, and from task to operator


@dataclass(frozen=True)
class Break:
    """Statements that break a link, the place that is named, and which of its rows are bad."""

    statements: tuple[str, ...]
    place: str
    bad: str


NO_CALL = (
    "connectionId >= (SELECT min(connectionId) FROM CANN_API) AND connectionId <> 4294967295 "
    f"AND connectionId NOT IN (SELECT connectionId FROM CANN_API) AND {LINKED}"
)
CHAIN = {
    "framework call to link": Break(
        (
            "UPDATE PYTORCH_API SET connectionId = 900000 + rowid WHERE rowid IN "
            f"({some_rows('PYTORCH_API', 'connectionId IS NOT NULL')})",
        ),
        "PYTORCH_API.connectionId",
        "connectionId NOT IN (SELECT id FROM CONNECTION_IDS)",
    ),
    "links deleted": Break(
        ("DELETE FROM CONNECTION_IDS WHERE id % 50 = 7",),
        "PYTORCH_API.connectionId",
        "connectionId NOT IN (SELECT id FROM CONNECTION_IDS)",
    ),
    "link to framework call": Break(
        (
            "UPDATE CONNECTION_IDS SET id = 900000 + rowid WHERE rowid IN "
            f"({some_rows('CONNECTION_IDS')})",
        ),
        "CONNECTION_IDS.id",
        "id NOT IN (SELECT connectionId FROM PYTORCH_API WHERE connectionId IS NOT NULL)",
    ),
    "task to host call": Break(
        (
            "UPDATE TASK SET connectionId = 900000 + rowid WHERE rowid IN "
            f"({some_rows('TASK', LINKED)})",
        ),
        "TASK.connectionId",
        NO_CALL,
    ),
    "host calls deleted": Break(
        (
            "DELETE FROM CANN_API WHERE connectionId IN (SELECT connectionId FROM TASK WHERE "
            f"rowid IN ({some_rows('TASK', LINKED)}))",
        ),
        "TASK.connectionId",
        NO_CALL,
    ),
    "operator to host call": Break(
        ("UPDATE COMMUNICATION_OP SET connectionId = 900000 + rowid WHERE rowid % 2",),
        "COMMUNICATION_OP.connectionId",
        "connectionId NOT IN (SELECT connectionId FROM CANN_API)",
    ),
    "communication task to operator": Break(
        (
            "UPDATE COMMUNICATION_TASK_INFO SET opId = 900000 + rowid WHERE rowid IN "
            f"({some_rows('COMMUNICATION_TASK_INFO')})",
        ),
        "COMMUNICATION_TASK_INFO.opId",
        "opId NOT IN (SELECT opId FROM COMMUNICATION_OP)",
    ),
    "all communication tasks to operators": Break(
        ("UPDATE COMMUNICATION_TASK_INFO SET opId = opId + 900000",),
        "COMMUNICATION_TASK_INFO.opId",
        "opId NOT IN (SELECT opId FROM COMMUNICATION_OP)",
    ),
    "operator deleted": Break(
        ("DELETE FROM COMMUNICATION_OP WHERE opId = (SELECT max(opId) FROM COMMUNICATION_OP)",),
        "COMMUNICATION_TASK_INFO.opId",
        "opId NOT IN (SELECT opId FROM COMMUNICATION_OP)",
    ),
    "framework call to call stack": Break(
        ("UPDATE PYTORCH_API SET callchainId = 900000 WHERE callchainId % 9 = 4",),
        "PYTORCH_API.callchainId",
        "callchainId NOT IN (SELECT id FROM PYTORCH_CALLCHAINS)",
    ),
    "metrics of no task": Break(
        ("UPDATE TASK_PMU_INFO SET globalTaskId = 900000 WHERE rowid BETWEEN 30 AND 57",),
        "TASK_PMU_INFO.globalTaskId",
        "globalTaskId NOT IN (SELECT globalTaskId FROM TASK)",
    ),
}


@pytest.mark.parametrize("link", few(CHAIN, every=4))
def test_chains_that_are_broken(profiler: Path, link: str) -> None:
    case = CHAIN[link]
    change(profiler, *case.statements)
    table = case.place.partition(".")[0]
    expect(readable(profiler), case.place, count(profiler, table, case.bad))


def test_links_whose_host_call_does_not_exist(profiler: Path) -> None:
    """CONNECTION_IDS.connectionId: a link of two numbers, of which one is a host call."""
    rows = "SELECT rowid FROM CONNECTION_IDS WHERE connectionId IN (SELECT connectionId FROM TASK)"
    change(
        profiler,
        "UPDATE CONNECTION_IDS SET connectionId = connectionId + 900000 WHERE rowid IN "
        f"({rows} ORDER BY rowid LIMIT 3 OFFSET 4)",
    )
    bad = count(profiler, "CONNECTION_IDS", "connectionId > 900000")
    expect(readable(profiler), "CONNECTION_IDS.connectionId", bad)


EMPTIED = ["CONNECTION_IDS", "STEP_TIME", "ENUM_HCCL_DATA_TYPE", "COMMUNICATION_OP", "CANN_API"]


@pytest.mark.parametrize("table", some(EMPTIED, every=2))
def test_tables_that_were_emptied(profiler: Path, table: str) -> None:
    expect(readable(change(profiler, f"DELETE FROM {table}")), table, (1, None))


DROPPED = {
    "CONNECTION_IDS": "PYTORCH_API.connectionId",
    "PYTORCH_CALLCHAINS": "PYTORCH_API.callchainId",
    "COMMUNICATION_OP": "COMMUNICATION_TASK_INFO.opId",
    "COMMUNICATION_TASK_INFO": "COMMUNICATION_OP.opId",
    "COMPUTE_TASK_INFO": "TASK_PMU_INFO.globalTaskId",
    "RANK_DEVICE_MAP": "RANK_DEVICE_MAP",
    "HOST_INFO": "HOST_INFO",
    "META_DATA": "META_DATA",
}


@pytest.mark.parametrize("table", few(DROPPED, every=4))
def test_tables_that_were_dropped(profiler: Path, table: str) -> None:
    assert DROPPED[table] in lost(change(profiler, f"DROP TABLE {table}"), table)


@pytest.mark.parametrize(
    "place", ["COMPUTE_TASK_INFO.blockDim", "COMPUTE_TASK_INFO.name", "CANN_API.type"]
)
def test_columns_that_were_dropped(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(profiler, f"ALTER TABLE {table} DROP COLUMN {column}")
    expect(readable(profiler), place, (1, None))
