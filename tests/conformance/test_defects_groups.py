"""Defects that no reader reports (consumers.md 4, row 7): the analysis, groups; and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from defects import (
    ANALYSIS,
    ANALYSIS_TABLES,
    PROFILER,
    ask,
    count,
    expect,
    lost,
    needs_real,
)
from profiles import change, copy_real, readable, run
from slices import some

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport, Report
from ascend_ref.derive.group_hash import group_hash

pytestmark = needs_real

# 7. The analysis, and groups


@pytest.mark.parametrize("table", sorted(ANALYSIS_TABLES))
def test_tables_of_the_analysis_that_were_dropped(analysis: Path, table: str) -> None:
    assert lost(change(analysis, f"DROP TABLE {table}"), table)


@pytest.mark.parametrize(
    "place",
    some(
        [f"{table.name}.{one}" for table in ANALYSIS_TABLES.values() for one in table.columns],
        every=4,
    ),
)
def test_columns_of_the_analysis_that_were_dropped(analysis: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(analysis, f"ALTER TABLE {table} DROP COLUMN {column}")
    expect(readable(analysis), place, (1, None))


COMMUNICATION_TABLES = ["CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix"]


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """Copies of both ranks of one job, under one folder."""
    parent = tmp_path / "job"
    parent.mkdir()
    for name in ("level1_rank0", "level1_rank1"):
        copy_real(name, parent)
    return parent


def report_of(report: Report, name: str) -> FileReport:
    (file,) = [file for file in report.files if file.file.endswith(name)]
    assert file.unreadable is None
    return file


def test_both_ranks_agree_before_they_are_damaged(ranks: Path) -> None:
    report = check([ranks])
    assert [finding for finding in report.findings if finding.verdict == "violation"] == []


def test_a_group_that_has_another_name_on_one_rank(ranks: Path) -> None:
    path = ranks / "level1_rank1" / ANALYSIS
    ((usual,),) = ask(
        path, "SELECT DISTINCT group_name FROM CommAnalyzerTime WHERE group_name > ''"
    )
    other = str(int(str(usual)) + 1)
    for table in COMMUNICATION_TABLES:
        change(path, f"UPDATE {table} SET group_name = '{other}' WHERE group_name = '{usual}'")
    report = check([ranks])
    renamed = count(
        path, "CommAnalyzerTime", f"group_name = '{other}' AND hccl_op_name GLOB 'hcom*'"
    )
    damaged = report_of(report, f"rank1/{ANALYSIS}")
    finding = expect(damaged, "CommAnalyzerTime.group_name", renamed, rule="DB972")
    assert finding.expected == usual
    assert other in finding.message
    told = report_of(report, f"rank0/{ANALYSIS}").findings
    assert [one for one in told if one.rule == finding.rule] == []


def test_a_group_that_the_profiler_database_names_otherwise_on_one_rank(ranks: Path) -> None:
    path = ranks / "level1_rank1" / PROFILER
    change(
        path,
        "UPDATE STRING_IDS SET value = value || '_x' WHERE id = "
        "(SELECT groupName FROM COMMUNICATION_OP LIMIT 1)",
    )
    everything = count(path, "COMMUNICATION_OP", "1")
    report = check([ranks])
    expect(report_of(report, PROFILER), "COMMUNICATION_OP.groupName", everything)


def describe_groups(path: Path, groups: Sequence[str]) -> None:
    described = {
        group: {"group_name": "dp", "global_ranks": [0, 1], "group_rank": 1} for group in groups
    }
    change(path, f"INSERT INTO META_DATA VALUES ('parallel_group_info', '{json.dumps(described)}')")


def test_a_group_that_parallel_group_info_does_not_describe(profiler: Path) -> None:
    describe_groups(profiler, ["another_group"])
    everything = count(profiler, "COMMUNICATION_OP", "1")
    expect(readable(profiler), "COMMUNICATION_OP.groupName", everything)


@pytest.mark.parametrize("as_hash", [False, True])
def test_a_group_that_parallel_group_info_describes(profiler: Path, as_hash: bool) -> None:
    """COMMUNICATION_OP names a group as it is called, or by the hash of that name."""
    ((group, name),) = ask(
        profiler,
        "SELECT DISTINCT id, value FROM COMMUNICATION_OP JOIN STRING_IDS ON id = groupName",
    )
    describe_groups(profiler, [str(name)])
    if as_hash:
        hashed = group_hash(str(name))
        change(profiler, f"UPDATE STRING_IDS SET value = '{hashed}' WHERE id = {group}")
    found = [
        finding
        for finding in readable(profiler).findings
        if finding.place == "COMMUNICATION_OP.groupName"
    ]
    assert found == []


# What readers tolerate is not condemned, and what they do not is told by the command


def test_more_tables_and_columns_are_no_violation(profiler: Path, analysis: Path) -> None:
    change(profiler, "CREATE TABLE EXTRA(a)", "ALTER TABLE TASK ADD COLUMN extra INTEGER")
    change(analysis, "ALTER TABLE StepTraceTime ADD COLUMN deviceId INTEGER DEFAULT 1")
    for path in (profiler, analysis):
        graver = [one for one in readable(path).findings if one.verdict == "violation"]
        assert graver == []


COMMAND_LINES = {
    "1": (
        "UPDATE CANN_API SET name = 999999999 WHERE rowid % 100 = 1",
        "CANN_API.name",
        "name = 999999999",
    ),
    "2": (
        "UPDATE COMPUTE_TASK_INFO SET globalTaskId = 900000 + globalTaskId WHERE rowid % 50 = 1",
        "COMPUTE_TASK_INFO.globalTaskId",
        "globalTaskId > 900000",
    ),
    "3": (
        "UPDATE COMMUNICATION_TASK_INFO SET opId = 99 WHERE rowid > 290",
        "COMMUNICATION_TASK_INFO.opId",
        "opId = 99",
    ),
    "4": (
        "UPDATE TASK SET endNs = startNs - 1 WHERE rowid IN (20, 21)",
        "TASK.endNs",
        "endNs < startNs",
    ),
    "5": ("UPDATE CANN_API SET type = 777 WHERE rowid % 9 = 1", "CANN_API.type", "type = 777"),
    "6": ("UPDATE RANK_DEVICE_MAP SET rankId = 7", "RANK_DEVICE_MAP.rankId", "rankId = 7"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("defect", some(COMMAND_LINES, every=6))
def test_the_command_names_table_column_count_and_first_row(profiler: Path, defect: str) -> None:
    statement, place, where = COMMAND_LINES[defect]
    change(profiler, statement)
    number, first = count(profiler, place.partition(".")[0], where)
    result = run(profiler)
    assert (result.returncode, result.stderr) == (1, b"")
    text = " ".join(result.stdout.decode().split())
    told = text[text.index(f"{place}: ") :]
    assert f"{number:,} " in told
    assert f"(first: rowid {first})" in told


def test_the_command_names_a_dropped_column_of_the_analysis(folder: Path) -> None:
    change(folder / ANALYSIS, "ALTER TABLE CommAnalyzerMatrix DROP COLUMN op_name")
    result = run(folder)
    assert (result.returncode, result.stderr) == (1, b"")
    assert "CommAnalyzerMatrix has no column op_name" in result.stdout.decode()
