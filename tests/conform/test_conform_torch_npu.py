"""torch_npu's own analysis of raw profiles: what it writes is what was recorded."""

from __future__ import annotations

import os
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from slices import marked

from ascend_conformance.difference import databases
from ascend_conformance.difference.files import tables_below
from ascend_conformance.difference.pairing import Difference
from ascend_conformance.harness.case import Case
from ascend_conformance.harness.conform import Outcome, conform
from ascend_conformance.harness.drawing import draw_cases, size
from ascend_conformance.harness.expected import Expected, read_expected
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.named import NoExporter, exporter_of
from ascend_conformance.harness.stages import STAGES
from ascend_conformance.harness.trial import PLAINLY, prepared
from ascend_ref.cli import main
from ascend_ref.profile.raw import export_raw
from ascend_ref.raw import Unreadable
from ascend_simulator import write_run
from ascend_simulator.choices import FaultChoice
from ascend_simulator.scenario import RUN, Scenario

ROOT = Path(__file__).parents[2]
STAGE = STAGES["framework-to-profile"]
WHEELS = Path(os.environ.get("ASCEND_REF_TORCH_NPU", ROOT / ".venv" / "wheels"))
KNOWN = ROOT / "examples" / "torch-npu.expected.yaml"
MOST_ROWS = 60_000
PRESETS = (
    *("single-op", "text-museum", "observed-everything", "edge-310b", "inference-310p"),
    *("cnn-910a", "cnn-910b", "moe-8", "recommendation", "dense-8", "dense-pipeline", "troubled"),
    *("llm-inference", "a3-dense"),
)

needs_torch_npu = pytest.mark.skipif(
    not WHEELS.exists(),
    reason=f"{WHEELS}: no wheel of torch_npu (make test fetches it; ASCEND_REF_TORCH_NPU)",
)


