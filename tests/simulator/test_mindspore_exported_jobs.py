"""Jobs of days on which parsers read what msprof exports: what is found is what was simulated."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mindspore_jobs import SERVING, TRAINING, Job, jobs

from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.propose.compose import compose
from ascend_simulator.scenario import override, preset

OF_ITERATIONS, IN_SUMMARY, OF_TODAY = "2023-10-15", "2024-03-01", "2025-06-02"
RENAMED = "2024-01-11"
DETAIL, TYPES = "aicore_intermediate_detail", "aicore_intermediate_type"
COUNTED = replace(TRAINING, capture=replace(TRAINING.capture, aic_metrics="ArithmeticUtilization"))


@pytest.fixture(scope="module", params=[OF_ITERATIONS, "2023-12-20", IN_SUMMARY, OF_TODAY])
def job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("exported")
    return next(jobs(folder, replace(COUNTED, parallelism=SERVING.parallelism), request.param))


def table(job: Job, name: str) -> list[dict[str, str]]:
    path = job.find(name)
    assert path is not None
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def named(job: Job, old: str, new: str) -> str:
    return new if job.day >= RENAMED else old


def of_truth(job: Job) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = job.truth["exported"]["operators"]
    return found


def test_m51_the_generation_is_that_of_what_msprof_exports(job: Job) -> None:
    assert job.parsed.written.generation.id == "G3m"
    assert job.parsed.damage == ()


def test_m50_operators_have_the_times_and_numbers_of_the_truth(job: Job) -> None:
    rows = {one[named(job, "full_op_name", "full_kernel_name")]: one for one in table(job, DETAIL)}
    assert list(rows) == [one["name"] for one in of_truth(job)]
    for one in of_truth(job):
        row = rows[one["name"]]
        assert int(row["execution_frequency"]) == one["executions"]
        mean = one["ns"] / one["executions"] / 1e6
        assert float(row["task_duration"]) == pytest.approx(mean, rel=1e-12)
        assert row["task_type"] == one["core"]


def test_m50_types_have_the_sums_of_their_operators_and_parts_of_one(job: Job) -> None:
    wanted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in of_truth(job):
        wanted[one["type"]][0] += one["ns"]
        wanted[one["type"]][1] += one["executions"]
    rows = table(job, TYPES)
    assert [row[named(job, "op_type", "kernel_type")] for row in rows] == sorted(wanted)
    every = sum(ns for ns, _ in wanted.values())
    for row in rows:
        ns, count = wanted[row[named(job, "op_type", "kernel_type")]]
        assert float(row["total_time"]) == pytest.approx(ns / 1e6, rel=1e-9)
        assert int(row["execution_frequency"]) == count
        assert float(row["percent"]) == pytest.approx(ns / every, rel=1e-6)


def test_m46_the_framework_names_each_operator_with_its_tensors(job: Job) -> None:
    rows = table(job, "framework_raw")
    full = [row[named(job, "full_op_name", "full_kernel_name")] for row in rows]
    assert full == [one["name"] for one in of_truth(job)]
    for row, one in zip(rows, of_truth(job), strict=True):
        assert row[named(job, "op_name", "kernel_name")] == one["name"].rpartition("/")[2]
        assert row[named(job, "op_type", "kernel_type")] == one["type"]
        assert row[named(job, "kernel_type", "task_type")] == one["core"]
        assert row["subgraph"] in ("Default", "Gradients")
        assert row["block_dim"] == "0"
    tensors = [json.loads(row["op_info"]) for row in rows]
    assert any({"Input_0", "Output_0"} <= one.keys() for one in tensors)
    assert {key for one in tensors for each in one.values() for key in each} == {
        *("format", "data_type", "shape")
    }


def test_m50_kernels_of_ai_cpus_are_rows_of_their_own(job: Job) -> None:
    rows = table(job, "aicpu_intermediate")
    kernels = [one for one in of_truth(job) if one["core"] == "AI_CPU"]
    assert len(rows) == sum(one["executions"] for one in kernels)
    time = sum(float(row["execution_time"]) for row in rows)
    assert time == pytest.approx(sum(one["ns"] for one in kernels) / 1e6)
    for row in rows:
        parts = float(row["execution_time"]) + float(row["dispatch_time"])
        assert float(row["total_time"]) == pytest.approx(parts)
        end = float(row["run_start"]) + float(row["total_time"])
        assert float(row["run_end"]) == pytest.approx(end)


def test_m50_the_time_line_has_each_execution_on_ai_cores(job: Job) -> None:
    path = job.find("output_timeline_data")
    assert path is not None
    header, *rows = csv.reader(path.read_text().splitlines())
    first = named(job, "op_name", "kernel_name")
    assert header == [first, "stream_id", "start_time(us)", "duration(ms)"]
    cores = [one for one in of_truth(job) if one["core"] == "AI_CORE"]
    assert len(rows) == sum(one["executions"] for one in cores)
    assert sum(float(row[3]) for row in rows) * 1e6 == pytest.approx(sum(o["ns"] for o in cores))


def test_m47_steps_are_those_of_the_truth(job: Job) -> None:
    *rows, average = table(job, "step_trace_raw")
    truth = job.truth["exported"]["steps"]
    assert [int(row["step_num"]) for row in rows] == [one["step"] for one in truth]
    for row, one in zip(rows, truth, strict=True):
        wanted = {
            "start_point": one["fp"] - one["interval"],
            "end_point": one["end"],
            "total": one["end"] - one["begin"] + one["interval"],
            "fp_point": one["fp"],
            "bp_point": one["bp"],
            "iteration_interval": one["interval"],
            "fp_and_bp": one["bp"] - one["fp"],
            "tail": one["end"] - one["bp"],
        }
        # Doubles of Unix times in ms have 52 ns between them at most, and rows are cut.
        for name, ns in wanted.items():
            assert int(row[name]) == pytest.approx(ns / 10, abs=40), name
    assert average["step_num"] == "-"
    mean = Fraction(sum(int(row["tail"]) for row in rows), len(rows))
    assert int(average["tail"]) == int(mean)


def test_m50_operations_are_those_of_each_row(job: Job) -> None:
    rows = table(job, "flops")
    assert len(rows) >= sum(one["executions"] for one in of_truth(job))
    path = job.find("flops_summary")
    assert path is not None
    summary = json.loads(path.read_text())
    for unit, name in (("cube", "cube_FLOPs"), ("vector", "vec_FLOPs")):
        every = sum(float(row[f"MFLOPs(10^6 {unit})"]) for row in rows)
        assert summary[name] == pytest.approx(every, abs=1e-3)
    assert summary["cube_FLOPs"] > 0


def test_m60_m61_analysers_answer_in_the_unit_of_the_generation(job: Job) -> None:
    answer = job.ask("aicore_type")
    column = answer["col_name"].index("total_percent")
    assert sum(row[column] for row in answer["object"]) == pytest.approx(100, abs=0.1)
    details = job.ask("aicore_detail")
    assert details["size"] == len(of_truth(job))
    time = details["col_name"].index("avg_execution_time")
    names = {row[0]: row for row in details["object"]}
    for one in of_truth(job):
        row = names[one["name"] if job.day >= RENAMED else one["name"].rpartition("/")[2]]
        assert row[time] == pytest.approx(one["ns"] / one["executions"] / 1e3, abs=1e-3)
    graph = job.ask("step_trace", {"mode": "step", "step_id": 2})
    assert graph["size"] == len(job.truth["exported"]["steps"])


@pytest.mark.parametrize(
    ("cause", "types", "rule"),
    [
        ("data-bound", ["step_trace", "minddata", "minddata_pipeline", "common"], "long_interval"),
        ("ai-cpu-bound", ["aicpu"], "slow_ai_cpus"),
    ],
)
def test_m77_m80_proposers_find_the_cause(
    tmp_path: Path, cause: str, types: list[str], rule: str
) -> None:
    for name, holds in ((cause, True), ("cnn-910a", False)):
        place = tmp_path / name
        place.mkdir()
        job = next(jobs(place, override(preset(name), ranks=1, steps=3), OF_TODAY))
        found = compose(Folder(job.folder, job.device), types)
        assert (rule in {one.rule.proposal for one in found.proposals}) == holds
