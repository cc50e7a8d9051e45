"""msprof-analyze accepts simulated folders of MindSpore, by the tables that it makes of them.

Its exit code says nothing (mindspore-present.md 5.1), so results and log are looked at.
"""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from consumer_run import Run, run_cluster, run_tool
from consumer_scenarios import SMALL, truth_of
from slices import marked

from ascend_ref.capture import Switches
from ascend_simulator import write_run

SCENARIO = replace(SMALL, capture=Switches(level=1, memory=True))
TABLES = {
    *("ClusterBaseInfo", "ClusterCommunicationBandwidth", "ClusterCommunicationMatrix"),
    *("ClusterCommunicationTime", "ClusterStepTraceTime", "CommunicationGroupMapping"),
    *("HostInfo", "RankDeviceMap"),
}
"""All that cluster -m all makes of databases."""
TEXTS = {
    *("cluster_communication.json", "cluster_communication_matrix.json"),
    *("cluster_step_trace_time.csv", "communication_group.json"),
}


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("db") / "run"
    return write_run(SCENARIO, 0, place, ("mindspore-db",)).folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("text") / "run"
    folder = write_run(SCENARIO, 0, place, ("mindspore-text",)).folder
    for path in folder.rglob("*.db"):
        path.unlink()  # else the analysis of msprof makes it a profile with a database
    return folder


def faults(run: Run) -> list[str]:
    said = [line for line in run.log.splitlines() if "[ERROR]" in line or "Traceback" in line]
    return said if run.code == 0 else [f"exit code {run.code}", *said]


def counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as database:
        return {
            table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }


@pytest.mark.exhaustive
def test_cluster_makes_every_table_of_databases(databases: Path, tmp_path: Path) -> None:
    run = run_cluster("all", databases, tmp_path)
    assert faults(run) == []
    found = counts(run.database)
    assert {table for table, rows in found.items() if rows} == TABLES
    totals = truth_of(databases)["totals"]
    assert found["ClusterStepTraceTime"] == len(totals)  # no consumer knows steps of MindSpore
    groups = {group["group"] for one in totals for group in one["groups"] if group["operators"]}
    assert found["CommunicationGroupMapping"] == len(groups)


@pytest.mark.exhaustive
def test_cluster_shows_the_steps_of_texts(texts: Path, tmp_path: Path) -> None:
    run = run_cluster("all", texts, tmp_path)
    assert faults(run) == []
    results = run.output / "cluster_analysis_output"
    assert {path.name for path in results.iterdir()} == TEXTS
    with (results / "cluster_step_trace_time.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Type"] == "rank"]
    found = {(row["Index"], row["Step"]): float(row["Computing"]) for row in rows}
    for totals in truth_of(texts)["totals"]:
        computed = sum(step["computing_ns"] for step in totals["steps"]) / 1e3
        own = [time for (rank, _), time in found.items() if rank == str(totals["rank"])]
        assert sum(own) == pytest.approx(computed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("generation", ["G5a", "G5b", "2025-04-01", "G5c"])
def test_every_generation_of_texts_is_accepted(generation: str, tmp_path: Path) -> None:
    """Of the first folders no column Preparing is read, and stages that mean nothing (M60)."""
    formats = ("mindspore-text",)
    source = write_run(SCENARIO, 0, tmp_path / "run", formats, generation=generation).folder
    for path in source.rglob("*.db"):
        path.unlink()
    run = run_cluster("all", source, tmp_path / "cluster")
    assert faults(run) == []
    results = run.output / "cluster_analysis_output"
    assert {path.name for path in results.iterdir()} == TEXTS
    compare_and_advise(source, tmp_path)


@pytest.mark.exhaustive
def test_databases_of_2025_are_accepted(tmp_path: Path) -> None:
    formats = ("mindspore-db", "mindspore-text")
    source = write_run(SCENARIO, 0, tmp_path / "run", formats, generation="2025-04-01").folder
    run = run_cluster("all", source, tmp_path / "cluster")
    assert faults(run) == []
    assert {table for table, rows in counts(run.database).items() if rows} == TABLES
    compare_and_advise(source, tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("folder", ["databases", marked("texts", pytest.mark.exhaustive)])
def test_compare_and_advisor_read_it(
    folder: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    compare_and_advise(request.getfixturevalue(folder), tmp_path)


def compare_and_advise(source: Path, tmp_path: Path) -> None:
    first, second = sorted(path.name for path in source.glob("*_ascend_ms"))
    words = ["compare", "-d", "{profile}/" + first, "-bp", "{profile}/" + second]
    run = run_tool("compare", [*words, "-o", "{output}"], source, tmp_path)
    assert faults(run) == []
    assert list(run.output.glob("performance_comparison_result_*.xlsx"))
    words = ["advisor", "all", "-d", "{profile}/" + first, "-o", "{output}"]
    run = run_tool("advisor", words, source, tmp_path)
    assert faults(run) == []
    assert list(run.output.rglob("mstt_advisor_*.html"))