def cut(scenario: Scenario) -> Scenario:
    """A scenario of at most so many rows a rank, of as many ranks and fewer steps."""
    alone = replace(scenario, parallelism=scenario.parallelism)
    while size(Case(alone)) // alone.parallelism.ranks > MOST_ROWS and alone.schedule.active > 1:
        alone = replace(alone, schedule=replace(alone.schedule, active=alone.schedule.active // 2))
    return alone


def tried(cases: Sequence[Case]) -> Outcome:
    tool = exporter_of(f"torch-npu:{WHEELS}", STAGE.name, Limits(600, 8192), STAGE.reference)
    return conform(tool, STAGE, cases, PLAINLY, read_expected(KNOWN), most=0)


def assert_as_recorded(outcome: Outcome, cases: int) -> None:
    shown = [one.failure for one in outcome.shown if one.failure.fails]
    assert [(*one.signature, one.finding.message) for one in shown] == []
    assert [one.message for one in outcome.absent] == []
    assert outcome.cases == cases
    assert outcome.skipped == []


@pytest.mark.exhaustive
@needs_torch_npu
def test_what_it_writes_is_what_was_recorded() -> None:
    scenario = RUN.preset("single-op")
    alone = replace(scenario, capture=replace(scenario.capture, level=0, npu=False))
    memory = replace(scenario, capture=replace(scenario.capture, memory=True, stack=True))
    outcome = tried([Case(one, STAGE.name) for one in (alone, memory)])
    assert_as_recorded(outcome, 2)
    tables = {"PYTORCH_API", "CONNECTION_IDS", "STEP_TIME", "OP_MEMORY", "PYTORCH_CALLCHAINS"}
    texts = {"kernel_details", "trace_view", "operator_details", "step_trace_time"}
    assert tables | texts | {"MEMORY_RECORD", "TASK", "StepTraceTime"} <= outcome.features.keys()


@needs_torch_npu
@pytest.mark.parametrize(
    "name",
    [
        marked(one, pytest.mark.campaign if at % 18 else pytest.mark.exhaustive)
        for at, one in enumerate(PRESETS)
    ],
)
def test_presets(name: str) -> None:
    assert_as_recorded(tried([Case(cut(RUN.preset(name)), STAGE.name)]), 1)


@needs_torch_npu
@pytest.mark.campaign
def test_cases_that_are_drawn() -> None:
    cases = draw_cases(STAGE, 12, 5)
    outcome = tried(cases)
    assert [one.failure.finding for one in outcome.shown if one.failure.fails] == []


@needs_torch_npu
@pytest.mark.exhaustive
def test_records_that_it_loses_are_a_failed_export(tmp_path: Path) -> None:
    """A torn last record of torch.op_range is lost with a warning, and exit code 0."""
    tool = exporter_of(f"torch-npu:{WHEELS}", STAGE.name, Limits(), STAGE.reference)
    with prepared(STAGE, Case(RUN.preset("single-op"), STAGE.name)) as folder:
        (source,) = (folder / "input").iterdir()
        path = source / "FRAMEWORK" / "torch.op_range"
        path.write_bytes(path.read_bytes()[:-1])
        (tmp_path / "out").mkdir()
        result = tool.export(source, tmp_path / "out")
    assert result.how == "failed"
    assert "has been lost" in result.words


@pytest.mark.parametrize("npu", [True, False])
def test_a_capture_whose_files_state_no_time_is_not_drawn(tmp_path: Path, npu: bool) -> None:
    """After an abnormal end profiler_info has no end_info, and without a device nothing else."""
    scenario = RUN.preset("single-op")
    ended = replace(
        scenario,
        capture=replace(scenario.capture, npu=npu),
        faults=(FaultChoice("abnormal-end"),),
    )
    case = Case(ended, STAGE.name)
    assert STAGE.can_be_drawn(case) == npu
    with prepared(STAGE, case) as folder:
        (source,) = (folder / "input").iterdir()
        if npu:
            export_raw(source, tmp_path / "out")
        else:
            with pytest.raises(Unreadable, match="no collectionTimeEnd in end_info"):
                export_raw(source, tmp_path / "out")


def test_our_own_export_is_what_was_recorded() -> None:
    scenario = RUN.preset("single-op")
    small = replace(scenario, capture=replace(scenario.capture, memory=True, stack=True))
    outcome = conform(
        Function("reference", STAGE.reference), STAGE, [Case(small, STAGE.name)], PLAINLY, most=0
    )
    assert [one.failure.finding for one in outcome.shown] == []
    assert {"PYTORCH_API", "StepTraceTime", "trace_view"} <= outcome.features.keys()


def test_what_is_no_torch_npu_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "torch_npu-2.14.0-x.whl").write_bytes(b"PK")
    (tmp_path / "other").mkdir()
    with zipfile.ZipFile(tmp_path / "other" / "torch_npu-1-x.whl", "w") as archive:
        archive.writestr("torch_npu/__init__.py", "")
    for path in (tmp_path, tmp_path / "nothing", tmp_path / "other"):
        with pytest.raises(NoExporter, match="expected a wheel of torch_npu"):
            exporter_of(f"torch-npu:{path}", STAGE.name, Limits(), STAGE.reference)


# Databases by meaning


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scenario = RUN.preset("observed-everything")
    small = replace(scenario, schedule=replace(scenario.schedule, active=1))
    run = write_run(small, 1, tmp_path_factory.mktemp("profile") / "run", ("pytorch-db",))
    return run.profiles[-1] / "ASCEND_PROFILER_OUTPUT"


def compared(profile: Path, place: Path, *changes: str) -> list[Difference]:
    copytree(profile, place / "changed")
    (path,) = (place / "changed").glob("ascend_pytorch_profiler_*.db")
    with closing(sqlite3.connect(path)) as database:
        for change in changes:
            database.executescript(change)
        database.commit()
    left, right = (list(tables_below(one)) for one in (profile, place / "changed"))
    return databases.differences(left, right)


NUMBERS: dict[str, tuple[tuple[str, str], ...]] = {
    "connection": (
        ("CANN_API", "connectionId"),
        ("TASK", "connectionId"),
        ("COMMUNICATION_OP", "connectionId"),
        ("CONNECTION_IDS", "connectionId"),
        ("MSTX_EVENTS", "connectionId"),
    ),
    "call": (("PYTORCH_API", "connectionId"), ("CONNECTION_IDS", "id")),
    "stack": (("PYTORCH_API", "callchainId"), ("PYTORCH_CALLCHAINS", "id")),
    "operator": (("COMMUNICATION_OP", "opId"), ("COMMUNICATION_TASK_INFO", "opId")),
    "task": tuple(
        (table, "globalTaskId")
        for table in (
            *("TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO"),
            *("MEMCPY_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"),
        )
    ),
}
NO_NUMBERS = "(-1, 4000000000, 4294967295)"


def renumber(database: sqlite3.Connection, kind: str) -> None:
    """Other numbers for the same things, in an order of their own."""
    for table, column in NUMBERS[kind]:
        there = database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        if there:
            known = f"{column} IS NOT NULL AND {column} NOT IN {NO_NUMBERS}"
            database.execute(f"UPDATE {table} SET {column} = -7 - {column} WHERE {known}")
            database.execute(
                f"UPDATE {table} SET {column} = 9000000007 + {column} WHERE {column} < -1"
            )


def test_how_things_are_numbered_is_no_difference(profile: Path, tmp_path: Path) -> None:
    copytree(profile, tmp_path / "changed")
    (path,) = (tmp_path / "changed").glob("ascend_pytorch_profiler_*.db")
    with closing(sqlite3.connect(path)) as database:
        for kind in NUMBERS:
            renumber(database, kind)
        ((most,),) = database.execute("SELECT max(id) + 1 FROM STRING_IDS")
        ((kept,),) = database.execute("SELECT min(taskType) FROM TASK")
        again = "INSERT INTO STRING_IDS SELECT ?, value FROM STRING_IDS WHERE id = ?"
        database.execute(again, (most, kept))
        database.execute("UPDATE TASK SET taskType = ? WHERE taskType = ?", (most, kept))
        database.commit()
    left, right = (list(tables_below(one)) for one in (profile, tmp_path / "changed"))
    assert databases.differences(left, right) == []


BREAKS = {
    "a time": ("UPDATE TASK SET endNs = endNs + 1 WHERE rowid = 3", "TASK", "value", "endNs"),
    "a text": (
        "UPDATE PYTORCH_API SET name = (SELECT min(name) FROM PYTORCH_API) WHERE rowid = "
        "(SELECT max(rowid) FROM PYTORCH_API)",
        *("PYTORCH_API", "absent row", None),
    ),
    "a member": (
        "UPDATE CANN_API SET type = 20000 WHERE rowid = "
        "(SELECT min(rowid) FROM CANN_API WHERE type = 10000)",
        *("CANN_API", "value", "type"),
    ),
    "a lost row": (
        "DELETE FROM OP_MEMORY WHERE rowid = (SELECT max(rowid) FROM OP_MEMORY)",
        *("OP_MEMORY", "absent row", None),
    ),
    "a row twice": (
        "INSERT INTO STEP_TIME SELECT * FROM STEP_TIME LIMIT 1",
        *("STEP_TIME", "added row", None),
    ),
    "a launch of another task": (
        "UPDATE TASK SET connectionId = (SELECT max(connectionId) FROM CANN_API) WHERE rowid = "
        "(SELECT min(t.rowid) FROM TASK t JOIN CANN_API c USING (connectionId))",
        *("TASK", "value", "connectionId"),
    ),
    "a link of another call": (
        "UPDATE CONNECTION_IDS SET connectionId = (SELECT max(connectionId) FROM CONNECTION_IDS) "
        "WHERE rowid = 1",
        *("CONNECTION_IDS", "absent row", None),
    ),
    "a frame": (
        "UPDATE PYTORCH_CALLCHAINS SET stack = (SELECT max(stack) FROM PYTORCH_CALLCHAINS), "
        "stackDepth = stackDepth + 1 WHERE rowid = 2",
        *("PYTORCH_CALLCHAINS", "absent row", None),
    ),
    "a transfer of another operator": (
        "UPDATE COMMUNICATION_TASK_INFO SET opId = (SELECT max(opId) FROM COMMUNICATION_OP) "
        "WHERE rowid = 1",
        *("COMMUNICATION_TASK_INFO", "absent row", None),
    ),
    "a lost table": ("DROP TABLE HOST_INFO", "HOST_INFO", "absent file", None),
    "a table of nobody": (
        "CREATE TABLE MINE (a INTEGER); INSERT INTO MINE VALUES (1)",
        *("MINE", "added file", None),
    ),
    "a lost column": (
        "ALTER TABLE SESSION_TIME_INFO DROP COLUMN endTimeNs",
        *("SESSION_TIME_INFO", "absent column", "endTimeNs"),
    ),
    "nothing": ("UPDATE NPU_INFO SET name = NULL", "NPU_INFO", "value", "name"),
    "no whole number": (
        "UPDATE AICORE_FREQ SET timestampNs = 'soon' WHERE rowid = 1",
        *("AICORE_FREQ", "broken file", None),
    ),
}


@pytest.fixture(scope="module")
def broken(profile: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Difference]:
    changes = [change for change, *_ in BREAKS.values()]
    return compared(profile, tmp_path_factory.mktemp("broken"), *changes)


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_found(broken: list[Difference], name: str) -> None:
    _, table, what, column = BREAKS[name]
    assert (table, what, column) in {(one.feature, one.what, one.column) for one in broken}


def test_nothing_but_the_breaks_is_found(broken: list[Difference]) -> None:
    assert {one.feature for one in broken} == {table for _, table, *_ in BREAKS.values()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("damage", [lambda data: data[:5000], lambda _: b"no database at all"])
def test_a_damaged_database_is_a_failure(
    profile: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    def cut_short(source: Path, target: Path) -> None:
        STAGE.reference(source, target)
        (path,) = target.rglob("ascend_pytorch_profiler_*.db")
        path.write_bytes(damage(path.read_bytes()))

    case = Case(RUN.preset("single-op"), STAGE.name)
    outcome = conform(Function("cut", cut_short), STAGE, [case], PLAINLY, most=0)
    assert "CFM203" in {one.failure.finding.rule for one in outcome.shown}


def test_an_expected_failure_may_be_seldom() -> None:
    case = Case(RUN.preset("single-op"), STAGE.name)
    always = Expected("CFM206", "why", feature="TASK")
    known = [always, replace(always, seldom=True)]
    outcome = conform(Function("reference", STAGE.reference), STAGE, [case], PLAINLY, known, most=0)
    assert len(outcome.absent) == 1


def test_a_database_without_a_device_conforms_without_keys(tmp_path: Path) -> None:
    """As torch_npu 2.14.0 alone writes it (erratum E56)."""
    scenario = RUN.preset("single-op")
    host = replace(scenario, capture=replace(scenario.capture, npu=False))
    run = write_run(host, 0, tmp_path / "run", ("pytorch-db",))
    (path,) = run.folder.rglob("*.db")
    with closing(sqlite3.connect(path)) as database:
        made = dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        kinds = database.execute("SELECT name FROM ENUM_API_TYPE ORDER BY id").fetchall()
        facts = {name for (name,) in database.execute("SELECT name FROM META_DATA")}
        devices = database.execute("SELECT deviceId FROM RANK_DEVICE_MAP").fetchall()
    assert made["STRING_IDS"] == "CREATE TABLE STRING_IDS (id INTEGER, value TEXT)"
    assert made["ENUM_API_TYPE"] == "CREATE TABLE ENUM_API_TYPE (id INTEGER, name TEXT)"
    assert kinds == [("op",), ("queue",), ("trace",), ("mstx",)]
    assert "SCHEMA_VERSION" not in facts
    assert devices == [(-1,)]
    assert {"NPU_INFO", "SESSION_TIME_INFO", "ENUM_MODULE"}.isdisjoint(made)
    assert main(["check", str(path)]) == 0


def test_a_key_is_still_missed_where_there_is_a_device(profile: Path, tmp_path: Path) -> None:
    copytree(profile, tmp_path / "changed")
    (path,) = (tmp_path / "changed").glob("ascend_pytorch_profiler_*.db")
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE kept AS SELECT * FROM STRING_IDS; DROP TABLE STRING_IDS;"
            "CREATE TABLE STRING_IDS (id INTEGER, value TEXT);"
            "INSERT INTO STRING_IDS SELECT * FROM kept; DROP TABLE kept"
        )
    assert main(["check", str(path), "--select", "DB111"]) == 1
