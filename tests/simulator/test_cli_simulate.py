"""``ascend-ref simulate`` and ``ascend-ref scenarios`` as a user meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from slices import marked, some

from ascend_ref.cli import main
from ascend_ref.execution import open_executor
from ascend_simulator import simulate, write_run
from ascend_simulator.cli.simulate import FORMATS
from ascend_simulator.run import FORMATS as WRITERS
from ascend_simulator.scenario import ScenarioError, parse, preset, preset_names, to_document
from ascend_simulator.truth import schema as truth_schema

SMALL = """
name: small
model: {layers: 1, hidden: 256, heads: 4, sequence: 64, vocabulary: 512}
parallelism: {ranks: 2, devices_per_process: 2}
schedule: {active: 1, repeat: 2}
faults: [{kind: slow-rank, ranks: [1]}]
"""
COMMAND = [sys.executable, "-m", "ascend_ref"]


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_preset_of_one_operator_is_written_and_conforms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "run"
    assert main(["simulate", "single-op", "-o", str(out)]) == 0
    told, errors = capsys.readouterr()
    assert errors == ""
    profile, truth = map(Path, told.splitlines())
    assert profile.name.endswith("_ascend_pt")
    assert truth == out / "truth.json"
    document = json.loads(truth.read_text(encoding="utf-8"))
    Draft202012Validator(truth_schema()).validate(document)
    assert sorted(out.iterdir()) == sorted([profile, truth])
    assert sorted(out.parent.iterdir()) == [out]
    assert main(["check", str(out), "--fail-on", "note"]) == 0


@pytest.mark.parametrize(
    ("product", "capture", "named"),
    [
        ("200I-500-A2", "{sys_io: 50, sys_interconnection: 50}", ["sys_interconnection"]),
        (
            "310P",
            "{dvpp: 50, sys_io: 50, soc_pmu: true, instr: 1000}",
            ["soc_pmu", "dvpp", "instr"],
        ),
        ("A2", "{dvpp: 50, sys_io: 50, sys_interconnection: 50, soc_pmu: true}", []),
    ],
)
def test_a_switch_that_collects_nothing_on_the_product_is_reported(
    product: str,
    capture: str,
    named: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the product tables of the documents: 200I/500 A2 has none of HCCS, PCIe and SIO."""
    path = tmp_path / "scenario.yaml"
    path.write_text(
        f"name: small\nhardware: {{product: '{product}'}}\ncapture: {capture}\n"
        "model: {kind: single-operator, operator: MatMulV2, shape: [256, 256, 256], "
        "data_type: FLOAT16}\nschedule: {active: 1}\n",
        encoding="utf-8",
    )
    assert main(["simulate", str(path), "-o", str(tmp_path / "run")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"capture.{one}: {product} has no such data" for one in named]
    truth = json.loads((tmp_path / "run" / "truth.json").read_text(encoding="utf-8"))
    assert truth["idle_switches"] == named


def test_what_is_written_is_told_relative_to_the_given_folder(
    document: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(document.parent)
    words = ["simulate", "./small.yaml", "-o", "o", "--as", "msprof-db,pytorch-db"]
    assert main(words) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert all(path.exists() for path in written)
    assert [path.parts[:3] for path in written[:3]] == [
        ("o", "round_0", "msprof-db"),
        ("o", "round_0", "pytorch-db"),
        ("o", "round_0", "pytorch-db"),
    ]
    assert written[-2:] == [Path("o/round_0/truth.json"), Path("o/round_1/truth.json")]


def test_the_options_are_those_of_the_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--ranks", "2", "--steps", "3", "--level", "0", "--seed", "5"]
    assert main(["simulate", "single-op", "-o", str(tmp_path / "o"), *words]) == 0
    truth = json.loads((tmp_path / "o" / "truth.json").read_text(encoding="utf-8"))
    assert (truth["seed"], truth["ranks"], len(truth["totals"][0]["steps"])) == (5, 2, 3)
    assert len(capsys.readouterr().out.splitlines()) == 3
    info = next((tmp_path / "o").rglob("profiler_info_1.json")).read_text(encoding="utf-8")
    assert json.loads(info)["config"]["experimental_config"]["_profiler_level"] == "Level0"


@pytest.mark.parametrize("revision", ["1.0.0-2024-10", "1.2.0-2026-07"])
def test_any_revision_can_be_written(revision: str, tmp_path: Path) -> None:
    words = ["simulate", "single-op", "-o", str(tmp_path / "o"), "--revision", revision]
    assert main(words) == 0
    assert main(["check", str(tmp_path / "o"), "--fail-on", "violation"]) == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["dens-8"],
            "unknown preset 'dens-8'; did you mean dense-8? (see ascend-ref scenarios)",
        ),
        (["./nowhere.yaml"], "nowhere.yaml: No such file or directory"),
        (
            ["dense-8", "--ranks", "7"],
            "dense-8 with --ranks 7: parallelism.ranks is 7; expected a multiple of tensor x "
            "pipeline = 2 x 1 = 2",
        ),
        (
            ["dense-8", "--steps", "1000000000", "--level", "1"],
            "dense-8 with --steps 1000000000 --level 1: schedule.active is 1000000000; expected an "
            "integer from 1 to 1000000 (steps)",
        ),
        (
            ["dense-8", "--level", "4"],
            "dense-8 with --level 4: capture.level is 4; expected one of 0, 1, 2",
        ),
        (
            ["troubled", "--steps", "2"],
            "troubled with --steps 2: faults[2].steps is [2, 3]; expected numbers of captured ",
        ),
        (
            ["dense-8", "--as", "pytorch"],
            "unknown deliverable 'pytorch'; did you mean pytorch-db or pytorch-raw or ",
        ),
        (["dense-8", "--revision", "9"], "unknown revision '9'; known: 1.0.0-2024-10"),
        (["dense-8", "--seed", "-1"], "Invalid value for '--seed'"),
        (
            ["dense-8", "--seed", str(1 << 70)],
            "seed is 1180591620717411303424; expected an integer",
        ),
        (["dense-8", "--dask", "nowhere"], "dask: the address is 'nowhere'; expected one such as"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_written(
    words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *words, "-o", str(tmp_path / "o")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert line in err
    assert list(tmp_path.iterdir()) == []


def test_a_bad_file_is_told_with_its_line(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document.write_text(SMALL.replace("layers: 1", "layers: 0"), encoding="utf-8")
    out = document.parent / "o"
    assert main(["simulate", str(document), "-o", str(out)]) == 2
    expected = f"{document}:3: model.layers is 0; expected an integer from 1 to 1000\n"
    assert capsys.readouterr().err == f"ascend-ref: error: {expected}"
    assert not out.exists()


def test_a_format_that_would_be_empty_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "host.yaml"
    document.write_text("name: host\ncapture: {npu: false}", encoding="utf-8")
    words = [str(document), "-o", str(tmp_path / "o"), "--as", "msprof-db"]
    assert main(["simulate", *words]) == 2
    assert "host: capture.npu is false; expected true for the format msprof-db" in (
        capsys.readouterr().err
    )
    assert list(tmp_path.iterdir()) == [document]


def test_a_folder_that_exists_is_never_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "single-op", "-o", str(tmp_path)]) == 2
    assert f"{tmp_path} exists already" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def dask_address() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.mark.exhaustive
@pytest.mark.parametrize("executor", ["processes", marked("dask", pytest.mark.campaign)])
def test_the_executor_does_not_change_a_byte(
    executor: str, document: Path, request: pytest.FixtureRequest
) -> None:
    scenario = parse(SMALL.replace("devices_per_process: 2", "devices_per_process: 1"))
    folder = document.parent
    write_run(scenario, 1, folder / "plain", FORMATS)
    address = request.getfixturevalue("dask_address") if executor == "dask" else None
    with open_executor(2, address) as chosen:
        write_run(scenario, 1, folder / executor, FORMATS, executor=chosen)
    plain = contents(folder / "plain")
    assert len(plain) > 10
    assert contents(folder / executor) == plain


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("sign", "workers"),
    some(
        [(sign, workers) for workers in "21" for sign in (signal.SIGINT, signal.SIGTERM)],
        every=4,
    ),
)
def test_an_interrupted_run_leaves_nothing_that_looks_complete(
    workers: str, sign: signal.Signals, tmp_path: Path
) -> None:
    words = ["simulate", "moe-64", "-o", str(tmp_path / "run" / "o"), "--workers", workers]
    process = subprocess.Popen(
        [*COMMAND, *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    end = time.monotonic() + 60
    while not list(tmp_path.rglob("*.db")):  # the first rank is being written, or just was
        assert time.monotonic() < end
        time.sleep(0.005)
    os.killpg(process.pid, sign)
    _, errors = process.communicate(timeout=30)
    assert not (tmp_path / "run" / "o").exists()
    told = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
    code, word = told[sign]
    assert (process.returncode, errors) == (code, f"ascend-ref: {word}\n")
    assert list((tmp_path / "run").iterdir()) == []


def test_the_api_gives_the_captures_and_the_truth_that_are_written(document: Path) -> None:
    scenario = parse(SMALL)
    simulation = simulate(scenario, 3)
    run = write_run(scenario, 3, document.parent / "o")
    assert len(simulation.rounds) == len(run.truths) == 2
    for number, path in enumerate(run.truths):
        assert json.loads(path.read_text(encoding="utf-8")) == json.loads(
            json.dumps(simulation.truth(number))
        )
    captures = list(simulation.captures())
    assert [capture.origin.rank for capture in captures] == [0, 1]
    first, second = (simulation.capture(0, number) for number in range(2))
    assert second.origin.start > first.origin.end
    assert second.steps.number[0] == first.steps.number[-1] + 2  # one step warms up


def test_the_api_refuses_what_the_command_refuses() -> None:
    with pytest.raises(ScenarioError, match=r"^seed is -1; expected an integer from 0 to"):
        simulate(preset("single-op"), -1)


def test_progress_counts_the_ranks(document: Path) -> None:
    told: list[tuple[int, int, str]] = []
    scenario = parse(SMALL.replace(", repeat: 2", ""))
    write_run(
        scenario,
        0,
        document.parent / "o",
        progress=lambda done, total, what: told.append((done, total, what)),
    )
    assert told == [(2, 2, "ranks written")]


def test_the_command_offers_the_formats_that_can_be_written() -> None:
    assert set(FORMATS) == set(WRITERS)


def test_presets_are_listed_in_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios"]) == 0
    header, *lines = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert header.split() == ["scenario", "of", "product", "ranks", "steps", "faults", "for"]
    assert sorted(line.split()[0] for line in lines) == preset_names()
    assert main(["scenarios", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["scenario"]: row["ranks"] for row in rows if row["of"] == "run"}["moe-64"] == 64
    assert {"run", "kernel"} == {row["of"] for row in rows}


def test_a_scenario_is_explained_field_by_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "troubled"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert lines["parallelism.ranks"].split()[1:3] == ["8", "Devices"]
    assert lines["parallelism.tensor"].split()[1:3] == ["1", "default"]
    assert lines["faults[0].factor"].split()[1:3] == ["1600", "thousandths"]
    assert "Clock to which the cores fall." in lines["faults[2].frequency"]
    assert "model.experts" not in lines


def test_a_preset_is_printed_to_be_copied(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenarios", "troubled", "--yaml"]) == 0
    assert parse(capsys.readouterr().out) == preset("troubled")
    assert main(["scenarios", str(document), "--yaml"]) == 0
    assert parse(capsys.readouterr().out) == parse(SMALL)
    assert main(["scenarios", "troubled", "--json"]) == 0
    everything = to_document(preset("troubled"), defaults=True)
    assert json.loads(capsys.readouterr().out) == everything


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "--schema"]) == 0
    Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--yaml"], "--yaml prints one scenario; expected its name"),
        (["dense-8", "--schema"], "a schema describes all scenarios; expected no name"),
        (
            ["dense-8", "--yaml", "--json"],
            "--yaml, --json, --schema and --truth-schema exclude each other",
        ),
    ],
)
def test_options_that_do_not_fit_together(
    words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenarios", *words]) == 2
    assert line in capsys.readouterr().err


def test_the_verbs_load_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from ascend_simulator.cli.simulate import simulate\n"
        "from ascend_simulator.cli.scenarios import scenarios\n"
        "heavy = {'numpy', 'pyarrow', 'jsonschema', 'distributed', 'hypothesis'}\n"
        "sys.exit(', '.join(heavy & sys.modules.keys()) or 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
