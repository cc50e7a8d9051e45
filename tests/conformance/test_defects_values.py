"""Defects that no reader reports (consumers.md 4, rows 4 to 6): times, enum ids, ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from defects import (
    HELD,
    LINKED,
    PROFILER,
    TABLES,
    count,
    expect,
    needs_real,
    references,
    some_rows,
)
from profiles import change, readable
from slices import few, some

pytestmark = needs_real

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


@pytest.mark.parametrize("place", few(SAMPLES, every=4))
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


@pytest.mark.parametrize("place", some(references("ENUM_"), every=4))
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


@pytest.mark.parametrize("place", some(references("ENUM_"), every=4))
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


def test_enum_members_beyond_those_named_are_counted(profiler: Path) -> None:
    change(profiler, "DELETE FROM ENUM_MODULE WHERE id IN (SELECT id FROM ENUM_MODULE LIMIT 12)")
    finding = expect(readable(profiler), "ENUM_MODULE.id", (12, None))
    assert "lacks: 12 (" in finding.message
    assert " and 7 more)" in finding.message


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
