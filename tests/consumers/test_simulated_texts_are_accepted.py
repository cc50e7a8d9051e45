"""msprof-analyze accepts the text files of simulated runs, and finds the faults in them."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from consumer_ranks import group_hash
from consumer_scenarios import DATA_PARALLEL, FAULTS, HEALTHY, LINK, SLOW, SMALL, truth_of
from consumer_text_cluster import COMMUNICATION, MATRIX, STEPS, TIMES, entries_of
from consumer_text_rows import (
    NOT_UNDERSTOOD,
    check_row_6,
    check_text_row_7,
    check_text_row_8,
    side_of_texts,
)
from consumer_texts import text_ranks_of
from consumer_verdict import Verdict

from ascend_ref.documents import write_documents
from ascend_ref.recorded import from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.timeline import write_timeline
from ascend_simulator import simulate, write_run

TEXT = ("pytorch-text",)
ADAPTER_2025 = "adapter-2025-01"
NS_OF_CSV = {
    "Computing": "computing_ns",
    "Communication": "communication_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Free": "free_ns",
    "Stage": "stage_ns",
    "Bubble": "bubble_ns",
    "Preparing": "preparing_ns",
}
GRID = 0.5
"""us: the exporter sums doubles that lie 0.25 apart at instants of today (text-outputs.md 7.7)."""


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(HEALTHY, 0, tmp_path_factory.mktemp("healthy") / "run", TEXT).folder


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of level 1 as exporters of January 2025 wrote it."""
    folder = write_run(SMALL, 0, tmp_path_factory.mktemp("older") / "run", TEXT).folder
    run = simulate(SMALL)
    for rank in text_ranks_of(folder):
        shutil.rmtree(rank.output)
        rank.output.mkdir()
        recorded = from_captures([run.capture(rank.number)], "pytorch")
        write_csv_files(recorded, rank.output, writer=ADAPTER_2025)
        write_timeline(recorded, rank.output, writer=ADAPTER_2025)
        write_documents(recorded, rank.output)
    return folder


def results(verdict: Verdict, name: str) -> Path:
    (run,) = verdict.runs.values()
    return run.output / "cluster_analysis_output" / name


def steps_of(verdict: Verdict) -> list[dict[str, str]]:
    with results(verdict, STEPS).open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["Type"] == "rank"]


@pytest.mark.exhaustive
def test_row_6_is_steps_and_communication(healthy: Path, tmp_path: Path) -> None:
    verdict = check_row_6(healthy, tmp_path)
    assert verdict.differences == []
    found = {(row["Index"], row["Step"]): row for row in steps_of(verdict)}
    for totals in truth_of(healthy)["totals"]:
        for step, parts in zip(totals["steps"], totals["step_trace_time"], strict=True):
            row = found.pop((str(totals["rank"]), str(step["step"])))
            expected = {**step, **parts}
            for column, name in NS_OF_CSV.items():
                assert float(row[column]) == pytest.approx(expected[name] / 1e3, abs=GRID), column
    assert found == {}
    groups = Counter(
        (entry.rank, entry.group)
        for entry in entries_of(text_ranks_of(healthy), "communication.json")
    )
    assert groups == {
        (totals["rank"], group_hash(group["group"])): group["operators"]
        for totals in truth_of(healthy)["totals"]
        for group in totals["groups"]
        if group["operators"]
    }


@pytest.mark.exhaustive
def test_row_7_is_compare(healthy: Path, tmp_path: Path) -> None:
    assert check_text_row_7(healthy, tmp_path).differences == []
    for rank, totals in zip(text_ranks_of(healthy), truth_of(healthy)["totals"], strict=True):
        side = side_of_texts(rank)
        count = sum(operator["count"] for operator in totals["operators"])
        time = sum(step["computing_ns"] for step in totals["steps"]) / 1e6
        assert side.computing == [(count, pytest.approx(time))]
        assert sum(side.calls.values()) == sum(group["operators"] for group in totals["groups"])


@pytest.mark.campaign
def test_row_8_is_advisor(healthy: Path, tmp_path: Path) -> None:
    assert check_text_row_8(healthy, tmp_path).differences == []


@pytest.mark.campaign
def test_compare_reads_files_of_an_older_exporter(older: Path, tmp_path: Path) -> None:
    assert check_text_row_7(older, tmp_path).differences == []


@pytest.mark.campaign
def test_advisor_understands_all_columns_of_an_older_exporter(older: Path, tmp_path: Path) -> None:
    verdict = check_text_row_8(older, tmp_path)
    assert verdict.differences == []
    assert NOT_UNDERSTOOD not in verdict.runs["advisor"].log


@pytest.mark.campaign
def test_faults_show_in_times_and_links(tmp_path: Path) -> None:
    """The slow rank computes longest and waits least; the slow link has the least bandwidth."""
    scenario = replace(DATA_PARALLEL, faults=(FAULTS["slow-rank"], FAULTS["slow-link"]))
    verdict = check_row_6(write_run(scenario, 0, tmp_path / "run", TEXT).folder, tmp_path)
    assert verdict.differences == []
    computing: dict[int, float] = defaultdict(float)
    for row in steps_of(verdict):
        computing[int(row["Index"])] += float(row["Computing"])
    assert max(computing, key=lambda rank: computing[rank]) == SLOW
    elapsed: dict[int, float] = defaultdict(float)
    for said in of_operators(results(verdict, COMMUNICATION)):
        for rank, of_rank in said.items():
            elapsed[int(rank)] += of_rank[TIMES]["Elapse Time(ms)"]
    assert min(elapsed, key=lambda rank: elapsed[rank]) == SLOW
    moved: dict[str, list[float]] = defaultdict(lambda: [0, 0])
    for said in of_operators(results(verdict, MATRIX), "total@"):
        for link, of_link in said.items():
            moved[link][0] += of_link["Transit Size(MB)"]
            moved[link][1] += of_link["Transit Time(ms)"]
    speed = {
        tuple(map(int, link.split("-"))): size / time
        for link, (size, time) in moved.items()
        if time
    }
    ends = {ends: rate for ends, rate in speed.items() if ends[0] != ends[1]}
    assert {tuple(sorted(one)) for one in sorted(ends, key=lambda one: ends[one])[:2]} == {LINK}


def of_operators(path: Path, part: str = "") -> list[dict[str, Any]]:
    """What a result says of the operators whose names hold a part, without the totals."""
    return [
        said
        for steps in json.loads(path.read_text()).values()
        for operators in steps.values()
        for name, said in operators.items()
        if part in name and not name.startswith("Total")
    ]
