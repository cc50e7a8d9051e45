"""Lost data: no form has them, the truth counts them, check names them, all else is as it was."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jsonschema_rs
import numpy as np
import pytest
from faults_by_hand import SEED, Rank, Run, scenario_of
from hypothesis import HealthCheck, given, settings

from ascend_conformance.check import check
from ascend_conformance.expect.model import read_expectation
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.capture import Batch, Capture
from ascend_ref.derive.transit import task_rows
from ascend_simulator.choices import LOSSES, FaultChoice, FaultKind, Scenario, Schedule
from ascend_simulator.loss.faults import lose
from ascend_simulator.loss.without import without_tasks
from ascend_simulator.run import simulate, write_run
from ascend_simulator.strategies import scenarios
from ascend_simulator.truth import schema
from ascend_simulator.world.disturbance import Disturbances
from ascend_spec import catalog

HIT: dict[FaultKind, FaultChoice] = {
    "lost-head": FaultChoice("lost-head", ranks=(1,), milliseconds=2),
    "lost-slice": FaultChoice("lost-slice", ranks=(1,), steps=(7, 8), milliseconds=2),
    "lost-device": FaultChoice("lost-device", ranks=(1,)),
    "lost-steps": FaultChoice("lost-steps", ranks=(1,)),
}
FOUND: dict[FaultKind, set[str]] = {
    "lost-head": {"REL107"},
    "lost-slice": {"REL107", "LOS101"},
    "lost-device": {"LOS201"},
    "lost-steps": {"LOS209"},
}
DERIVED = {"OVERLAP_ANALYSIS", "STRING_IDS"}
OF_TASKS = ("kernels", "copies", "transfers", "schedules")
SCENARIO = replace(scenario_of(2, 1), schedule=Schedule(first=5, active=3))
WITH_HOST = replace(
    SCENARIO,
    capture=replace(SCENARIO.capture, host_sys=("mem",), l2=True, stack=True, aicpu=True),
)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(SCENARIO, tmp_path_factory.mktemp("healthy") / "run")


@pytest.fixture(scope="module", params=list(HIT))
def kind(request: pytest.FixtureRequest) -> FaultKind:
    found: FaultKind = request.param
    return found


@pytest.fixture(scope="module")
def faulty(kind: FaultKind, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(replace(SCENARIO, faults=(HIT[kind],)), tmp_path_factory.mktemp("faulty") / "run")


def loss_of(truth: dict[str, Any]) -> dict[str, Any]:
    ((loss,),) = (fault["effect"]["losses"] for fault in truth["faults"])
    found: dict[str, Any] = loss
    return found


def counted(rank: Rank) -> Counter[str]:
    tables = rank.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    return Counter({name: rank.rows(f"SELECT count(*) FROM {name}")[0][0] for (name,) in tables})


def recorded(*faults: FaultChoice) -> int:
    """Rows of the one record of this scenario that no table holds."""
    capture = simulate(replace(SCENARIO, faults=faults), SEED).capture(1)
    assert capture.records.keys() <= {"voltage"}
    return len(capture.records.get("voltage", {}).get("time", ()))


def test_the_truth_counts_the_rows_that_the_database_lacks(
    kind: FaultKind, healthy: Run, faulty: Run
) -> None:
    jsonschema_rs.validate(schema(), faulty.truth)
    lacks = counted(healthy.ranks[1]) - counted(faulty.ranks[1])
    loss = loss_of(faulty.truth)
    assert loss["rank"] == 1
    in_tables = {name: rows for name, rows in loss["rows"].items() if name in catalog().tables}
    assert {name: rows for name, rows in lacks.items() if name not in DERIVED} == in_tables
    assert loss["rows"].get("voltage", 0) == recorded() - recorded(HIT[kind])
    assert loss["rows"].keys() <= {*in_tables, "voltage"}
    assert loss["rows"]
    assert not counted(faulty.ranks[1]) - counted(healthy.ranks[1])


def test_the_rows_begin_in_the_window(healthy: Run, faulty: Run, kind: FaultKind) -> None:
    loss, rank = loss_of(faulty.truth), healthy.ranks[1]
    window = loss["start_ns"], loss["end_ns"]
    for table in ("COMPUTE_TASK_INFO", "TASK_PMU_INFO", "COMMUNICATION_TASK_INFO", "TASK"):
        ((count,),) = rank.rows(
            f"SELECT count(*) FROM {table} JOIN TASK AS ran USING (globalTaskId) "
            "WHERE ran.startNs >= ? AND ran.startNs < ?",
            window,
        )
        assert loss["rows"].get(table, 0) == (0 if kind == "lost-steps" else count)


def test_the_window_is_what_was_asked_for(healthy: Run, faulty: Run, kind: FaultKind) -> None:
    loss, (first, second, third) = loss_of(faulty.truth), healthy.ranks[1].steps()
    whole = tuple(healthy.truth["totals"][1][f"session_{end}_ns"] for end in ("start", "end"))
    middle = second[1] + (third[2] - second[1] - 2_000_000) // 2
    assert (loss["start_ns"], loss["end_ns"]) == {
        "lost-head": (whole[0], first[1] + 2_000_000),
        "lost-slice": (middle, middle + 2_000_000),
    }.get(kind, whole)


def test_a_slice_is_no_longer_than_its_steps() -> None:
    """Nor does it begin before them: seven seconds, of steps of some milliseconds."""
    fault = replace(HIT["lost-slice"], milliseconds=7_000)
    loss = loss_of(simulate(replace(SCENARIO, faults=(fault,)), SEED).truth())
    steps = simulate(SCENARIO, SEED).capture(1).steps
    assert (loss["start_ns"], loss["end_ns"]) == (int(steps.start[1]), int(steps.end[2]))


def test_what_begins_at_the_start_is_lost_and_at_the_end_is_not() -> None:
    scenario = replace(SCENARIO, faults=(HIT["lost-slice"],))
    capture = simulate(SCENARIO, SEED).capture(1)
    left, losses = lose(capture, Disturbances.of(scenario))
    window = losses[0].start_ns, losses[0].end_ns
    start = capture.tasks.start.copy()
    first = int(np.searchsorted(start, window[0]))
    last = int(np.searchsorted(start, window[1]))
    start[[first, last]] = window
    tasks = replace(capture.tasks, start=start)
    bounded = lose(replace(capture, tasks=tasks), Disturbances.of(scenario))[0].tasks.start
    assert window[0] not in bounded
    assert window[1] in bounded
    assert len(bounded) == len(left.tasks)


def test_other_ranks_and_totals_stay(healthy: Run, faulty: Run) -> None:
    assert faulty.ranks[0].content() == healthy.ranks[0].content()
    assert faulty.truth["totals"] == healthy.truth["totals"]


def test_tasks_stay_numbered_without_a_gap(faulty: Run) -> None:
    numbers = faulty.ranks[1].of("TASK", "SELECT globalTaskId FROM TASK ORDER BY 1")
    assert numbers == [(number,) for number in range(len(numbers))]


def test_check_finds_the_loss_and_nothing_else(faulty: Run, kind: FaultKind) -> None:
    assert {one.rule for one in check([faulty.folder]).findings} == FOUND[kind]


def test_an_expectation_names_lost_steps(tmp_path: Path) -> None:
    scenario = replace(SCENARIO, faults=(HIT["lost-steps"],))
    run = write_run(scenario, SEED, tmp_path / "run")
    (tmp_path / "wanted.yaml").write_text("steps: 3\n", encoding="utf-8")
    wanted = read_expectation(str(tmp_path / "wanted.yaml"))
    report = check([run.folder], Options(expectation=wanted))
    assert {one.rule for one in report.findings} == {"EXP103", "LOS209"}
    for info in run.folder.glob("*_ascend_pt/profiler_info_*.json"):
        stated = json.loads(info.read_text(encoding="utf-8"))
        assert stated["config"]["common_config"]["schedule"]["active"] == 3


class Row(NamedTuple):
    """A row of a capture, and the start of the task that it is about."""

    start: int | None
    values: tuple[Any, ...]


def described(capture: Capture) -> dict[str, list[Row]]:
    """The rows of everything, in which a task is its row without its number."""
    whole = zip(*(column.tolist() for _, column in capture.tasks.columns()), strict=True)
    place = [one.name for one in fields(capture.tasks)].index("identity")
    tasks = [Row(task[0], task[:place] + task[place + 1 :]) for task in whole]
    found = {"tasks": tasks}
    at = task_rows(capture.tasks)

    def of_task(task: int, values: Iterable[Any]) -> Row:
        own = tasks[at[task]]
        return Row(own.start, (own.values, *values))

    for field in fields(capture):
        batch = getattr(capture, field.name)
        if not isinstance(batch, Batch) or field.name == "tasks":
            continue
        rows = zip(*(column.tolist() for _, column in batch.columns()), strict=True)
        if field.name in OF_TASKS:  # their first column is the task
            found[field.name] = [of_task(task, more) for task, *more in rows]
        else:
            found[field.name] = [Row(None, row) for row in rows]
    counters = zip(capture.counters.task.tolist(), capture.counters.values.tolist(), strict=True)
    found["counters"] = [of_task(task, values) for task, values in counters]
    for name, columns in (*capture.samples.items(), *capture.records.items()):
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        found[name] = [Row(None, row) for row in rows]
    return found


@pytest.mark.parametrize("kind", ["lost-head", "lost-slice"])
def test_all_that_begins_outside_the_window_stays(kind: FaultKind) -> None:
    run = simulate(replace(WITH_HOST, faults=(HIT[kind],)), SEED)
    loss = loss_of(run.truth())
    before, after = described(simulate(WITH_HOST, SEED).capture(1)), described(run.capture(1))
    records = {"l2_cache", "aicpu"}

    def stays(row: Row) -> bool:
        return row.start is None or not loss["start_ns"] <= row.start < loss["end_ns"]

    assert before.keys() == after.keys() > records
    assert len(before["tasks"]) - len(after["tasks"]) == loss["rows"]["TASK"] > 0
    for name in before.keys() - records:
        assert after[name] == [row for row in before[name] if stays(row)], name
    for name in records:
        gone = Counter(before[name]) - Counter(after[name])
        assert gone.total() == len(before[name]) - len(after[name]) == loss["rows"].get(name, 0)


def test_rows_of_records_are_those_of_lost_kernels() -> None:
    """What l2_cache has of each kernel, by the names of its tasks."""
    run = simulate(replace(WITH_HOST, faults=(HIT["lost-head"],)), SEED)
    capture = run.capture(1)
    rows = task_rows(capture.tasks)[capture.kernels.task]
    tasks = {*zip(capture.tasks.stream[rows], capture.tasks.number[rows], strict=True)}
    cache = capture.records["l2_cache"]
    counted = capture.kernel_kinds.blocks[capture.kernels.kind] > 0
    assert {*zip(cache["stream"], cache["number"], strict=True)} <= tasks
    assert len(cache["stream"]) == counted.sum()


def test_of_tasks_of_one_number_only_the_lost_one_loses_its_row() -> None:
    """Two tasks of one stream and number: of the record only the row of the lost one goes.

    The record lacks the first kernels, as those of real sessions may.
    """
    capture = simulate(WITH_HOST, SEED).capture(1)
    same = replace(capture.tasks, number=np.zeros(len(capture.tasks), np.int64))
    kinds = replace(capture.kernel_kinds, name=np.zeros(len(capture.kernel_kinds), np.int64))
    cache = {name: values[2:] for name, values in capture.records["l2_cache"].items()}
    cache |= {"number": np.zeros_like(cache["number"]), "name": np.zeros_like(cache["name"])}
    counted = capture.kernel_kinds.blocks[capture.kernels.kind] > 0
    ran = np.sort(task_rows(capture.tasks)[capture.kernels.task[counted]])
    lost = np.zeros(len(same), np.bool_)
    lost[ran[-3]] = True
    only = replace(capture, tasks=same, kernel_kinds=kinds, records={"l2_cache": cache})
    only = replace(only, kernels=only.kernels.take(counted))
    left = without_tasks(only, lost).records["l2_cache"]
    stream = cache["stream"] == same.stream[ran[-3]]
    assert stream[-3]
    assert left["request"].tolist() == np.delete(cache["request"], -3).tolist()


def test_a_lost_device_leaves_the_host() -> None:
    lost = simulate(replace(WITH_HOST, faults=(HIT["lost-device"],)), SEED).capture(1)
    before, after = described(simulate(WITH_HOST, SEED).capture(1)), described(lost)
    assert not any(after[name] for name in ("tasks", "counters", *OF_TASKS))
    host = {"calls", "activities", "links", "frames", "steps", "memory_blocks", "HOST_MEM_USAGE"}
    assert all(after[name] == before[name] and after[name] for name in host)
    assert before.keys() - after.keys() >= {"HBM", "NPU_MEM", "l2_cache"}


def test_lost_steps_leave_no_mark_and_every_link() -> None:
    lost = simulate(replace(WITH_HOST, faults=(HIT["lost-steps"],)), SEED).capture(1)
    whole = simulate(WITH_HOST, SEED).capture(1)
    assert not len(lost.steps)
    assert not any(lost.texts[name].startswith("ProfilerStep") for name in lost.activities.name)
    assert len(whole.activities) - len(lost.activities) == 3

    def linked(capture: Capture) -> list[tuple[int, int]]:
        starts = capture.activities.start[capture.links.activity]
        return list(zip(starts.tolist(), capture.links.connection.tolist(), strict=True))

    assert linked(lost) == linked(whole)


def test_losses_of_one_rank_are_counted_once() -> None:
    faults = tuple(replace(one, ranks=(0,)) for one in HIT.values())
    run = simulate(replace(SCENARIO, faults=(*faults, *faults)), SEED)
    stated = run.truth()["faults"]
    total = sum(
        (Counter(one["rows"]) for fault in stated for one in fault["effect"]["losses"]), Counter()
    )
    whole = simulate(SCENARIO, SEED).capture(0)
    assert total["TASK"] == len(whole.tasks)
    assert total["STEP_TIME"] == len(whole.steps)
    assert [fault["effect"]["losses"][0]["rows"] for fault in stated[4:]] == [{}] * 4


def rows_of_file(folder: Path, pattern: str) -> Iterator[dict[str, str]]:
    for path in folder.rglob(pattern):
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


@pytest.mark.exhaustive
def test_every_form_lacks_the_same(tmp_path: Path) -> None:
    fault = FaultChoice("lost-slice", milliseconds=1)
    steps = FaultChoice("lost-steps")
    scenario = replace(scenario_of(1, 1), schedule=Schedule(active=2))
    forms = ("pytorch-db", "pytorch-text", "csv", "timeline")
    run = write_run(replace(scenario, faults=(fault, steps)), SEED, tmp_path / "run", forms)
    (path,) = run.folder.rglob("ascend_pytorch_profiler_0.db")
    rank = Rank(path)
    kernels = counted(rank)["COMPUTE_TASK_INFO"]
    whole = len(simulate(scenario, SEED).capture(0).kernels)
    truth = json.loads((run.folder / "truth.json").read_text(encoding="utf-8"))
    assert truth["faults"][0]["effect"]["losses"][0]["rows"]["COMPUTE_TASK_INFO"] == whole - kernels
    names = Counter(row["Op Name"] for row in rows_of_file(run.folder, "op_summary_*.csv"))
    assert names.total() == kernels
    assert Counter(row["Name"] for row in rows_of_file(run.folder, "kernel_details.csv")) == names
    assert "STEP_TIME" not in rank.tables
    assert {row["Step"] for row in rows_of_file(run.folder, "step_trace_time.csv")} == {""}
    (timeline,) = run.folder.rglob("trace_view.json")
    assert "ProfilerStep#" not in timeline.read_text(encoding="utf-8")
    wanted = ("LOS209", "LOS310")
    report = check([run.folder], Options(selection=Selection(select=wanted)))
    assert {one.rule for one in report.findings} == {*wanted}


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_ranks=2, max_steps=2, kinds=["single-operator"], losses=True))
def test_any_loss_can_be_written(scenario: Scenario) -> None:
    with TemporaryDirectory() as folder:
        run = write_run(scenario, SEED, Path(folder) / "run")
        for path in run.truths:
            jsonschema_rs.validate(schema(), json.loads(path.read_text(encoding="utf-8")))


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_ranks=2, kinds=["single-operator"]))
def test_no_loss_is_drawn_unless_asked_for(scenario: Scenario) -> None:
    assert not {fault.kind for fault in scenario.faults} & {*LOSSES}
