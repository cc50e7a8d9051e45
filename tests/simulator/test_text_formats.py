"""Runs written as text: which files, where, and that they tell what the truth says."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from record_rows import TRAINS
from slices import some

from ascend_ref.cli import main
from ascend_ref.execution import Processes
from ascend_ref.profile import write_msprof_profile, write_pytorch_profile
from ascend_simulator import simulate, write_run
from ascend_simulator.choices import ProductName, Scenario
from ascend_simulator.run import FORMATS
from ascend_simulator.scenario import override, parse, preset
from ascend_spec import catalog, text_catalog

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
OUTPUT, TEXTS = "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"
SMALL = """
name: small
model: {layers: 1, hidden: 256, heads: 4, sequence: 64, vocabulary: 512}
parallelism: {ranks: 2, devices_per_process: 2}
schedule: {active: 1}
"""
NEWEST = catalog().revisions[-1].id


@pytest.fixture(scope="module")
def small() -> Scenario:
    return parse(SMALL)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def written(scenario: Scenario, out: Path, *formats: str, **options: Any) -> dict[str, bytes]:
    write_run(scenario, 1, out, formats, **options)
    return contents(out)


def test_texts_and_databases_of_the_framework_share_a_profile(
    small: Scenario, tmp_path: Path
) -> None:
    database = written(small, tmp_path / "db", "pytorch-db")
    text = written(small, tmp_path / "text", "pytorch-text")
    both = written(small, tmp_path / "both", "pytorch-db", "pytorch-text")
    assert both.keys() == database.keys() | text.keys()
    told = {name for name in both if "profiler_info" in name or "profiler_metadata" in name}
    assert len(told) == 4
    for name, content in both.items():
        if name not in told:
            assert content in (database.get(name), text.get(name)), name
    in_output = {Path(name).name for name in text if OUTPUT in name}
    assert {
        "trace_view.json", "kernel_details.csv", "operator_details.csv", "step_trace_time.csv",
        "op_statistic.csv", "api_statistic.csv", "communication.json", "communication_matrix.json",
    } <= in_output  # fmt: skip
    assert not any(name.endswith(".db") for name in in_output)


def test_texts_and_databases_of_cann_share_a_profile(small: Scenario, tmp_path: Path) -> None:
    alone = {
        name: written(small, tmp_path / name, name) for name in ("msprof-db", "csv", "timeline")
    }
    all_three = written(small, tmp_path / "all", *alone)
    profiles = {name.partition("/")[0] for name in all_three} - {"truth.json"}
    assert len(profiles) == 1
    assert all_three.keys() == {name for found in alone.values() for name in found}
    for name, content in all_three.items():
        if not name.endswith("README.txt"):
            assert content in {found[name] for found in alone.values() if name in found}, name
    texts = {name.rpartition("/")[2] for name in all_three if f"/{TEXTS}/" in name}
    assert {"op_summary_20260101170000.csv", "msprof_20260101170000.json"} <= texts
    assert {name for name in alone["csv"] if name.endswith(".json") and TEXTS in name} == set()
    assert {name for name in alone["timeline"] if name.endswith(".csv")} == set()


def test_different_exporters_have_folders_of_their_own(small: Scenario, tmp_path: Path) -> None:
    run = write_run(small, 1, tmp_path / "run", ("timeline", "pytorch-text", "csv", "pytorch-db"))
    assert {path.name for path in run.folder.iterdir()} == {
        "timeline+csv",
        "pytorch-text+pytorch-db",
        "truth.json",
    }
    names = [path.relative_to(run.folder).parts for path in run.profiles]
    assert [name[0] for name in names] == ["timeline+csv"] + ["pytorch-text+pytorch-db"] * 2
    assert len(set(names)) == 3


def listed(folder: Path) -> list[str]:
    return (folder / "README.txt").read_text(encoding="utf-8").splitlines()


def test_the_readme_names_every_kind_of_file_once(small: Scenario, tmp_path: Path) -> None:
    museum = override(preset("text-museum"), steps=1)
    run = write_run(museum, 1, tmp_path / "run", ("csv", "timeline"))
    folder = run.profiles[0] / TEXTS
    lines = listed(folder)
    timelines, sheets = lines.index("Timeline files:"), lines.index("Summary files:")
    assert (timelines, lines[1].split(":")[0]) == (0, "1.msprof.json")
    for part, suffix in ((lines[1:sheets], ".json"), (lines[sheets + 1 :], ".csv")):
        kinds = {path.name.rpartition("_")[0] for path in folder.glob(f"*{suffix}")}
        names = [line.partition(": ")[0] for line in part]
        assert names == [
            f"{number}.{kind}{suffix}" for number, kind in enumerate(sorted(kinds), start=1)
        ]
        assert all(len(line.partition(": ")[2]) > 10 for line in part)


@pytest.mark.parametrize(
    ("formats", "told"),
    [
        (("pytorch-db",), ["db"]),
        (("pytorch-text",), ["text"]),
        (("pytorch-db", "pytorch-text"), ["text", "db"]),
    ],
)
def test_the_files_of_a_rank_tell_its_forms(
    small: Scenario, formats: tuple[str, ...], told: list[str], tmp_path: Path
) -> None:
    run = write_run(small, 1, tmp_path / "run", formats)
    for rank, profile in enumerate(run.profiles):
        info = json.loads((profile / f"profiler_info_{rank}.json").read_text())
        assert info["config"]["experimental_config"]["_export_type"] == told
        facts = json.loads((profile / "profiler_metadata.json").read_text())
        assert ("ENV_VARIABLES" in facts) is ("text" in told)
        assert facts["distributed_args"]["rank"] == rank
        if "text" in told:
            assert len(facts["ENV_VARIABLES"]) == 8
    old = write_run(small, 1, tmp_path / "old", formats, catalog().revisions[0].id)
    info = json.loads((old.profiles[0] / "profiler_info_0.json").read_text())
    assert info["config"]["experimental_config"]["_export_type"] == told[0]


@pytest.mark.campaign
def test_processes_do_not_change_a_byte(small: Scenario, tmp_path: Path) -> None:
    apart = replace(small, parallelism=replace(small.parallelism, devices_per_process=1))
    alone = written(apart, tmp_path / "one", *FORMATS)
    assert written(apart, tmp_path / "two", *FORMATS, executor=Processes(2)) == alone
    assert written(apart, tmp_path / "three", *FORMATS) == alone


@pytest.mark.parametrize("what", ["write_csv_files", "write_timeline"])
def test_a_profile_whose_texts_fail_does_not_appear(
    small: Scenario, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(f"ascend_ref.profile.text.{what}", fail)
    for output in ("pytorch", "msprof"):
        formats = [name for name, one in FORMATS.items() if one.output == output]
        with pytest.raises(OSError, match="no space"):
            write_run(small, 1, tmp_path / output, formats)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_form_is_refused(small: Scenario, tmp_path: Path) -> None:
    capture = simulate(small).capture(0)
    with pytest.raises(ValueError, match="form: 'csv'; expected one of text, db"):
        write_pytorch_profile(tmp_path, capture, NEWEST, ("csv",))
    with pytest.raises(ValueError, match="form: 'text'; expected one of db, csv, timeline"):
        write_msprof_profile(tmp_path, [capture], NEWEST, ("text",))
    assert list(tmp_path.iterdir()) == []


def test_metrics_that_the_framework_does_not_have_are_refused(
    small: Scenario, tmp_path: Path
) -> None:
    """Its profiler has no name for this group of the Atlas 200I/500 A2; that of CANN has."""
    capture = simulate(small).capture(0)
    group = "PipelineExecuteUtilization"
    counted = replace(capture, switches=replace(capture.switches, aic_metrics=group))
    with pytest.raises(ValueError, match=f"aic_metrics: '{group}'; expected None or one of Pipe"):
        write_pytorch_profile(tmp_path, counted, NEWEST, ("text",))
    assert list(tmp_path.iterdir()) == []
    assert write_msprof_profile(tmp_path, [counted], NEWEST, ("csv",)).is_dir()


def test_the_command_writes_what_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["simulate", "single-op", "-o", str(out), "--as", "csv,timeline"]
    assert main(words) == 0
    profile, truth = map(Path, capsys.readouterr().out.splitlines())
    assert profile.name.startswith("PROF_")
    assert profile.parent == truth.parent == out
    assert list(profile.glob(f"{TEXTS}/op_summary_*.csv"))
    assert list(profile.glob(f"{TEXTS}/msprof_*.json"))
    assert not list(profile.glob("*.db"))


OLD_CHIP = {"llc_aicpu", "llc_ctrlcpu", "llc_bandwidth"}
"""Files of the 310 alone."""


@pytest.mark.exhaustive
def test_the_museum_has_every_file_of_some_product(tmp_path: Path) -> None:
    found: set[str] = set()
    for product in PRODUCTS:
        museum = preset("text-museum")
        chosen = replace(museum, hardware=replace(museum.hardware, product=product))
        chosen = override(chosen, ranks=2 if product in TRAINS else 1, steps=1)
        run = write_run(chosen, 0, tmp_path / product, ("csv",))
        names = {path.name for path in (run.profiles[0] / TEXTS).glob("*.csv")}
        assert all(name.endswith("_20260101170000.csv") for name in names)
        here = {name.removesuffix("_20260101170000.csv") for name in names}
        for name in here:
            file = text_catalog().csv[name]
            assert product in file.families, name
        found |= here
    expected = {
        name
        for name, file in text_catalog().csv.items()
        if "msprof" in file.modules and not set(PRODUCTS).isdisjoint(file.families)
    }
    assert found == expected - OLD_CHIP


def layer_of(events: list[dict[str, Any]]) -> dict[int, str]:
    names = {
        event["pid"]: event["args"]["name"]
        for event in events
        if event["ph"] == "M" and event["name"] == "process_name"
    }
    return {pid: "MsTx" if name == "python" else name for pid, name in names.items()}


def assert_timeline(path: Path, totals: list[dict[str, Any]], left_out: set[str]) -> None:
    """What a plain reader counts in a file is what the truth of its ranks adds up to."""
    events = json.loads(path.read_text(encoding="utf-8"))
    layers = layer_of(events)
    slices = Counter(layers[event["pid"]] for event in events if event["ph"] == "X")
    flows = Counter(event["cat"] for event in events if event["ph"] == "f")
    for found, name in ((slices, "slices"), (flows, "flows")):
        expected: Counter[str] = Counter()
        for one in totals:
            expected.update(one["timeline"][name])
        for key in left_out:
            del expected[key]
        assert found == expected, name
    processes = {name for one in totals for name in one["timeline"]["processes"]}
    assert set(layers.values()) == processes - left_out


FRAMEWORK = {"Python", "Python GC", "async_npu", "async_task_queue", "fwdbwd"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "ranks", "level"),
    some(
        [
            ("text-museum", 2, 0),
            ("text-museum", 2, 1),
            ("950-dense", 2, 2),
            ("edge-310b", 1, 1),
            ("text-museum", 2, 2),
            ("dense-pipeline", 4, 1),
            ("observed-everything", 2, 2),
        ],
        every=9,
    ),
)
def test_timelines_show_what_the_truth_counts(
    name: str, ranks: int, level: int, tmp_path: Path
) -> None:
    scenario = override(preset(name), ranks=ranks, steps=1, level=level)
    run = write_run(scenario, 3, tmp_path / "run", ("timeline", "pytorch-text"))
    truth = json.loads(run.truths[0].read_text())["totals"]
    calls = {"CANN", "HostToDevice"} if level == 0 else set()
    for one in truth:
        (path,) = run.folder.glob(f"*/*_{3_217_657 + one['rank']}_*/{OUTPUT}/trace_view.json")
        assert_timeline(path, [one], calls)
    for one, path in zip(
        truth, sorted(run.folder.glob(f"*/PROF_*/{TEXTS}/msprof_2*")), strict=True
    ):
        assert_timeline(path, [one], FRAMEWORK)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["text-museum", "dense-pipeline"])
def test_step_trace_time_tells_the_truth(name: str, tmp_path: Path) -> None:
    """Within half a microsecond: the adapter adds up doubles of microseconds (7.7)."""
    scenario = override(preset(name), ranks=4 if name == "dense-pipeline" else 2, steps=2)
    run = write_run(scenario, 3, tmp_path / "run", ("pytorch-text",))
    truth = json.loads(run.truths[0].read_text())["totals"]
    for one in truth:
        (path,) = run.folder.glob(f"*_{3_217_657 + one['rank']}_*/{OUTPUT}/step_trace_time.csv")
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(one["steps"])
        for row, step, parts in zip(rows, one["steps"], one["step_trace_time"], strict=True):
            assert int(row["Step"]) == step["step"] == parts["step"]
            told = {
                "Computing": step["computing_ns"],
                "Communication": step["communication_ns"],
                "Communication(Not Overlapped)": step["communication_not_overlapped_ns"],
                "Free": parts["free_ns"],
                "Stage": parts["stage_ns"],
                "Bubble": parts["bubble_ns"],
                "Preparing": parts["preparing_ns"],
            }
            for column, length in told.items():
                assert float(row[column]) == pytest.approx(length / 1000, abs=0.6), column
