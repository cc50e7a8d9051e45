"""Every preset at every level: the referee has nothing to say, and plain SQL finds the truth."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from slices import marked, some
from written_truth import operators_in, steps_in, tasks_in, traffic_in

from ascend_conformance.check import check
from ascend_ref.execution import InProcess, Processes
from ascend_simulator.run import TRUTH, write_run
from ascend_simulator.scenario import preset, preset_names
from ascend_simulator.truth import schema
from ascend_spec import catalog

FEW = ("recommendation", "single-op")
LARGE = ("moe-64",)
REVISIONS = [revision.id for revision in catalog().revisions]
FORMATS = ("pytorch-db", "msprof-db")
PARALLEL_FROM = 16
"""Ranks from which the run is written, and judged, by several processes."""


def said(folder: Path, ranks: int) -> list[str]:
    """All that the referee says about a run, advice and notes included."""
    executor = Processes(2) if ranks >= PARALLEL_FROM else InProcess()
    report = check([folder], executor=executor)
    unreadable = [f"{file.file}: {file.unreadable}" for file in report.files if file.unreadable]
    return unreadable + [
        f"{file.file}: {finding.rule} {finding.place}"
        for file in report.files
        for finding in file.findings
    ]


@pytest.mark.parametrize(
    ("name", "level"),
    [
        (name, level)
        if level == 1 and name in FEW
        else marked(
            (name, level),
            pytest.mark.exhaustive
            if at % 4 == 1 and level == at // 4 % 3 and name not in LARGE
            else pytest.mark.campaign,
        )
        for at, name in enumerate(preset_names())
        for level in (0, 1, 2)
    ],
)
def test_a_preset_is_clean_and_holds_its_truth(name: str, level: int, tmp_path: Path) -> None:
    scenario = preset(name)
    scenario = replace(scenario, capture=replace(scenario.capture, level=level))
    ranks = scenario.parallelism.ranks
    executor = Processes(2) if ranks >= PARALLEL_FROM else InProcess()
    run = write_run(scenario, 0, tmp_path / "run", executor=executor)
    assert said(run.folder, ranks) == []
    truth = json.loads((run.folder / TRUTH).read_text(encoding="utf-8"))
    jsonschema_rs.validate(schema(), truth)
    for totals in truth["totals"]:
        (database,) = run.folder.glob(f"*/*/ascend_pytorch_profiler_{totals['rank']}.db")
        assert_truth(database, totals, level)


def assert_truth(database: Path, totals: dict[str, Any], level: int) -> None:
    """What plain SQL finds in the database of a rank is what the simulator counted."""
    assert tasks_in(database) == (totals["tasks"], totals["host_calls"])
    assert steps_in(database) == totals["steps"]
    by_name: dict[str, tuple[int, int]] = {}
    for operator in totals["operators"]:
        count, time = by_name.get(operator["name"], (0, 0))
        by_name[operator["name"]] = count + operator["count"], time + operator["time_ns"]
    assert operators_in(database) == by_name
    used = {group["group"]: group for group in totals["groups"] if group["operators"]}
    found = traffic_in(database)
    assert {name: count for name, (count, _) in found.items()} == {
        name: group["operators"] for name, group in used.items()
    }
    if level:
        assert {name: size for name, (_, size) in found.items()} == {
            name: group["bytes"] for name, group in used.items()
        }


@pytest.mark.exhaustive
@pytest.mark.parametrize("revision", some(REVISIONS, every=12))
def test_every_revision_is_clean_in_both_carriers(revision: str, tmp_path: Path) -> None:
    """Everything switched on, two processes with two devices each."""
    scenario = preset("observed-everything")
    parallelism = replace(scenario.parallelism, ranks=4, tensor=2, devices_per_process=2)
    scenario = replace(scenario, parallelism=parallelism)
    run = write_run(scenario, 0, tmp_path / "run", FORMATS, revision)
    assert len(run.profiles) == 4 + 2
    assert said(run.folder, 1) == []


def test_a_schedule_that_repeats_gives_a_run_for_each_round(tmp_path: Path) -> None:
    scenario = preset("single-op")
    schedule = replace(scenario.schedule, first=10, wait=1, warmup=1, active=2, repeat=2)
    run = write_run(replace(scenario, schedule=schedule), 0, tmp_path / "run")
    assert said(run.folder, 1) == []
    steps = [
        [step["step"] for step in json.loads(path.read_text())["totals"][0]["steps"]]
        for path in run.truths
    ]
    assert steps == [[12, 13], [16, 17]]
