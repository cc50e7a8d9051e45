"""Real databases changed as branches of torch_npu write them that no profile at hand went through.

Each test names the file of the exporter. None of the findings that it is about may be new.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from profiles import digest_of, real
from slices import some

from ascend_conformance.check import check
from ascend_conformance.options import Options

DATABASE = "ascend_pytorch_profiler_0.db"
PROFILES = ("db/level1_rank0", "generations/db_910a_2024_level1_rank0")


@pytest.fixture(params=some(PROFILES, every=2))
def profile(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    source = real(f"../{request.param}")
    return Path(shutil.copytree(source, tmp_path / "real", copy_function=shutil.copyfile))


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A profile of a revision whose step trace is judged by its tasks."""
    source = real("level1_rank0")
    return Path(shutil.copytree(source, tmp_path / "newer", copy_function=shutil.copyfile))


KNOWN: dict[str, frozenset[tuple[str, str]]] = {}
"""What is found in folders of the same content, most of which are copies that nothing changed."""


def found(folder: Path) -> frozenset[tuple[str, str]]:
    content = digest_of(folder)
    if content not in KNOWN:
        findings = check([folder], Options(workers=1)).findings
        KNOWN[content] = frozenset((one.rule, one.place) for one in findings)
    return KNOWN[content]


def change(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as rows:
        for statement in statements:
            rows.execute(statement)
        rows.commit()


def test_environment_of_the_analysis_and_of_the_capture(profile: Path) -> None:
    """``_basic_db_parser.py`` writes both when texts and databases are exported together."""
    before = found(profile)
    copy = "INSERT INTO META_DATA SELECT * FROM META_DATA WHERE name = 'ENV_VARIABLES'"
    change(profile, copy)
    assert found(profile) == before
    change(profile, copy)
    assert {rule for rule, _ in found(profile) - before} == {"DB304"}


def test_capture_without_a_level_has_no_analysis(profile: Path) -> None:
    """``_db_parser.py`` leaves steps and communication out at ``Level_none``."""
    about = profile / "profiler_info_0.json"
    about.write_text(about.read_text().replace('"Level1"', '"Level_none"'))
    before = found(profile)
    (profile / "analysis.db").unlink()
    assert found(profile) <= before


def groups(*names: str) -> str:
    listed = {
        f"10.0.0.1%eth0_{at}": {"group_name": name, "group_rank": 0, "global_ranks": [0, 1]}
        for at, name in enumerate(names)
    }
    return f"INSERT INTO META_DATA VALUES ('parallel_group_info', '{json.dumps(listed)}')"


def test_groups_of_a_job_with_several_backends(profile: Path) -> None:
    """``profiler_interface.py`` passes over all groups but the default one then."""
    before = found(profile)
    change(profile, groups("default_group"))
    assert found(profile) == before
    change(profile, "DELETE FROM META_DATA WHERE name = 'parallel_group_info'")
    change(profile, groups("default_group", "tp"))
    assert {rule for rule, _ in found(profile) - before} == {"DB973"}


def test_replay_of_a_graph_takes_no_memory(profile: Path) -> None:
    """``_memory_db_parser.py`` makes no table of memory without a record of it."""
    about = profile / "profiler_info_0.json"
    settings = json.loads(about.read_text())
    settings["config"]["common_config"]["profile_memory"] = True
    about.write_text(json.dumps(settings))
    before = found(profile)
    change(profile, "DROP TABLE MEMORY_RECORD", "DROP TABLE OP_MEMORY")
    assert {rule for rule, _ in found(profile) - before} == {"LOS204"}
    makers = "SELECT id FROM STRING_IDS WHERE value GLOB 'aten::*empty*'"
    change(profile, f"DELETE FROM PYTORCH_API WHERE name IN ({makers})")
    assert "LOS204" not in {rule for rule, _ in found(profile)}


def test_capture_that_begins_with_tasks_in_the_queue(profile: Path) -> None:
    """``profiler_interface.py`` waits for the device before it stops, and not before it starts."""
    before = found(profile)
    entries = "SELECT id FROM STRING_IDS WHERE value GLOB 'Enqueue*'"
    called = f"FROM PYTORCH_API WHERE type = 50002 AND name IN ({entries}) ORDER BY startNs"
    lost = [
        "CREATE TEMP TABLE lost (row, link)",
        f"INSERT INTO temp.lost SELECT rowid, connectionId {called} LIMIT 3",
        "DELETE FROM CONNECTION_IDS WHERE id IN (SELECT link FROM temp.lost)",
        "DELETE FROM PYTORCH_API WHERE rowid IN (SELECT row FROM temp.lost)",
    ]
    change(profile, *lost)
    assert found(profile) == before
    lost[1] += " OFFSET 5"
    change(profile, *lost)
    assert {rule for rule, _ in found(profile) - before} == {"DB761", "DB762"}


def test_queue_of_the_warm_up(profile: Path) -> None:
    """``profiler_mgr.cpp`` records the queue from the warm-up on, and operators later."""
    change(profile, "DELETE FROM PYTORCH_API WHERE type = 50003")
    before = found(profile)
    warm_up = [
        "CREATE TEMP TABLE queued AS SELECT * FROM PYTORCH_API WHERE type = 50002",
        "CREATE TEMP TABLE links AS SELECT * FROM CONNECTION_IDS",
        "DELETE FROM temp.links WHERE id NOT IN (SELECT connectionId FROM temp.queued)",
    ]
    for step in range(1, 21):
        time = f"CAST(CAST({{0}} AS INTEGER) - {step} * 500000000 AS TEXT)"
        warm_up += [
            "INSERT INTO CONNECTION_IDS (id, connectionId) "
            f"SELECT id + 100000 * {step}, connectionId + 200000 * {step} FROM temp.links",
            "INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) "
            f"SELECT {time.format('startNs')}, {time.format('endNs')}, globalTid, "
            f"connectionId + 100000 * {step}, name, type FROM temp.queued",
        ]
    change(profile, *warm_up)
    assert "DB756" not in {rule for rule, _ in found(profile) - before}


def test_step_that_only_communicates_has_no_preparing_time(newer: Path) -> None:
    """``_trace_step_time_db_parser.py`` takes the first task to be at 0 without compute tasks."""
    change(newer, "DELETE FROM COMPUTE_TASK_INFO")
    with closing(sqlite3.connect(newer / "analysis.db")) as analysis:
        analysis.execute("ATTACH ? AS profiler", (str(newer / DATABASE),))
        times = "SELECT min(startNs), max(endNs) FROM profiler.COMMUNICATION_OP"
        first, last = analysis.execute(times).fetchone()
        analysis.execute(
            "UPDATE StepTraceTime SET computing = 0, overlapped = 0, bubble = 0, stage = ?1, "
            "communication_not_overlapped = communication, free = ?1 - communication, "
            "communication_not_overlapped_and_exclude_receive = communication, preparing = 0",
            ((last - first) / 1000,),
        )
        analysis.commit()
    judged = {place for rule, place in found(newer) if rule == "DB951"}
    assert judged == set()
    with closing(sqlite3.connect(newer / "analysis.db")) as analysis:
        analysis.execute("UPDATE StepTraceTime SET preparing = 1")
        analysis.commit()
    assert ("DB951", "StepTraceTime.preparing") in found(newer)


def test_steps_without_work_of_the_device_are_not_traced(profile: Path) -> None:
    """``_trace_step_time_db_parser.py`` writes rows for devices that computed or communicated."""
    with closing(sqlite3.connect(profile / "analysis.db")) as analysis:
        analysis.execute("DELETE FROM StepTraceTime")
        analysis.commit()
    assert ("DB953", "StepTraceTime.step") in found(profile)
    change(profile, "DROP TABLE COMPUTE_TASK_INFO", "DROP TABLE COMMUNICATION_OP")
    assert "DB953" not in {rule for rule, _ in found(profile)}


def test_numbers_of_the_framework_among_those_of_cann(newer: Path) -> None:
    """``_fwk_file_parser.py`` numbered links forward to backward from the queue's last number on.

    ``_constant.py`` sets them apart from those of CANN since 2025-08-20 only.
    """
    before = found(newer)
    of_cann = "SELECT connectionId FROM CANN_API"
    of_queue = "SELECT connectionId FROM PYTORCH_API WHERE type = 50002"
    links = f"connectionId NOT IN ({of_cann}) AND id NOT IN ({of_queue})"
    first = f"SELECT min(connectionId) FROM CONNECTION_IDS WHERE {links}"
    change(
        newer,
        f"UPDATE CONNECTION_IDS SET connectionId = connectionId - (({first}) - 1000) "
        f"WHERE connectionId NOT IN ({of_cann})",
    )
    assert found(newer) == before


def without_the_device(folder: Path, *kept: str) -> None:
    """As torch_npu writes it alone: what msprof writes is not there."""
    (folder / "analysis.db").unlink()
    with closing(sqlite3.connect(folder / DATABASE)) as rows:
        tables = rows.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in tables:
            if table not in (*kept, *OF_THE_FRAMEWORK) and not table.startswith("sqlite_"):
                rows.execute(f"DROP TABLE {table}")
        rows.execute("DELETE FROM META_DATA WHERE name GLOB 'SCHEMA*'")
        rows.execute("DELETE FROM ENUM_API_TYPE WHERE id < 50000")
        rows.execute("UPDATE RANK_DEVICE_MAP SET deviceId = -1")
        rows.commit()
    configure(folder, activities=["ProfilerActivity.CPU"])


OF_THE_FRAMEWORK = (
    *("PYTORCH_API", "PYTORCH_CALLCHAINS", "CONNECTION_IDS", "STRING_IDS", "ENUM_API_TYPE"),
    *("META_DATA", "RANK_DEVICE_MAP", "HOST_INFO"),
)


def configure(folder: Path, **options: object) -> None:
    about = folder / "profiler_info_0.json"
    settings = json.loads(about.read_text())
    for part in settings["config"].values():
        part.update({name: value for name, value in options.items() if name in part})
    about.write_text(json.dumps(settings))


def test_capture_of_the_host_alone(profile: Path) -> None:
    """``_fwk_api_db_parser.py`` makes the database, with the kinds of calls that it has.

    Until 2025-09-16 ``_db_parser.py`` wrote steps where it wrote analysis.db. Memory is that of
    the device (``_memory_prepare_parser.py``), and is taken where the queue launches anything.
    """
    configure(profile, profile_memory=True)
    before = found(profile)
    without_the_device(profile)
    new = {rule for rule, _ in found(profile) - before}
    assert new == {"LOS204"}
    change(profile, "DELETE FROM PYTORCH_API WHERE type = 50002")
    new = {rule for rule, _ in found(profile) - before}
    assert new.isdisjoint({"LOS203", "LOS204", "LOS209", "DB122"})
    change(profile, "DELETE FROM ENUM_API_TYPE WHERE id = 50001")
    assert ("DB122", "ENUM_API_TYPE.id") in found(profile)


def test_lost_steps_of_a_device_that_ran(profile: Path) -> None:
    before = found(profile)
    change(profile, "DROP TABLE STEP_TIME")
    assert {rule for rule, _ in found(profile) - before} >= {"LOS203", "LOS209"}


def test_work_that_has_no_counters(newer: Path) -> None:
    """``op_summary`` has counters of the cores; the AI CPU has none, and neither have copies."""
    before = found(newer)
    change(newer, "DROP TABLE TASK_PMU_INFO")
    assert {rule for rule, _ in found(newer) - before} == {"LOS204"}
    kind = "SELECT id FROM STRING_IDS WHERE value = 'AI_CPU'"
    change(
        newer,
        "INSERT INTO STRING_IDS (id, value) SELECT max(id) + 1, 'AI_CPU' FROM STRING_IDS",
        f"UPDATE COMPUTE_TASK_INFO SET taskType = ({kind})",
    )
    assert "LOS204" not in {rule for rule, _ in found(newer)}


def test_replay_of_a_graph_has_no_shapes(profile: Path) -> None:
    """``data_reporter.cpp`` writes shapes of inputs, and of the dispatcher's calls alone."""
    configure(profile, record_shapes=True)
    change(profile, "UPDATE PYTORCH_API SET inputShapes = NULL, inputDtypes = NULL")
    assert "LOS210" in {rule for rule, _ in found(profile)}
    change(profile, "UPDATE STRING_IDS SET value = 'npu' || value WHERE value GLOB 'aten::*'")
    assert "LOS210" not in {rule for rule, _ in found(profile)}
