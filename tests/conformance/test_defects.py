"""The defects that no other tool reports (consumers.md 4), applied by SQL to copies of real data.

The expected count and first rowid come from plain SQL on the damaged copy, not from the rules.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_conformance.finding import Finding
from ascend_spec import catalog

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"real profiles are not at {DATA}")

RANK = "level1_rank1"
PROFILER = "ascend_pytorch_profiler_1.db"
SCHEMA = catalog().at("1.0.0-2025-01", "pytorch")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A writable copy of a real rank folder."""
    return Path(shutil.copytree(DATA / RANK, tmp_path / "rank"))


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def ask(path: Path, query: str) -> tuple:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchone()


def violations(folder: Path) -> dict[str, Finding]:
    """Violations by ``rule@place``."""
    report = check([folder])
    assert [file.unreadable for file in report.files if file.unreadable] == []
    return {f"{one.rule}@{one.place}": one for one in report.findings if one.verdict == "violation"}


def assert_reported(folder: Path, key: str, count: int, first_rowid: int | None) -> None:
    found = violations(folder)
    assert key in found, sorted(found)
    finding = found[key]
    assert (finding.count, finding.first_rowid) == (count, first_rowid)
    assert f"{count:,}" in finding.message
    assert f"rowid {first_rowid}" in finding.message


def columns_referring_to(target: str) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(DATA / RANK / PROFILER)) as connection:
        present = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    return [
        (table.name, column.name)
        for table in SCHEMA.tables.values()
        for column in table.columns.values()
        if table.name in present and any(one.startswith(target) for one in column.references)
    ]


@pytest.mark.parametrize(("table", "column"), columns_referring_to("STRING_IDS."))
def test_defect_1_a_string_id_that_does_not_resolve(folder: Path, table: str, column: str):
    path = folder / PROFILER
    change(
        path,
        f"UPDATE {table} SET {column} = 99999999 WHERE rowid IN "
        f"(SELECT rowid FROM {table} WHERE {column} IS NOT NULL ORDER BY rowid LIMIT 2)",
    )
    orphans = f"SELECT count(*), min(rowid) FROM {table} WHERE {column} = 99999999"
    assert_reported(folder, f"DB208@{table}.{column}", *ask(path, orphans))


@pytest.mark.parametrize("table", ["COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO"])
def test_defect_2_details_of_a_task_that_does_not_exist(folder: Path, table: str):
    path = folder / PROFILER
    change(
        path,
        f"UPDATE {table} SET globalTaskId = globalTaskId + 5000000 WHERE rowid IN "
        f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT 3)",
    )
    orphans = (
        f"SELECT count(*), min(rowid) FROM {table} "
        "WHERE globalTaskId NOT IN (SELECT globalTaskId FROM TASK)"
    )
    assert ask(path, orphans)[0] == 3
    assert_reported(folder, f"DB210@{table}.globalTaskId", *ask(path, orphans))


BROKEN_CHAINS = {
    "PYTORCH_API.connectionId": (
        "UPDATE PYTORCH_API SET connectionId = 7777777 WHERE connectionId = 5",
        "SELECT count(*), min(rowid) FROM PYTORCH_API WHERE connectionId = 7777777",
        "DB210",
    ),
    "CONNECTION_IDS.id": (
        "UPDATE CONNECTION_IDS SET id = 7777777 WHERE id = 5",
        "SELECT count(*), min(rowid) FROM CONNECTION_IDS WHERE id = 7777777",
        "DB210",
    ),
    "TASK.connectionId": (
        "DELETE FROM CANN_API WHERE connectionId = (SELECT connectionId FROM TASK WHERE rowid = 9)",
        "SELECT count(*), min(rowid) FROM TASK WHERE connectionId NOT IN "
        "(SELECT connectionId FROM CANN_API) AND taskType NOT IN (SELECT id FROM STRING_IDS "
        "WHERE value LIKE 'PROFILING_%')",
        "DB510",
    ),
    "COMMUNICATION_OP.connectionId": (
        "UPDATE COMMUNICATION_OP SET connectionId = 7777777 WHERE opId = 2",
        "SELECT count(*), min(rowid) FROM COMMUNICATION_OP WHERE connectionId = 7777777",
        "DB210",
    ),
    "COMMUNICATION_TASK_INFO.opId": (
        "UPDATE COMMUNICATION_TASK_INFO SET opId = 99 WHERE rowid % 50 = 0",
        "SELECT count(*), min(rowid) FROM COMMUNICATION_TASK_INFO WHERE opId = 99",
        "DB210",
    ),
}


