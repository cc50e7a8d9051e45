"""msprof-analyze accepts a real run of two ranks, and the harness tells when it does not."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from consumer_log import RUN_BY_ROOT, offending
from consumer_ranks import OUTPUT, ranks_of
from consumer_rows import (
    ROW_2,
    ROW_9_MODES,
    SKIPPED,
    check_row_1,
    check_row_2,
    check_row_7,
    check_row_8,
    check_row_9,
)
from consumer_verdict import Verdict
from slices import some

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"
FOLDERS = ("level1_rank0", "level1_rank1")
SLOWEST = 1


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The two ranks in the folders that consumers look for."""
    folder = tmp_path / "run"
    for number, name in enumerate(FOLDERS):
        source = REAL / name
        if not source.exists():
            pytest.skip(f"needs the real profiles of {REAL}")
        rank = folder / f"ubuntu_{1000 + number}_20250109081616387_ascend_pt"
        (rank / OUTPUT).mkdir(parents=True)
        for file in sorted(source.iterdir()):
            if file.suffix in {".db", ".json"}:
                shutil.copyfile(file, (rank / OUTPUT if file.suffix == ".db" else rank) / file.name)
    return folder


def change(database: Path, *statements: str) -> None:
    connection = sqlite3.connect(database)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.exhaustive
def test_row_1_is_steps_and_communication(profile: Path, tmp_path: Path) -> None:
    assert check_row_1(profile, tmp_path).differences == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", some(ROW_2, every=3))
def test_row_2_is_sums_per_operator(profile: Path, tmp_path: Path, mode: str) -> None:
    assert check_row_2(profile, tmp_path, mode).differences == []


@pytest.mark.exhaustive
def test_row_7_is_compare(profile: Path, tmp_path: Path) -> None:
    assert check_row_7(profile, tmp_path).differences == []


@pytest.mark.campaign
def test_row_8_is_advisor(profile: Path, tmp_path: Path) -> None:
    assert check_row_8(profile, tmp_path).differences == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", some(ROW_9_MODES, every=len(ROW_9_MODES)))
def test_row_9_is_recipes(profile: Path, tmp_path: Path, mode: str) -> None:
    assert check_row_9(profile, tmp_path, mode).differences == []


class Defect(NamedTuple):
    """A change of one database, and words that the differences must hold."""

    check: Callable[[Path, Path], Verdict]
    change: str
    told: tuple[str, ...]
    rank: int = 0


DANGLING = (
    "UPDATE COMPUTE_TASK_INFO SET {column} = 999999 "
    "WHERE rowid = (SELECT min(rowid) FROM COMPUTE_TASK_INFO)"
)
DEFECTS = {
    "row 1, the number of another rank": Defect(
        check_row_1, "UPDATE RANK_DEVICE_MAP SET rankId = 7", ("T2 RankDeviceMap",)
    ),
    "row 2, no strings": Defect(
        partial(check_row_2, mode="cann_api_sum"),
        "DROP TABLE STRING_IDS",
        ("[ERROR]", "t7_cann_api: no such table: STRING_IDS"),
    ),
    "row 2, an operator without a name": Defect(
        partial(check_row_2, mode="compute_op_sum"),
        DANGLING.format(column="name"),
        ("T8 ComputeOpPerRankStatsByOpName of rank 0",),
    ),
    "row 2, an operator without a type": Defect(
        partial(check_row_2, mode="hccl_sum"),
        "UPDATE COMMUNICATION_OP SET opType = 999999 WHERE opId = 1",
        ("T9 HcclPerRankStats of rank 0",),
    ),
    "row 7, an operator without a task": Defect(
        check_row_7,
        DANGLING.format(column="globalTaskId"),
        ("compare, Computing Time of rank 0",),
    ),
    "row 8, no operator has a name": Defect(
        check_row_8,
        "UPDATE COMPUTE_TASK_INFO SET name = 999999",
        ("[ERROR]", SKIPPED),
        rank=SLOWEST,
    ),
    "row 9, no steps": Defect(
        partial(check_row_9, mode="cluster_time_summary"),
        "DELETE FROM STEP_TIME",
        ("[ERROR]", "cluster_time_summary: no table ClusterTimeSummary"),
    ),
    "row 9, a slow core": Defect(
        partial(check_row_9, mode="freq_analysis"),
        "UPDATE AICORE_FREQ SET freq = 1200 WHERE rowid = 1",
        ("freq_analysis, AbnormalFrequencyRanks: {0} instead of set()",),
    ),
    "row 9, an operator without a task": Defect(
        partial(check_row_9, mode="export_summary"),
        DANGLING.format(column="globalTaskId"),
        ("T15 kernel_details.csv of rank 0",),
    ),
}


FEW = ("row 7, an operator without a task",)
"""Those that are tried each time; the others by the campaign, which takes 20 s for each."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.campaign) for name in DEFECTS],
)
def test_a_defect_of_one_rank_is_told(profile: Path, tmp_path: Path, name: str) -> None:
    defect = DEFECTS[name]
    change(ranks_of(profile)[defect.rank].profiler, defect.change)
    differences = defect.check(profile, tmp_path).differences
    untold = [words for words in defect.told if not any(words in line for line in differences)]
    assert untold == [], differences


def test_an_alarm_behind_a_progress_bar_counts() -> None:
    log = "Cluster analyzing:  50%|# | [2026-01-01 00:00:00][ERROR][a.py:1] lost\r[..][INFO] ok"
    assert offending(log, []) == [log.partition("\r")[0]]


def test_an_allowed_alarm_does_not_count() -> None:
    assert offending(f"[..][WARNING][entrance.py:155] {RUN_BY_ROOT}.", [RUN_BY_ROOT]) == []
