"""Files and arrows that are lost when a profile is written: all else is as it was."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from faults_by_hand import SEED, scenario_of
from slices import few

from ascend_conformance.check import check
from ascend_simulator.choices import FaultChoice, Scenario, Schedule
from ascend_simulator.documents.text import ScenarioError
from ascend_simulator.run import Run, simulate, write_run
from ascend_simulator.truth import schema

FORMS = ("pytorch-db", "pytorch-text", "csv", "timeline")
SCENARIO = replace(scenario_of(2, 1), schedule=Schedule(active=2))


def files(run: Run) -> dict[str, bytes]:
    """What was written, without the truth, by its path."""
    every = (path for path in run.folder.rglob("*") if path.is_file())
    return {
        path.relative_to(run.folder).as_posix(): path.read_bytes()
        for path in every
        if path.name != "truth.json"
    }


def written(scenario: Scenario, into: Path, forms: tuple[str, ...] = FORMS) -> Run:
    return write_run(scenario, SEED, into, forms)


def truth_of(run: Run) -> dict[str, Any]:
    (path,) = run.truths
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    jsonschema_rs.validate(schema(), found)
    return found


def with_faults(*faults: FaultChoice, scenario: Scenario = SCENARIO) -> Scenario:
    return replace(scenario, faults=faults)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return written(SCENARIO, tmp_path_factory.mktemp("healthy") / "run")


def events(text: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)
    return found


@pytest.mark.exhaustive
def test_only_files_of_the_kind_are_gone(healthy: Run, tmp_path: Path) -> None:
    faults = (
        FaultChoice("lost-file", ranks=(1,), file="kernel_details"),
        FaultChoice("lost-file", file="op_summary"),
        FaultChoice("lost-file", ranks=(0,), file="op_summary"),
    )
    run = written(with_faults(*faults), tmp_path / "run")
    before, after = files(healthy), files(run)
    details, summaries, again = (one["effect"] for one in truth_of(run)["faults"])
    assert (details["file"], summaries["file"]) == ("kernel_details", "op_summary")
    (path,) = details["paths"]
    assert path.endswith("/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
    ranks = {Path(one).parents[1].name for one in before if "kernel_details" in one}
    assert len(ranks) == 2
    assert path in before
    assert {Path(one).name[:11] for one in summaries["paths"]} == {"op_summary_"}
    assert again["paths"] == []
    assert before.keys() - after.keys() == {path, *summaries["paths"]}
    assert all(before[one] == content for one, content in after.items())


def test_devices_of_one_process_share_their_files(tmp_path: Path) -> None:
    two = replace(SCENARIO, parallelism=replace(SCENARIO.parallelism, devices_per_process=2))
    fault = FaultChoice("lost-file", ranks=(1,), file="timeline")
    run = written(with_faults(fault, scenario=two), tmp_path / "run", ("timeline",))
    (effect,) = (one["effect"] for one in truth_of(run)["faults"])
    (path,) = effect["paths"]
    assert Path(path).name.startswith("msprof_2")
    assert path not in files(run)
    assert "msprof.json: " in next(iter(run.folder.rglob("README.txt"))).read_text()


def test_only_arrows_of_the_category_are_gone(healthy: Run, tmp_path: Path) -> None:
    kinds = ("HostToDevice", "async_npu")
    faults = [FaultChoice("lost-arrows", ranks=(0,), arrows=kind) for kind in (*kinds, kinds[0])]
    run = written(with_faults(*faults), tmp_path / "run")
    before, after = files(healthy), files(run)
    changed = {path for path, content in before.items() if after[path] != content}
    assert {Path(path).name[:10] for path in changed} == {"trace_view", "msprof_202"}
    assert len(changed) == 2
    for path in changed:
        stay = [one for one in events(before[path]) if one.get("cat") not in kinds]
        assert events(after[path]) == stay
        assert len(stay) < len(events(before[path]))
        if "trace_view" in path:
            ends = Counter(one["cat"] for one in events(before[path]) if one["ph"] == "f")
    effects = [one["effect"] for one in truth_of(run)["faults"]]
    assert effects == [
        *({"arrows": kind, "ends": ends[kind]} for kind in kinds),
        {"arrows": kinds[0], "ends": 0},
    ]
    assert all(ends[kind] for kind in kinds)


def test_arrows_of_lost_tasks_are_not_counted(tmp_path: Path) -> None:
    fault = FaultChoice("lost-arrows", arrows="HostToDevice")
    truth = simulate(with_faults(FaultChoice("lost-device"), fault), SEED).truth()
    assert truth["faults"][1]["effect"] == {"arrows": "HostToDevice", "ends": 0}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("fault", "form", "expected"),
    few(
        [
            (FaultChoice("lost-file", file="kernel_details"), "pytorch-text", "LOS301"),
            (FaultChoice("lost-file", file="op_summary"), "csv", "LOS311"),
            (FaultChoice("lost-arrows", arrows="HostToDevice"), "timeline", "LOS302"),
            (FaultChoice("lost-arrows", arrows="async_npu"), "pytorch-text", "LOS305"),
        ],
        every=4,
    ),
)
def test_check_names_what_is_gone(
    fault: FaultChoice, form: str, expected: str, tmp_path: Path
) -> None:
    one_rank = replace(scenario_of(1, 1), schedule=Schedule(active=2))
    run = written(with_faults(fault, scenario=one_rank), tmp_path / "run", (form,))
    found = check([run.folder]).findings
    assert {one.rule for one in found} == {expected}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (FaultChoice("lost-file", file="kernel_detail"), "file, such as kernel_details"),
        (FaultChoice("lost-arrows", arrows="async"), "expected one of HostToDevice, MsTx, async_"),
    ],
)
def test_an_unknown_name_is_refused(fault: FaultChoice, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        simulate(with_faults(fault))