@pytest.mark.parametrize("place", BROKEN_CHAINS)
def test_defect_3_a_broken_link_of_the_chain(folder: Path, place: str):
    path = folder / PROFILER
    damage, orphans, rule = BROKEN_CHAINS[place]
    change(path, damage)
    assert ask(path, orphans)[0] > 0
    assert_reported(folder, f"{rule}@{place}", *ask(path, orphans))


@pytest.mark.parametrize(
    "table", ["TASK", "CANN_API", "COMMUNICATION_OP", "PYTORCH_API", "STEP_TIME"]
)
def test_defect_4_an_interval_that_ends_before_it_starts(folder: Path, table: str):
    path = folder / PROFILER
    change(
        path,
        f"UPDATE {table} SET endNs = CAST(startNs AS INTEGER) - 5 WHERE rowid IN "
        f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT 4)",
    )
    negative = (
        f"SELECT count(*), min(rowid) FROM {table} "
        "WHERE CAST(endNs AS INTEGER) < CAST(startNs AS INTEGER)"
    )
    assert_reported(folder, f"DB401@{table}.endNs", *ask(path, negative))


def test_defect_4_a_negative_duration(folder: Path):
    path = folder / PROFILER
    change(path, "UPDATE OP_MEMORY SET duration = -duration WHERE duration IS NOT NULL")
    negative = "SELECT count(*), min(rowid) FROM OP_MEMORY WHERE duration < 0"
    assert_reported(folder, "DB203@OP_MEMORY.duration", *ask(path, negative))


def test_defect_4_a_task_outside_the_session(folder: Path):
    path = folder / PROFILER
    change(
        path,
        "UPDATE TASK SET startNs = startNs - 10000000000, endNs = endNs - 10000000000 "
        "WHERE rowid <= 3",
    )
    outside = (
        "SELECT count(*), min(rowid) FROM TASK "
        "WHERE endNs < (SELECT startTimeNs FROM SESSION_TIME_INFO)"
    )
    assert ask(path, outside)[0] == 3
    assert_reported(folder, "DB403@TASK.startNs", *ask(path, outside))


def test_defect_4_a_step_that_its_annotation_contradicts(folder: Path):
    path = folder / PROFILER
    change(path, "UPDATE STEP_TIME SET startNs = startNs + 100000000")
    annotation = (
        "SELECT count(*), min(a.rowid) FROM PYTORCH_API a JOIN STRING_IDS s ON s.id = a.name "
        "WHERE s.value LIKE 'ProfilerStep#%'"
    )
    assert_reported(folder, "DB751@PYTORCH_API.endNs", *ask(path, annotation))


@pytest.mark.parametrize(("table", "column"), columns_referring_to("ENUM_"))
def test_defect_5_an_enum_id_without_its_member(folder: Path, table: str, column: str):
    if table == "NPU_MODULE_MEM":
        pytest.skip("exporters of 2024 leave module ids open: advice by design (I02)")
    path = folder / PROFILER
    change(
        path,
        f"UPDATE {table} SET {column} = 4321 WHERE rowid IN "
        f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT 2)",
    )
    unknown = f"SELECT count(*), min(rowid) FROM {table} WHERE {column} = 4321"
    assert_reported(folder, f"DB209@{table}.{column}", *ask(path, unknown))


def test_defect_5_a_member_deleted_from_its_enum_table(folder: Path):
    change(folder / PROFILER, "DELETE FROM ENUM_API_TYPE WHERE id = 20000")
    assert "20000 acl" in violations(folder)["DB122@ENUM_API_TYPE.id"].message


