"""The defects that no reader reports (consumers.md 2.1.3 and 4), applied to copies of real files.

What is expected is counted by plain SQL of its own on the damaged copy.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from profiles import REAL, change, copy_real, readable, real, run

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport, Finding, Report
from ascend_ref.derive.group_hash import group_hash
from ascend_spec import catalog

FOLDER = "level1_rank1"
RANK_1 = f"{FOLDER}/ascend_pytorch_profiler_1.db"
PROFILER = "ascend_pytorch_profiler_1.db"
ANALYSIS = "analysis.db"
TABLES = catalog().at("1.0.0-2025-01", "pytorch").tables
ANALYSIS_TABLES = catalog().at("1.0.0-2025-01", "analysis").tables

Bad = tuple[int, int | None]
"""Number of bad rows and the smallest rowid among them."""


def ask(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        return connection.execute(query).fetchall()


def held() -> dict[str, list[str]]:
    """Tables with rows in the real file, and their columns; nothing where it is absent."""
    path = REAL / RANK_1
    if not path.exists():
        return {}
    names = [
        str(row[0]) for row in ask(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    return {
        name: [str(row[1]) for row in ask(path, f"PRAGMA table_info({name})")]
        for name in sorted(names)
        if ask(path, f"SELECT count(*) FROM {name}")[0][0]
    }


HELD = held()
needs_real = pytest.mark.skipif(not HELD, reason=f"needs the real profiles of {REAL}")
pytestmark = needs_real


def columns(wanted: Callable[[str, str], bool]) -> list[str]:
    """``TABLE.column`` of every column of the real file that is wanted."""
    return [
        f"{table}.{column}"
        for table, names in HELD.items()
        for column in names
        if table in TABLES and column in TABLES[table].columns and wanted(table, column)
    ]


def references(prefix: str) -> list[str]:
    return columns(
        lambda table, column: any(
            target.startswith(prefix) for target in TABLES[table].columns[column].references
        )
    )


def some_rows(table: str, where: str = "1") -> str:
    """The rowids of up to three rows that are not the first."""
    skipped = f"(SELECT count(*) > 1 FROM {table} WHERE {where})"
    return f"SELECT rowid FROM {table} WHERE {where} ORDER BY rowid LIMIT 3 OFFSET {skipped}"


def expect(
    file: FileReport, place: str, bad: Bad, verdict: str = "violation", rule: str = ""
) -> Finding:
    """The finding that names the place, the exact count and the first rowid."""
    table, _, column = place.partition(".")
    fitting = [
        finding
        for finding in file.findings
        if (finding.table, finding.column) == (table, column or None)
        and finding.verdict == verdict
        and finding.rule.startswith(rule)
        and (finding.count, finding.first_rowid) == bad
    ]
    assert fitting, [
        (finding.rule, finding.verdict, finding.place, finding.count, finding.first_rowid)
        for finding in file.findings
    ]
    if bad[1] is not None:
        assert f"rowid {bad[1]}" in fitting[0].message
    return fitting[0]


def count(path: Path, table: str, where: str) -> Bad:
    """The rows of the table for which ``where`` holds, by plain SQL."""
    ((number, first),) = ask(path, f"SELECT count(*), min(rowid) FROM {table} WHERE {where}")
    assert isinstance(number, int)
    assert isinstance(first, int)
    assert number
    return number, first


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    real(RANK_1)
    return copy_real(FOLDER, tmp_path_factory.mktemp("pristine"))


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the real rank folder to damage."""
    target = tmp_path / FOLDER
    shutil.copytree(pristine, target)
    return target


@pytest.fixture
def profiler(folder: Path) -> Path:
    return folder / PROFILER


@pytest.fixture
def analysis(folder: Path) -> Path:
    return folder / ANALYSIS


def test_the_copies_are_sound_before_they_are_damaged(folder: Path) -> None:
    report = check([folder])
    assert [finding for finding in report.findings if finding.verdict == "violation"] == []


# 1. String ids


@pytest.mark.parametrize("place", references("STRING_IDS"))
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
    expect(readable(profiler), place, count(profiler, table, dangling))


def test_the_tasks_are_dropped(profiler: Path) -> None:
    """The analyser's mode ``all`` does not notice."""
    assert "COMPUTE_TASK_INFO.globalTaskId" in lost(change(profiler, "DROP TABLE TASK"), "TASK")


def lost(path: Path, table: str) -> dict[str, Finding]:
    """The violations, by place, that name an absent table."""
    return {
        finding.place: finding
        for finding in readable(path).findings
        if finding.verdict == "violation"
        and table in (finding.table, *finding.message.split(), *finding.expected.split())
    }


