"""truth.json against what plain SQL and plain Python find in the databases that were written."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slices import some
from truth_by_hand import Database, step_totals, truth_of

from ascend_conformance.check import check
from ascend_ref.capture import Switches
from ascend_ref.capture.model import NONE
from ascend_simulator.choices import (
    FaultChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)
from ascend_simulator.run import simulate, write_run
from ascend_simulator.scenario import ScenarioError, override, preset
from ascend_simulator.strategies import scenarios
from ascend_simulator.truth import schema

PRESETS = {
    "single-op": {},
    "edge-310b": {"steps": 1},
    "observed-everything": {},
    "inference-310p": {"steps": 1},
    "cnn-910a": {"ranks": 2},
    "cnn-910b": {"ranks": 2},
    "moe-8": {"steps": 1},
    "recommendation": {"ranks": 2, "steps": 1},
    "dense-8": {"ranks": 4, "steps": 1},
    "dense-pipeline": {"ranks": 4, "steps": 1},
    "troubled": {"ranks": 8},
    "a3-dense": {"ranks": 4, "steps": 1},
}
"""Presets, made smaller where they are large and nothing is lost."""

ABNORMAL_END_NS = 1_800 * 10**9
"""Exporters of the newest revision take a session that did not end to last half an hour."""


def assert_true(folder: Path, truth: dict[str, Any], scenario: Scenario) -> None:
    """Every total of every rank is what its database says."""
    jsonschema_rs.validate(schema(), truth)
    assert len(truth["totals"]) == scenario.parallelism.ranks
    for totals in truth["totals"]:
        name = f"ascend_pytorch_profiler_{totals['rank']}.db"
        (path,) = folder.glob(f"*_ascend_pt/ASCEND_PROFILER_OUTPUT/{name}")
        assert_rank(Database(path), totals, scenario)


def assert_rank(database: Database, totals: dict[str, Any], scenario: Scenario) -> None:
    capture, steps = scenario.capture, totals["steps"]
    if capture.npu:
        assert_session(database, totals)
    assert database.count("CANN_API") == totals["host_calls"]
    if capture.cpu:
        times = [(step["step"], step["start_ns"], step["end_ns"]) for step in steps]
        assert database.steps() == times
    if capture.npu:
        assert_device(database, totals, capture.level)


def assert_session(database: Database, totals: dict[str, Any]) -> None:
    """CANN's profiler states it (E56)."""
    start, end = database.session()
    assert start == totals["session_start_ns"]
    if totals["session_end_ns"] == NONE:
        assert end == start + ABNORMAL_END_NS
    else:
        assert end == totals["session_end_ns"]


def assert_device(database: Database, totals: dict[str, Any], level: int) -> None:
    steps = totals["steps"]
    assert database.tasks() == totals["tasks"]
    kernels, communication = database.kernels(), database.communication()
    assert steps == [step_totals(step, kernels, communication) for step in steps]
    assert database.operators() == expected(totals, level)
    assert database.groups() == {
        group["group"]: group["operators"] for group in totals["groups"] if group["operators"]
    }
    if level:
        assert +Counter(database.bytes_by_group()) == +Counter(
            {group["group"]: group["bytes"] for group in totals["groups"]}
        )


Operators = dict[tuple[str, str, str], tuple[int, int]]


def expected(totals: dict[str, Any], level: int) -> Operators:
    """At level 0 nothing but the name of an operator is known."""
    found: Operators = {}
    for one in totals["operators"]:
        key = one["name"], one["op_type"], one["core"]
        if not level:
            key = one["name"], "N/A", "N/A"
        count, time = found.get(key, (0, 0))
        found[key] = count + one["count"], time + one["time_ns"]
    return found


# At level 1 test_presets compares the same totals, by SQL of its own (a3-dense when exhaustive).
@pytest.mark.parametrize("level", some([2, 0, 1], every=9))
@pytest.mark.parametrize("name", PRESETS)
def test_the_truth_of_a_preset_is_in_its_databases(name: str, level: int, tmp_path: Path) -> None:
    scenario = override(preset(name), level=level, **PRESETS[name])
    run = write_run(scenario, 7, tmp_path / "run")
    assert_true(run.folder, truth_of(run.folder), scenario)


@pytest.mark.exhaustive
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_ranks=4), st.integers(0, 1 << 32))
def test_the_truth_of_any_scenario_is_in_its_databases(scenario: Scenario, seed: int) -> None:
    with TemporaryDirectory() as folder:
        run = write_run(scenario, seed, Path(folder) / "run")
        for path in run.truths:
            assert_true(path.parent, truth_of(path.parent), scenario)


@pytest.mark.parametrize("level", [0, 2])
def test_without_times_of_tasks_databases_are_clean_and_hold_what_was_called(
    level: int, tmp_path: Path
) -> None:
    asked = {"task_time": False, "runtime_api": False, "cpu": False}
    scenario = override(preset("cnn-910a"), level=level, ranks=1, steps=1)
    scenario = replace(scenario, capture=replace(scenario.capture, **asked))
    run = write_run(scenario, 0, tmp_path / "run", ("msprof-db",))
    assert check([run.folder]).findings == ()
    (path,) = run.folder.rglob("msprof_*.db")
    database = Database(path)
    assert database.tasks() == 0
    (totals,) = truth_of(run.folder)["totals"]
    assert database.count("CANN_API") == totals["host_calls"] > 0
    levels = database.rows("SELECT DISTINCT type FROM CANN_API")
    assert {one for (one,) in levels} <= {20_000, 15_000}