def test_defect_6_the_map_of_ranks_names_another_rank(folder: Path):
    change(folder / PROFILER, "UPDATE RANK_DEVICE_MAP SET rankId = 7")
    assert_reported(folder, "DB971@RANK_DEVICE_MAP.rankId", 1, 1)


def test_defect_6_the_file_name_names_another_rank(folder: Path):
    (folder / PROFILER).rename(folder / "ascend_pytorch_profiler_7.db")
    assert_reported(folder, "DB971@RANK_DEVICE_MAP.rankId", 1, 1)


def test_defect_6_profiler_info_names_another_rank(folder: Path):
    path = folder / "profiler_info_1.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "rank_id": "7"}))
    assert_reported(folder, "DB971@RANK_DEVICE_MAP.rankId", 1, 1)


ANALYSIS = catalog().at("1.0.0-2025-01", "analysis").tables


@pytest.mark.parametrize("table", [name for name in ANALYSIS if name != "StepTraceTime"])
def test_defect_7_a_table_of_the_communication_analysis_is_missing(folder: Path, table: str):
    change(folder / "analysis.db", f"DROP TABLE {table}")
    assert f"DB974@{table}" in violations(folder)


def test_defect_7_the_step_trace_is_missing(folder: Path):
    change(folder / "analysis.db", "DROP TABLE StepTraceTime")
    assert "DB521@CommAnalyzerTime.step" in violations(folder)


@pytest.mark.parametrize(
    ("table", "column"),
    [(table.name, column) for table in ANALYSIS.values() for column in table.columns],
)
def test_defect_7_a_column_of_analysis_is_missing(folder: Path, table: str, column: str):
    change(folder / "analysis.db", f"ALTER TABLE {table} DROP COLUMN {column}")
    assert f"DB104@{table}.{column}" in violations(folder)


def test_defect_7_one_group_has_two_names_on_two_ranks(tmp_path: Path):
    for rank in ("level1_rank0", "level1_rank1"):
        shutil.copytree(DATA / rank, tmp_path / rank)
    damaged = tmp_path / "level1_rank1" / "analysis.db"
    change(damaged, "UPDATE CommAnalyzerTime SET group_name = '99978775601474614865'")
    key = "DB972@CommAnalyzerTime.group_name"
    named = "SELECT count(*), min(rowid) FROM CommAnalyzerTime WHERE hccl_op_name LIKE '%!_!_%' ESCAPE '!'"
    assert_reported(tmp_path, key, *ask(damaged, named))


def test_defect_7_a_group_that_parallel_group_info_does_not_list(folder: Path):
    path = folder / PROFILER
    known = json.dumps({"other": {"group_name": "tp", "group_rank": 0, "global_ranks": [0, 1]}})
    change(path, f"INSERT INTO META_DATA VALUES ('parallel_group_info', '{known}')")
    operators = "SELECT count(*), min(rowid) FROM COMMUNICATION_OP"
    assert_reported(folder, "DB973@COMMUNICATION_OP.groupName", *ask(path, operators))


SILENT = {
    "string table dropped": ("DROP TABLE STRING_IDS", "DB101@STRING_IDS"),
    "tasks dropped": ("DROP TABLE TASK", "DB521@COMPUTE_TASK_INFO.globalTaskId"),
    "core count dropped": (
        "ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN blockDim",
        "DB104@COMPUTE_TASK_INFO.blockDim",
    ),
    "links emptied": ("DELETE FROM CONNECTION_IDS", "DB118@CONNECTION_IDS"),
    "steps emptied": ("DELETE FROM STEP_TIME", "DB118@STEP_TIME"),
    "map dropped": ("DROP TABLE RANK_DEVICE_MAP", "DB101@RANK_DEVICE_MAP"),
    "enum emptied": ("DELETE FROM ENUM_HCCL_DATA_TYPE", "DB119@ENUM_HCCL_DATA_TYPE"),
}


@pytest.mark.parametrize("name", SILENT)
def test_what_analysers_pass_over_in_silence_is_a_violation(folder: Path, name: str):
    damage, key = SILENT[name]
    change(folder / PROFILER, damage)
    assert key in violations(folder)
