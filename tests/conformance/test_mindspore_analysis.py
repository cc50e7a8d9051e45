"""MindSpore's communication_analyzer.db: the adapter's analysis without steps, judged as such.

The tables are those that msprof's analysis creates (tables_config.py of Ascend/msprof).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport
from ascend_simulator.specimen import Shape, write_msprof_folder
from ascend_spec import catalog

TABLES = """
CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC,
  elapse_time NUMERIC, transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC,
  idle_time NUMERIC);
CREATE TABLE CommAnalyzerBandwidth (hccl_op_name TEXT, group_name TEXT, transport_type TEXT,
  transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC,
  package_size NUMERIC, count NUMERIC, total_duration NUMERIC);
CREATE TABLE CommAnalyzerMatrix (hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT,
  transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC);
INSERT INTO CommAnalyzerTime VALUES
  ('hcom_allReduce__586_0_1', '17522688603477080586', 1736408883730000.5, 1.5, 0.5, 0.2, 0.1, 0.8);
INSERT INTO CommAnalyzerBandwidth VALUES
  ('hcom_allReduce__586_0_1', '17522688603477080586', 'HCCS', 4.0, 0.5, 8.0, 1.0, 2.0, 2, 0.5);
INSERT INTO CommAnalyzerMatrix VALUES
  ('hcom_allReduce__586_0_1', '17522688603477080586', '0', '1', 'HCCS', 4.0, 0.5, 8.0);
"""


def judged(path: Path, *statements: str) -> FileReport:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(";".join([TABLES, *statements]))
    (report,) = check([path]).files
    return report


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "communication_analyzer.db"


def test_it_is_clean(path: Path) -> None:
    report = judged(path)
    assert report.findings == ()
    assert report.seen is not None
    assert report.seen.coverage.missing_tables == ()
    assert not any(" is absent" in one.reason for one in report.skipped)


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("UPDATE CommAnalyzerMatrix SET bandwidth = 8000", "DB914"),
        ("UPDATE CommAnalyzerTime SET group_name = '17522688603477080587'", "DB913"),
        ("UPDATE CommAnalyzerTime SET elapse_time = 9", "DB908"),
        ("UPDATE CommAnalyzerMatrix SET src_rank = 'rank0'", "DB920"),
        ("ALTER TABLE CommAnalyzerTime DROP COLUMN wait_time", "DB104"),
    ],
)
def test_what_it_shares_is_judged(path: Path, statement: str, rule: str) -> None:
    assert rule in {one.rule for one in judged(path, statement).findings}


def test_either_rule_of_the_analysis_may_be_missing(path: Path) -> None:
    assert judged(path, "DROP TABLE CommAnalyzerMatrix").findings == ()


def test_an_adapter_s_analysis_must_have_its_columns(path: Path, tmp_path: Path) -> None:
    """Under the adapter's name, and where one of its columns is there."""
    report = judged(tmp_path / "analysis.db")
    assert "DB104" in {one.rule for one in report.findings}
    report = judged(path, "ALTER TABLE CommAnalyzerTime ADD COLUMN step TEXT")
    assert "DB104" in {one.rule for one in report.findings}


def test_the_rank_of_mindspore_s_database_is_that_of_its_name(tmp_path: Path) -> None:
    """msprof, which writes the database, does not know the rank and writes -1."""
    folder = write_msprof_folder(tmp_path, catalog().revisions[-1].id, Shape(ranks=1, operators=2))
    (database,) = folder.glob("msprof_*.db")
    path = database.rename(tmp_path / "ascend_mindspore_profiler_7.db")
    (report,) = check([path]).files
    assert report.seen is not None
    assert report.seen.ranks == (7,)
    assert report.findings == ()


def test_a_folder_is_searched_for_it(path: Path) -> None:
    judged(path)
    (report,) = check([path.parent]).files
    assert report.file == str(path)
