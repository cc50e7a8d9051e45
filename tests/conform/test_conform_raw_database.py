"""Exporters of raw files to a database: our own conforms, each break is found in its table."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from shutil import copytree

import pytest
from slices import marked, some

from ascend_conformance.difference.pairing import Difference
from ascend_conformance.harness.case import Case
from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.stages import STAGES
from ascend_simulator.scenario import RUN
from ascend_spec import catalog
from ascend_spec.db.model import STRINGS

STAGE = STAGES["raw-to-database"]

# Rows to which no other table leads.
TASK_ALONE = """globalTaskId NOT IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO)
AND globalTaskId NOT IN (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO)"""
CALL_ALONE = """connectionId NOT IN (SELECT connectionId FROM TASK)
AND connectionId NOT IN (SELECT connectionId FROM COMMUNICATION_OP)"""

BREAKS: Mapping[str, tuple[str, str]] = {
    "end-one-ns-late": (
        "TASK",
        "UPDATE TASK SET endNs = endNs + 1 WHERE rowid = (SELECT max(rowid) FROM TASK)",
    ),
    "task-lost": (
        "TASK",
        f"DELETE FROM TASK WHERE rowid = (SELECT max(rowid) FROM TASK WHERE {TASK_ALONE})",
    ),
    "task-of-another-call": (
        "TASK",
        f"UPDATE TASK SET connectionId = (SELECT connectionId FROM CANN_API WHERE {CALL_ALONE} "
        "LIMIT 1) WHERE rowid = (SELECT min(rowid) FROM TASK WHERE connectionId < 4294967295)",
    ),
    "call-lost": (
        "CANN_API",
        f"DELETE FROM CANN_API WHERE rowid = (SELECT max(rowid) FROM CANN_API WHERE {CALL_ALONE})",
    ),
    "name-without-text": (
        "COMPUTE_TASK_INFO",
        "UPDATE COMPUTE_TASK_INFO SET name = 1 << 30 "
        "WHERE rowid = (SELECT min(rowid) FROM COMPUTE_TASK_INFO)",
    ),
    "blocks-of-mix-for-blocks": (
        "COMPUTE_TASK_INFO",
        "UPDATE COMPUTE_TASK_INFO SET blockDim = blockDim + 1",
    ),
    "collective-of-another-length": (
        "COMMUNICATION_OP",
        "UPDATE COMMUNICATION_OP SET count = count * 2",
    ),
    "size-in-kibibytes": (
        "COMMUNICATION_TASK_INFO",
        "UPDATE COMMUNICATION_TASK_INFO SET size = size / 1024",
    ),
    "read-for-write": (
        "DDR", "UPDATE DDR SET read = write, write = read",
    ),
    "sample-late": ("HBM", "UPDATE HBM SET timestampNs = timestampNs + 1000"),
    "memory-lost": ("NPU_MEM", "DROP TABLE NPU_MEM"),
    "overlap-shifted": (
        "OVERLAP_ANALYSIS",
        "UPDATE OVERLAP_ANALYSIS SET type = (type + 1) % 4",
    ),
    "session-in-microseconds": (
        "SESSION_TIME_INFO",
        "UPDATE SESSION_TIME_INFO SET startTimeNs = startTimeNs / 1000",
    ),
}  # fmt: skip

NO_BREAKS = {
    "rows-in-another-order": (
        "CREATE TABLE other AS SELECT * FROM TASK ORDER BY endNs DESC",
        "DELETE FROM TASK",
        "INSERT INTO TASK SELECT * FROM other",
        "DROP TABLE other",
    ),
    "calls-numbered-otherwise": (
        "UPDATE TASK SET connectionId = connectionId + 1000000 WHERE connectionId < 4294967295",
        "UPDATE CANN_API SET connectionId = connectionId + 1000000",
        "UPDATE COMMUNICATION_OP SET connectionId = connectionId + 1000000",
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``expected`` and what our own export makes of its input, ``actual``."""
    folder = tmp_path_factory.mktemp("case")
    STAGE.make(Case(RUN.preset("cnn-910a"), STAGE.name, "msprof"), folder, None)
    (source,) = (folder / "input").iterdir()
    STAGE.reference(source, folder / "actual")
    return folder


def differences(made: Path, actual: Path) -> list[Difference]:
    return STAGE.differences(
        STAGE.files(made / "expected"), STAGE.files(actual), None, ("the truth", "the exporter")
    )


def broken(made: Path, tmp_path: Path, *statements: str) -> list[Difference]:
    """What is found in a copy of the exported database that was changed."""
    copytree(made / "actual", tmp_path / "actual")
    (path,) = (tmp_path / "actual").rglob("msprof_*.db")
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, statement
        connection.commit()
    return differences(made, tmp_path / "actual")


@pytest.mark.exhaustive
def test_what_is_exported_is_what_was_recorded(made: Path) -> None:
    assert differences(made, made / "actual") == []
    names = {one.name for one in STAGE.files(made / "expected")}
    assert {table for table, _ in BREAKS.values()} <= names


@pytest.mark.parametrize("name", some(BREAKS, every=4))
def test_a_break_is_found_in_its_table(name: str, made: Path, tmp_path: Path) -> None:
    table, statement = BREAKS[name]
    assert {one.feature for one in broken(made, tmp_path, statement)} == {table}


@pytest.mark.parametrize("name", NO_BREAKS)
def test_what_an_exporter_may_choose_is_no_break(name: str, made: Path, tmp_path: Path) -> None:
    assert broken(made, tmp_path, *NO_BREAKS[name]) == []


def test_texts_may_be_numbered_otherwise(made: Path, tmp_path: Path) -> None:
    tables = catalog().at(catalog().revisions[-1].id, "msprof").tables
    texts = [
        f"UPDATE {table} SET {name} = {name} + 1000000"
        for table in sorted({one.name for one in STAGE.files(made / "actual")})
        for name, column in tables[table].columns.items()
        if column.text_reference == STRINGS
    ]
    assert len(texts) > 10
    assert broken(made, tmp_path, "UPDATE STRING_IDS SET id = id + 1000000", *texts) == []


@pytest.mark.parametrize("count", [1, marked(3, pytest.mark.exhaustive)])
def test_our_own_export_is_what_was_recorded(count: int) -> None:
    cases = draw_cases(STAGE, count, 5)
    outcome = conform(Function("reference", STAGE.reference), STAGE, cases)
    assert outcome.shown == []
    assert outcome.cases == len(cases) >= min(count, 20)
    assert {"CANN_API", "COMPUTE_TASK_INFO", "TASK"} <= outcome.features.keys()


@pytest.mark.campaign
def test_our_own_export_is_what_was_recorded_in_many_cases() -> None:
    test_our_own_export_is_what_was_recorded(40)