# 3. The chain from framework call to task, and from task to operator


@dataclass(frozen=True)
class Break:
    """Statements that break a link, the place that is named, and which of its rows are bad."""

    statements: tuple[str, ...]
    place: str
    bad: str


LINKED = "taskType NOT IN (SELECT id FROM STRING_IDS WHERE value GLOB 'PROFILING_*')"
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


@pytest.mark.parametrize("link", CHAIN)
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


@pytest.mark.parametrize("table", EMPTIED)
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


@pytest.mark.parametrize("table", DROPPED)
def test_tables_that_were_dropped(profiler: Path, table: str) -> None:
    assert DROPPED[table] in lost(change(profiler, f"DROP TABLE {table}"), table)


@pytest.mark.parametrize(
    "place", ["COMPUTE_TASK_INFO.blockDim", "COMPUTE_TASK_INFO.name", "CANN_API.type"]
)
def test_columns_that_were_dropped(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(profiler, f"ALTER TABLE {table} DROP COLUMN {column}")
    expect(readable(profiler), place, (1, None))


# 4. Times


INTERVALS = [name for name, table in TABLES.items() if table.interval and name in HELD]


@pytest.mark.parametrize("table", INTERVALS)
def test_intervals_that_end_before_they_start(profiler: Path, table: str) -> None:
    interval = TABLES[table].interval
    assert interval is not None
    start, end = interval
    change(
        profiler,
        f"UPDATE {table} SET {end} = CAST({start} AS INTEGER) - 1 - rowid "
        f"WHERE rowid IN ({some_rows(table)})",
    )
    bad = count(profiler, table, f"CAST({end} AS INTEGER) < CAST({start} AS INTEGER)")
    expect(readable(profiler), f"{table}.{end}", bad)


def test_five_tasks_that_end_before_they_start(profiler: Path) -> None:
    change(profiler, "UPDATE TASK SET endNs = startNs - 100 WHERE rowid BETWEEN 11 AND 15")
    expect(readable(profiler), "TASK.endNs", (5, 11))


@pytest.mark.parametrize("place", ["OP_MEMORY.duration", "OP_MEMORY.activeDuration"])
def test_durations_that_are_negative(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    some = some_rows(table, f"{column} IS NOT NULL")
    change(profiler, f"UPDATE {table} SET {column} = -5 WHERE rowid IN ({some})")
    expect(readable(profiler), place, count(profiler, table, f"{column} < 0"))


@pytest.mark.parametrize(
    "place",
    ["StepTraceTime.computing", "CommAnalyzerTime.wait_time", "CommAnalyzerTime.elapse_time"],
)
def test_times_of_the_analysis_that_are_negative(analysis: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(analysis, f"UPDATE {table} SET {column} = -1.5 WHERE rowid IN ({some_rows(table)})")
    expect(readable(analysis), place, count(analysis, table, f"{column} < 0"))


SESSION = "(SELECT startTimeNs FROM SESSION_TIME_INFO)"
SESSION_END = "(SELECT endTimeNs FROM SESSION_TIME_INFO)"


def test_tasks_before_the_session(profiler: Path) -> None:
    change(
        profiler,
        f"UPDATE TASK SET startNs = {SESSION} - 9000, endNs = {SESSION} - 5000 + rowid "
        "WHERE rowid < 4",
    )
    expect(readable(profiler), "TASK.startNs", count(profiler, "TASK", f"endNs < {SESSION}"))


@pytest.mark.parametrize(
    "table", [name for name in INTERVALS if TABLES[name].session_start == "hard"]
)
def test_intervals_before_the_session(profiler: Path, table: str) -> None:
    change(
        profiler, f"UPDATE {table} SET startNs = {SESSION} - 1 WHERE rowid IN ({some_rows(table)})"
    )
    bad = count(profiler, table, f"startNs < {SESSION}")
    expect(readable(profiler), f"{table}.startNs", bad)


SAMPLES = [
    f"{name}.{table.sample}"
    for name, table in TABLES.items()
    if table.sample and table.session_start == "hard" and name in HELD
]


@pytest.mark.parametrize("place", SAMPLES)
def test_samples_before_the_session(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    change(
        profiler, f"UPDATE {table} SET {column} = {SESSION} - 1 WHERE rowid IN ({some_rows(table)})"
    )
    expect(readable(profiler), place, count(profiler, table, f"{column} < {SESSION}"))


def test_tasks_after_the_session_are_advice(profiler: Path) -> None:
    """Exporters drop nothing at the end of the session (db-schema.md 6): nothing is condemned."""
    change(profiler, "UPDATE TASK SET endNs = endNs + 900000000 WHERE rowid > 549")
    bad = count(profiler, "TASK", f"endNs > {SESSION_END}")
    expect(readable(profiler), "TASK.endNs", bad, "advice")


def test_tasks_outside_the_steps(profiler: Path) -> None:
    change(profiler, "UPDATE STEP_TIME SET endNs = endNs - 100000000")
    outside = (
        "startNs NOT BETWEEN (SELECT min(startNs) FROM STEP_TIME) AND "
        f"(SELECT max(endNs) FROM STEP_TIME) AND {LINKED}"
    )
    expect(readable(profiler), "TASK.startNs", count(profiler, "TASK", outside), "advice")


# 5. Enum ids


@pytest.mark.parametrize("place", references("ENUM_"))
def test_enum_ids_that_are_unknown(profiler: Path, place: str) -> None:
    table, _, column = place.partition(".")
    definition = TABLES[table].columns[column]
    change(
        profiler,
        f"UPDATE {table} SET {column} = 40000 + rowid % 1000 WHERE rowid IN ({some_rows(table)})",
    )
    target = definition.references[0].partition(".")[0]
    bad = count(profiler, table, f"{column} NOT IN (SELECT id FROM {target}) AND {column} >= 0")
    # Exporters of 2024 wrote module ids before ENUM_MODULE knew them (db-schema.md I02).
    expect(readable(profiler), place, bad, "advice" if definition.soft_reference else "violation")


@pytest.mark.parametrize("place", references("ENUM_"))
def test_enum_members_that_were_deleted(profiler: Path, place: str) -> None:
    """Told once, at the enum table."""
    table, _, column = place.partition(".")
    target = TABLES[table].columns[column].references[0].partition(".")[0]
    change(
        profiler,
        f"DELETE FROM {target} WHERE id = (SELECT min({column}) FROM {table} WHERE {column} >= 0)",
    )
    finding = expect(readable(profiler), f"{target}.id", (1, None))
    assert finding.rule == "DB122"


def test_five_host_calls_of_an_unknown_type(profiler: Path) -> None:
    change(
        profiler,
        "UPDATE CANN_API SET type = 777 WHERE rowid IN (SELECT rowid FROM CANN_API LIMIT 5)",
    )
    expect(readable(profiler), "CANN_API.type", count(profiler, "CANN_API", "type = 777"))


# 6. Ranks


def test_a_rank_that_the_map_gives_alone(profiler: Path) -> None:
    change(profiler, "UPDATE RANK_DEVICE_MAP SET rankId = 7")
    finding = expect(readable(profiler), "RANK_DEVICE_MAP.rankId", (1, 1))
    assert "7" in finding.message
    assert finding.expected == "1"


def test_a_rank_that_the_file_name_gives_alone(profiler: Path) -> None:
    renamed = profiler.rename(profiler.with_name("ascend_pytorch_profiler_7.db"))
    finding = expect(readable(renamed), "RANK_DEVICE_MAP.rankId", (1, 1))
    assert "the file name says 7" in finding.message


@pytest.mark.parametrize("rank", [7, "7"])
def test_a_rank_that_profiler_info_gives_alone(folder: Path, rank: int | str) -> None:
    info = folder / "profiler_info_1.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), "rank_id": rank}))
    finding = expect(readable(folder / PROFILER), "RANK_DEVICE_MAP.rankId", (1, 1))
    assert "profiler_info says 7" in finding.message


def test_a_rank_that_the_map_does_not_give(profiler: Path) -> None:
    """Renamed, and the map without a rank: name and profiler_info still differ."""
    change(profiler, "UPDATE RANK_DEVICE_MAP SET rankId = -1")
    renamed = profiler.rename(profiler.with_name("ascend_pytorch_profiler_7.db"))
    file = readable(renamed)
    found = [finding for finding in file.findings if finding.place == "RANK_DEVICE_MAP.rankId"]
    assert [finding.verdict for finding in found] == ["violation"]
    assert "the file name says rank 7, profiler_info says 1" in found[0].message


# 7. The analysis, and groups


@pytest.mark.parametrize("table", sorted(ANALYSIS_TABLES))
def test_tables_of_the_analysis_that_were_dropped(analysis: Path, table: str) -> None:
    assert lost(change(analysis, f"DROP TABLE {table}"), table)


@pytest.mark.parametrize(
    "place",
    [f"{table.name}.{column}" for table in ANALYSIS_TABLES.values() for column in table.columns],
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
    other = str(int(str(usual)) + 1000)
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


@pytest.mark.parametrize("defect", COMMAND_LINES)
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