@pytest.mark.parametrize("name", ["pytorch-db", "mindspore-text", "mindspore-raw"])
def test_switches_of_cann_are_refused_for_profiles_of_frameworks(name: str, tmp_path: Path) -> None:
    scenario = replace(preset("single-op"), capture=Switches(task_time=False))
    with pytest.raises(ScenarioError, match=r"capture\.task_time is false; expected true for the"):
        write_run(scenario, 0, tmp_path / "run", (name,))


PARTED = Scenario(
    "parted",
    model=ModelChoice(layers=2, hidden=64, heads=4, sequence=64, vocabulary=256, microbatches=2),
    parallelism=Parallelism(8, pipeline=2, tensor=2, devices_per_process=4),
    schedule=Schedule(wait=1, active=3, repeat=2),
    faults=(
        FaultChoice("slow-rank", ranks=(1,), factor=2_000),
        FaultChoice("slow-link", link=(0, 1), steps=(3, 3), factor=5_000),
        FaultChoice("frequency-throttling", ranks=(2,), steps=(8, 8), frequency=800),
        FaultChoice("host-bound-launch", ranks=(3,), factor=2_500),
        FaultChoice("data-loading-stall", ranks=(1, 6), steps=(4, 7), milliseconds=8),
        FaultChoice("gc-pause", ranks=(2,), steps=(8, 9), milliseconds=5),
        FaultChoice("communication-retry", ranks=(3, 7), steps=(3, 3), milliseconds=3),
        FaultChoice("clock-skew", ranks=(1, 4, 5, 6, 7), milliseconds=700),
        FaultChoice("abnormal-end", ranks=(2,)),
    ),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", some([2, 0, 1], every=3))
def test_the_truth_is_in_both_formats_under_faults(level: int, tmp_path: Path) -> None:
    """Two processes of four devices, two stages with send and receive, two rounds."""
    scenario = override(PARTED, level=level)
    run = write_run(scenario, 7, tmp_path / "run", ("pytorch-db", "msprof-db"))
    assert len(run.truths) == 2
    for path in run.truths:
        truth = truth_of(path.parent)
        assert_true(path.parent / "pytorch-db", truth, scenario)
        processes = sorted(path.parent.glob("msprof-db/PROF_*/msprof_*.db"))
        assert len(processes) == 2
        for number, process in enumerate(processes):
            ranks = truth["totals"][4 * number : 4 * number + 4]
            assert Database(process).count("CANN_API") == sum(one["host_calls"] for one in ranks)
            for one in ranks:
                assert_device(Database(process, one["device"]), one, level)


def test_the_truth_in_memory_is_that_on_disk(tmp_path: Path) -> None:
    scenario = override(preset("dense-8"), steps=1)
    run = write_run(scenario, 3, tmp_path / "run")
    in_memory = json.loads(json.dumps(simulate(scenario, 3).truth()))
    assert in_memory == truth_of(run.folder)


SMALL = Scenario(
    "faulty",
    model=ModelChoice("recommendation", layers=1, hidden=64, tables=2, rows=100, width=16),
    parallelism=Parallelism(2),
    schedule=Schedule(active=3),
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ((11, 12), [[[11, 12]], []]),
        ((12, 19), [[[12, 12]], [[18, 19]]]),
        ((19, 19), [[], [[19, 19]]]),
        (None, [[[10, 12]], [[18, 20]]]),
    ],
)
def test_the_steps_of_a_fault_have_the_numbers_of_the_profiler(
    asked: tuple[int, int] | None, found: list[list[list[int]]]
) -> None:
    """Round 0 captures the steps 10 to 12 of the program, round 1 the steps 18 to 20."""
    fault = FaultChoice("slow-rank", ranks=(0,), steps=asked)
    schedule = Schedule(first=5, wait=2, warmup=3, active=3, repeat=2)
    run = simulate(replace(SMALL, schedule=schedule, faults=(fault,)))
    truths = [run.truth(round_) for round_ in (0, 1)]
    assert [[list(one["steps"]) for one in truth["faults"]] for truth in truths] == found


@pytest.mark.parametrize("kind", ["data-loading-stall", "gc-pause", "communication-retry"])
def test_a_pause_makes_its_steps_longer_by_its_length(kind: str) -> None:
    length = 50_000_000
    fault = FaultChoice(kind, ranks=(0, 1), steps=(2, 2), milliseconds=50)  # type: ignore[arg-type]
    plain, faulty = (
        simulate(replace(SMALL, faults=faults), 5).truth() for faults in ((), (fault,))
    )
    assert faulty["faults"][0]["effect"]["length_ns"] == length
    for rank in (0, 1):
        spans = [
            [step["end_ns"] - step["start_ns"] for step in one["totals"][rank]["steps"]]
            for one in (plain, faulty)
        ]
        longer = [late - early for early, late in zip(*spans, strict=True)]
        assert longer[0] == longer[2] == 0
        assert 0.5 * length < longer[1] <= length
