"""Simulated jobs of MindSpore's profiler: parsers and analysers find the truth, on any day."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mindspore_jobs import (
    SERVING,
    TRAINING,
    Job,
    expected_types,
    jobs,
    operator_times,
    steps_of,
    true_steps,
    with_faults,
    written,
)
from slices import some

from ascend_ref.cli import main
from ascend_ref.execution import open_executor
from ascend_ref.mindspore.parse.parse import parse
from ascend_ref.mindspore.write.write import write_ascend_job
from ascend_simulator import simulate
from ascend_simulator.choices import (
    LOSSES_OF_JOBS,
    FaultChoice,
    FaultKind,
    Scenario,
    Schedule,
)
from ascend_simulator.documents.text import ScenarioError
from ascend_simulator.run import write_run
from ascend_simulator.strategies import scenarios
from ascend_simulator.truth import schema
from ascend_spec import mindspore_catalog

FIRST, LAST = "2020-06-08", "2023-07-02"


def boundaries() -> list[str]:
    """The days on which something changes, and some between."""
    catalog = mindspore_catalog()
    facts = [
        *catalog.files.values(),
        *(name for one in catalog.files.values() for name in one.names),
        *(way for one in catalog.methods.values() for way in one.ways),
        *(line for one in catalog.grammars.values() for line in one.lines.values()),
    ]
    days = {one.since for one in facts if one.since}
    return sorted({FIRST, LAST, *(day for day in days if FIRST <= day <= LAST)})


def check(job: Job) -> None:
    """Everything that the parsers make of a job is what the truth says."""
    assert job.parsed.damage == ()
    times = operator_times(job)
    names = [one["name"] for one in job.truth["operators"]]
    assert list(times) == (sorted(names) if job.way("tables") == "drawn" else names)
    for one in job.truth["operators"]:
        average = one["ticks"] / one["executions"] / 100_000
        assert times[one["name"]] == pytest.approx(average, rel=precision(job))
    check_types(job)
    is_training = any("Gradients/" in one["name"] for one in job.truth["operators"])
    is_training = is_training or job.way("run_mode") == "training"
    if job.makes("step_trace_raw"):
        assert steps_of(job) == true_steps(job, is_training=is_training)
        check_average(job)
    check_ai_cpu(job)
    check_data(job)
    check_analysers(job)


def check_analysers(job: Job) -> None:
    """What the viewer answers, in ms or us as it did on the day."""
    times = {one["name"]: one["ticks"] / one["executions"] for one in job.truth["operators"]}
    if times and job.makes("aicore_intermediate_detail"):
        answer = job.ask("aicore_detail", {"is_display_detail": False})
        place = next(n for n, one in enumerate(answer["col_name"]) if "time" in one)
        found = sorted(row[place] for row in answer["object"])
        per_unit = 100 if answer["object"] and max(found) > max(times.values()) / 1e4 else 1e5
        expected = sorted(one / per_unit for one in times.values())
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-3)
    if job.makes("step_trace_raw") and job.find("step_trace_raw"):
        asked = {"mode": "proc", "proc_name": "iteration_interval"}
        answer = job.ask("step_trace", asked)
        waits = [(one["fp"] - one["start"]) / 1e5 for one in job.truth["steps"]]
        assert answer["info"]["iteration_interval"] == pytest.approx(waits, abs=1e-4)
        assert answer["summary"]["total_steps"] == len(waits)


def precision(job: Job) -> float:
    """Drawn tables have six digits of a number."""
    return 1e-5 if job.way("tables") == "drawn" else 1e-9


def check_types(job: Job) -> None:
    rows = job.rows("aicore_intermediate_type")[1:]
    expected = expected_types(job)
    if not sum(time for time, _ in expected.values()):
        return
    assert {row[0] for row in rows} == set(expected)
    for name, time, count, _ in rows:
        assert float(time) == pytest.approx(float(expected[name][0]), rel=precision(job))
        assert int(count) == expected[name][1]


def check_average(job: Job) -> None:
    rows = job.rows("step_trace_raw")[1:]
    if not rows:
        return
    *steps, average = rows
    averaged = steps[1:] if job.way("step_average") == "without-first" else steps
    if not averaged:
        assert set(average) == {"0"}
        return
    for place, cell in enumerate(average[1:], 1):
        mean = Decimal(sum(int(row[place]) for row in averaged)) / len(averaged)
        assert int(cell) in (round(mean), round(mean) - 1, round(mean) + 1)


def check_ai_cpu(job: Job) -> None:
    if not job.makes("aicpu_intermediate"):
        return
    header, *rows = job.rows("aicpu_intermediate") or [[]]
    lost = job.way("aicpu_rows") == "without-first"
    expected = job.truth["ai_cpu"][lost:]
    assert len(rows) == len(expected)
    for row, one in zip(rows, expected, strict=True):
        # For two days the header had a column that rows did not have yet.
        late = [one for one in header if one != "execution_time" or len(row) == len(header)]
        cells = dict(zip(late, row, strict=True))
        scale = 1000 if job.day >= "2020-06-21" or float(cells["total_time"]) % 1 else 1
        total = float(cells["total_time"]) * scale
        assert total in (pytest.approx(one["total_us"]), pytest.approx(one["total_us"] * 1000))
        short = one["name"].rpartition("/")[2]
        kind = short.partition("-")[0]
        names = [cells[key] for key in ("op_type", "kernel_type") if key in cells]
        assert names[0] in (one["name"], short, kind) or not job.truth["operators"]


def check_data(job: Job) -> None:
    summary = job.ask("minddata")["summary"].get("device_queue_info", {}).get("summary")
    queue = job.truth["queue"]
    expected = {
        "empty_batch_count": queue["empty"],
        "full_batch_count": queue["full"],
        "total_batch": queue["steps"],
    }
    assert summary == (expected if queue["steps"] else None)
    if not job.makes("minddata_pipeline_raw"):
        return
    rows = job.rows("minddata_pipeline_raw")
    cells = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    for row, one in zip(cells, job.truth["pipeline"], strict=True):
        assert (int(row["op_id"]), row["op_type"]) == (one["operator"], one["type"])
        average = row["output_queue_average_size"]
        assert (float(average) if average else None) == one["average"]


def mindspore_runs() -> st.SearchStrategy[Scenario]:
    """Runs of MindSpore, with the faults that leave their data whole."""

    def suits(scenario: Scenario) -> bool:
        return scenario.capture.npu and (scenario.hardware.devices_per_host or 8) <= 8

    return scenarios(max_ranks=4, max_faults=1).filter(suits)


@pytest.mark.campaign
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(mindspore_runs(), st.sampled_from(boundaries()), st.integers(0, 1000))
def test_parsers_find_the_truth_of_any_run_on_any_day(
    scenario: Scenario, day: str, seed: int
) -> None:
    with TemporaryDirectory() as folder:
        for job in jobs(Path(folder), scenario, day, seed=seed):
            check(job)


@pytest.mark.parametrize("day", some(boundaries(), every=24))
def test_parsers_find_the_truth_on_each_day_of_a_change(day: str, tmp_path: Path) -> None:
    for job in jobs(tmp_path, TRAINING, day):
        check(job)


@pytest.mark.parametrize("day", ["2020-11-11", "2020-11-19", "2021-06-08", "2022-07-04", LAST])
def test_parsers_find_the_steps_of_a_gpu(day: str, tmp_path: Path) -> None:
    for job in jobs(tmp_path, TRAINING, day, "mindspore-gpu"):
        assert job.parsed.damage == ()
        assert steps_of(job) == true_steps(job, is_training=True)
        check_average(job)
        check_data(job)
        fetched = job.ask("minddata")["queue"]["get_next"]
        assert fetched["size"] == job.truth["fetches"]["steps"] == 4


@pytest.mark.parametrize("form", ["mindspore-raw", "mindspore-gpu"])
def test_without_any_operator_there_is_no_step(form: str, tmp_path: Path) -> None:
    lost = with_faults(TRAINING, FaultChoice("lost-device"))
    for job in jobs(tmp_path, lost, "G3", form):
        assert job.truth["operators"] == job.truth["steps"] == steps_of(job) == []
    head = with_faults(TRAINING, FaultChoice("lost-head", milliseconds=600_000))
    for job in jobs(tmp_path / "head", head, "G3", form):
        assert job.truth["operators"] == job.truth["steps"] == steps_of(job) == []


@pytest.mark.parametrize(
    ("forms", "day"),
    [
        (("mindspore-raw",), "2020-07-01"),
        (("mindspore-gpu",), "2020-11-11"),
        (("mindspore-raw", "mindspore-gpu"), "2020-11-11"),
    ],
)
def test_without_a_generation_it_is_the_first_that_has_the_format(
    forms: tuple[str, ...], day: str, tmp_path: Path
) -> None:
    asked = ["simulate", "single-op", "--as", ",".join(forms), "-o", str(tmp_path / "run")]
    assert main(asked) == 0
    truth = json.loads((tmp_path / "run" / "truth.json").read_text())
    assert [one["day"] for one in truth["jobs"]] == [day] * len(forms)


def test_no_gpu_is_profiled_before_there_was_a_parser_for_it(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no GPU was profiled on 2020-07-01; expected a day"):
        written(tmp_path, TRAINING, "G1", "mindspore-gpu")
    assert not (tmp_path / "run").exists()


def test_what_serves_has_no_backward_pass(tmp_path: Path) -> None:
    two = replace(SERVING, parallelism=replace(SERVING.parallelism, ranks=2, tensor=2))
    for job in jobs(tmp_path, two, "G3"):
        check(job)
        assert len(job.truth["steps"]) == 3
        assert job.rows("hccl_raw")


def test_devices_of_two_digits_have_no_name_in_text(tmp_path: Path) -> None:
    many = replace(TRAINING, hardware=replace(TRAINING.hardware, product="A3", devices_per_host=16))
    many = replace(many, parallelism=replace(many.parallelism, ranks=11))
    with pytest.raises(ScenarioError, match="device 10: names of 2020-07-01 have one digit"):
        written(tmp_path, many, "G1")


def test_long_names_stand_in_the_dictionary(tmp_path: Path) -> None:
    """Records have room for 120 bytes; text has for all."""
    run = written(tmp_path, TRAINING, "G3")
    (dictionary,) = run.profiles[0].rglob("Framework.hash_dic*slice_0")
    listed = [line.partition(":")[2] for line in dictionary.read_text().splitlines()]
    job = json.loads(run.truths[0].read_text())["jobs"][0]
    names = [one["name"] for one in job["operators"]]
    assert listed == [one for one in names if len(one) > 120] != names
    assert listed


# --- slices and clocks ----------------------------------------------------------------------------


def test_slices_of_any_size_give_the_same_files(tmp_path: Path) -> None:
    """Records end with a slice; lines of text go on in the next one."""
    capture = simulate(replace(TRAINING, model=replace(TRAINING.model, graph=True)), 3).capture(0)
    for day in ("G1", "G2", "G3"):
        found = set()
        for size in (1 << 22, 1000):
            folder = tmp_path / day / str(size)
            write_ascend_job(folder, capture, mindspore_catalog().day_of(day), slice_size=size)
            (done,) = parse(folder, folder / "parsed", day)
            assert done.damage == ()
            found.add(digest(folder / "parsed"))
            assert bool(list(folder.rglob("*hwts*.slice_7"))) == (size == 1000)
        # Parsers of G2 let a step start anew where its points go on in the next slice.
        assert len(found) == (2 if day == "G2" else 1)


def digest(folder: Path) -> str:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    runs = [written(tmp_path / name, TRAINING, "G3") for name in ("one", "other")]
    assert digest(runs[0].folder) == digest(runs[1].folder)
    third = written(tmp_path / "third", TRAINING, "G3", seed=4)
    assert digest(runs[0].folder) != digest(third.folder)


@pytest.mark.exhaustive
def test_workers_change_no_byte(tmp_path: Path) -> None:
    fault = FaultChoice("job-lost-slice", raw="hwts")
    scenario = with_faults(TRAINING, fault)
    with open_executor(2) as two:
        other = write_run(scenario, 3, tmp_path / "two", ("mindspore-raw",), executor=two)
    assert digest(written(tmp_path, scenario, "G1").folder) == digest(other.folder)


def test_traces_hold_what_was_sent(tmp_path: Path) -> None:
    scenario = replace(TRAINING, model=replace(TRAINING.model, graph=True))
    capture = simulate(replace(scenario, capture=replace(scenario.capture, aicpu=True)), 3).capture(
        0
    )
    job = next(iter(jobs(tmp_path, TRAINING, "G3")))
    header, *rows = job.rows("hccl_raw")
    assert len(rows) == len(capture.steps) + 1
    sent: Counter[str] = Counter()
    for row in rows[:-1]:
        for link, kinds in json.loads(row[header.index("link_info")]).items():
            sent[link] += round(sum(size for _, size, *_ in kinds.values()) * 1000)
    expected: Counter[str] = Counter()
    transfers = capture.transfers
    for kind, source, target, size, group in zip(
        transfers.kind.tolist(),
        transfers.source.tolist(),
        transfers.target.tolist(),
        transfers.size.tolist(),
        capture.collectives.group[transfers.collective].tolist(),
        strict=True,
    ):
        if capture.texts[kind] in ("Memcpy", "Reduce_Inline"):
            first = int(capture.groups.first[group])
            ends = [int(capture.group_ranks[first + max(one, 0)]) for one in (source, target)]
            expected["-".join(map(str, ends))] += size
    assert sent == expected


def test_counts_in_the_log_go_on_in_each_slice(tmp_path: Path) -> None:
    run = written(tmp_path, TRAINING, "G1")
    (log,) = run.profiles[0].glob("hwts*slice_0")
    content = log.read_bytes()
    counts = [content[place] >> 4 for place in range(0, len(content), 64)]
    assert counts == [place % 16 for place in range(len(counts))]
    ticks = [int.from_bytes(content[n + 8 : n + 16], "little") for n in range(0, len(content), 64)]
    assert ticks == sorted(ticks)


# --- faults ---------------------------------------------------------------------------------------

FAULTS = [
    FaultChoice("job-lost-slice", raw="hwts", slices=4),
    FaultChoice("job-lost-slice", raw="training_trace", slices=5),
    FaultChoice("job-lost-slice", raw="ts_track", slices=5),
    FaultChoice("job-torn-record", slices=3),
    FaultChoice("job-torn-record", slices=1, cut="end"),
    FaultChoice("job-wrong-magic"),
    FaultChoice("job-swapped-slices", slices=4),
    FaultChoice("job-endless-task"),
    FaultChoice("job-lost-ends"),
    FaultChoice("job-lost-reductions"),
    FaultChoice("job-wrong-tag"),
]


@pytest.mark.parametrize("day", some(["G3", "G1", "2021-07-01"], every=3))
@pytest.mark.parametrize(
    "fault", some(FAULTS, every=4), ids=lambda one: f"{one.kind}-{one.raw}-{one.cut}"
)
def test_parsers_find_what_a_fault_leaves(fault: FaultChoice, day: str, tmp_path: Path) -> None:
    scenario = with_faults(replace(TRAINING, schedule=Schedule(active=6)), fault)
    for job in jobs(tmp_path, scenario, day):
        times = operator_times(job)
        operators = {one["name"]: one for one in job.truth["operators"]}
        assert set(times) == set(operators)
        for name, one in operators.items():
            average = one["ticks"] / one["executions"] / 100_000
            assert times[name] == pytest.approx(average, rel=1e-9)
        assert steps_of(job) == true_steps(job, is_training=True)
        check_ai_cpu(job)
    truth = json.loads((tmp_path / "run" / "truth.json").read_text())
    jsonschema_rs.validate(schema(), truth)
    check_stated(tmp_path / "run", truth, day)


def check_stated(run: Path, truth: Any, day: str) -> None:
    """Damage that shows in one kind of files is stated by the path of it or the slice behind it."""
    (fault,) = truth["faults"]
    for damage in fault["effect"]["damages"]:
        folder = next(run / one["path"] for one in truth["jobs"] if one["path"] in damage["path"])
        done = parse(folder, run.parent / f"again_{damage['path'].replace('/', '_')}", day)
        stem = damage["path"].rpartition(".slice_")[0]
        stated = [text for one in done for text in one.damage if stem in text]
        assert bool(stated) == damage["is_stated"]


def test_each_fault_of_a_job_is_tried() -> None:
    tried = {one.kind for one in FAULTS} | {"job-lost-file", "job-foreign-slice"}
    assert tried == set(LOSSES_OF_JOBS)


@pytest.mark.parametrize(
    ("day", "kind", "left"),
    some(
        [
            ("G1", "task_desc_info", set()),
            ("G1", "hwts", set()),
            ("G1", "graph_desc_info", {"operators", "steps"}),
            ("G3", "task_desc_records", set()),
            ("G3", "ts_track", {"operators"}),
            ("G3", "aicpu", {"operators", "steps"}),
        ],
        every=3,
    ),
)
def test_a_lost_file_takes_what_is_made_of_it(
    day: str, kind: str, left: set[str], tmp_path: Path
) -> None:
    scenario = with_faults(TRAINING, FaultChoice("job-lost-file", raw=kind))
    for job in jobs(tmp_path, scenario, day):
        assert bool(operator_times(job)) == bool(job.truth["operators"])
        assert len(steps_of(job)) == len(job.truth["steps"])
        for name in left:
            assert job.truth[name]
        check_ai_cpu(job)
        assert kind not in job.parsed.capture.files


def test_a_foreign_slice_is_another_device(tmp_path: Path) -> None:
    scenario = with_faults(TRAINING, FaultChoice("job-foreign-slice", ranks=(0,)))
    run = written(tmp_path, scenario, "G1")
    devices = {one.capture.device: one for one in parse(run.profiles[0], tmp_path / "parsed", "G1")}
    assert len(devices) == 2
    (other,) = devices.keys() - {"0"}
    assert set(devices[other].capture.files) == {"hwts"}


def test_faults_of_jobs_hit_the_ranks_that_they_name(tmp_path: Path) -> None:
    scenario = with_faults(TRAINING, FaultChoice("job-endless-task", ranks=(1,)))
    truth = json.loads(written(tmp_path, scenario, "G1").truths[0].read_text())
    (damage,) = truth["faults"][0]["effect"]["damages"]
    assert damage["path"].startswith(truth["jobs"][1]["path"])
    counts = [Counter(one["executions"] for one in job["operators"]) for job in truth["jobs"]]
    assert sum(counts[0].values()) == sum(counts[1].values()) + 1


@pytest.mark.parametrize("kind", ["job-lost-slice", "job-lost-file"])
def test_a_fault_names_a_kind_of_file_that_can_be_hit(kind: FaultKind, tmp_path: Path) -> None:
    scenario = with_faults(TRAINING, FaultChoice(kind, raw="ddr"))
    with pytest.raises(ScenarioError, match=f"raw is ddr; expected for {kind} one of hwts"):
        written(tmp_path, scenario, "G1")


def test_the_verb_writes_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["simulate", "single-op", "--as", "mindspore-raw", "-o", str(tmp_path / "run")]
    assert main([*asked, "--generation", "2022-02-02"]) == 0
    job, truth = capsys.readouterr().out.splitlines()
    assert Path(job).name.startswith("PROF_")
    assert json.loads(Path(truth).read_text())["jobs"][0]["day"] == "2022-02-02"
    assert main([*asked, "--force", "--generation", "G9"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "unknown generation 'G9'; known: G1, G2, G3" in line
