"""Text files of MindSpore are judged by its own forms, wherever they lie and however they are hurt.

The forms are those of mindspore.profiler.analysis.viewer.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from slices import marked, some

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.capture import Switches
from ascend_simulator import write_run
from ascend_simulator.choices import ModelChoice, Parallelism, Scenario, Schedule

SCENARIO = Scenario(
    name="mindspore",
    model=ModelChoice(layers=1, hidden=256, heads=4, sequence=128),
    parallelism=Parallelism(ranks=2),
    schedule=Schedule(active=2),
    capture=Switches(level=1, memory=True),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run") / "run"
    return write_run(SCENARIO, 0, place, ("mindspore-text", "mindspore-db")).profiles[0]


@pytest.fixture
def profile(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / written.name))


def output(profile: Path) -> Path:
    return profile / "ASCEND_PROFILER_OUTPUT"


def rules(*paths: Path) -> set[str]:
    """What is found, but for planes that cross, and rank 1, which is not there."""
    found = {one.rule for one in check(paths).findings if one.erratum != "T100"}
    return found - {"LOS401"}


def test_it_is_clean(profile: Path) -> None:
    """Under another name, too: it is known by the database."""
    profile = profile.rename(profile.with_name("rank0"))
    report = check([profile])
    assert {one.rule for one in report.findings if one.erratum != "T100"} <= {"LOS401"}
    files = (one for one in report.files if one.members)
    (text,) = (one for one in files if "FRAMEWORK" not in one.file)
    names = {Path(one).name for one in text.members}
    judged = {path.name for path in output(profile).iterdir() if path.suffix != ".db"}
    assert names == judged | {"profiler_info_0.json", "profiler_metadata.json"}


@pytest.mark.campaign
def test_a_renamed_folder_is_known_by_its_files(profile: Path) -> None:
    """Without a database, by a sign in a file or in the document above."""
    renamed = profile.rename(profile.with_name("rank0"))
    for path in output(renamed).glob("*.db"):
        path.unlink()
    assert rules(renamed) == set()


@pytest.mark.parametrize(
    "name",
    some(
        ["memory_record.csv", "kernel_details.csv", "step_trace_time.csv", "communication.json"],
        every=2,
    ),
)
def test_a_single_file_is_judged(profile: Path, name: str) -> None:
    assert rules(output(profile) / name) == set()


@pytest.mark.campaign
def test_under_the_name_of_torch_npu_it_is_not_what_that_writes(profile: Path) -> None:
    renamed = profile.rename(profile.with_name(profile.name.replace("_ms", "_pt")))
    assert {"CSV026", "DOC002"} <= rules(renamed)


def in_csv(row: int, column: str, value: str) -> Callable[[Path], None]:
    def carry_out(path: Path) -> None:
        lines = path.read_bytes().decode().split("\n")
        place = lines[0].strip().split(",").index(column)
        cells = lines[row].split(",")
        cells[place] = value
        lines[row] = ",".join(cells)
        path.write_bytes("\n".join(lines).encode())

    return carry_out


def in_json(*keys: str, value: object) -> Callable[[Path], None]:
    def carry_out(path: Path) -> None:
        document = json.loads(path.read_text())
        inner = document
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        path.write_text(json.dumps(document))

    return carry_out


def swapped(old: str, new: str) -> Callable[[Path], None]:
    def carry_out(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return carry_out


DAMAGE: list[tuple[str, Callable[[Path], None], str]] = [
    ("step_trace_time.csv", in_csv(1, "Computing", "1.000"), "XLR304"),
    ("step_trace_time.csv", in_csv(1, "Bubble", "5"), "CSV440"),
    ("step_trace_time.csv", swapped("Preparing", "Prepared"), "CSV011"),
    ("kernel_details.csv", in_csv(1, "Step ID", "2"), "XLR450"),
    ("kernel_details.csv", swapped("PyNativeLaunchTask", "PyNativeNoTask"), "XLR451"),
    ("kernel_details.csv", in_csv(1, "Duration(us)", "77777.000"), "XLR104"),
    ("memory_record.csv", swapped("MindSpore+GE", "PTA+GE"), "CSV026"),
    ("memory_record.csv", in_csv(2, "Total Allocated(MB)", "1.0"), "CSV443"),
    ("operator_memory.csv", in_csv(1, "Active Duration(us)", "1.5"), "CSV446"),
    ("operator_memory.csv", in_csv(1, "Size(KB)", "99999999999.0"), "CSV357"),
    ("operator_details.csv", swapped("Input Shapes", "Input Dims"), "CSV011"),
    ("op_statistic.csv", in_csv(1, "Count", "777"), "XLR202"),
    ("api_statistic.csv", in_csv(1, "Count", "777"), "XLR207"),
    ("communication.json", in_json("step1", "p2p", value=[]), "DOC002"),
    ("communication.json", swapped('"step1"', '"step"'), "DOC002"),
    ("communication_matrix.json", swapped('"op_name"', '"Op Name"'), "DOC002"),
    ("trace_view.json", swapped("mindspore_to_npu", "torch_to_npu"), "TRC224"),
    ("trace_view.json", swapped('"name": "MindSpore"}', '"name": "Mindspore"}'), "TRC430"),
    (
        "../profiler_info_0.json",
        in_json("ms_profiler_info", "rank_id", value="3"),
        "DOC240",
    ),
    (
        "../profiler_info_0.json",
        in_json("profiler_parameters", "aic_metrics", value="ACL_AICORE_NONE"),
        "DOC002",
    ),
    (
        "../profiler_info_0.json",
        in_json("profiler_parameters", "export_type", value=["db"]),
        "DOC260",
    ),
    ("../profiler_info_0.json", in_json("torch_npu_version", value="2.1"), "DOC003"),
    ("../profiler_metadata.json", in_json("parallel_group_info", value=[]), "DOC002"),
]


@pytest.mark.exhaustive
def test_damage_is_found(profile: Path) -> None:
    """In all files at once, where no damage hides another."""
    for name, damage, _ in DAMAGE[::2]:
        damage(output(profile) / name)
    assert {rule for *_, rule in DAMAGE[::2]} <= rules(profile)


@pytest.mark.parametrize(
    ("name", "damage", "rule"),
    [
        marked(one, pytest.mark.exhaustive if at % 24 == 3 else pytest.mark.campaign)
        for at, one in enumerate(DAMAGE)
    ],
)
def test_each_damage_is_found(
    profile: Path, name: str, damage: Callable[[Path], None], rule: str
) -> None:
    """Some of those that are not tried together; the campaign tries all others, too."""
    damage(output(profile) / name)
    assert rule in rules(profile)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("length", "every"),
    [(300, 4), marked((300, 1), pytest.mark.campaign), marked((0, 1), pytest.mark.campaign)],
)
def test_no_file_can_be_cut_unnoticed(profile: Path, length: int, every: int) -> None:
    for path in sorted({*output(profile).iterdir(), *profile.glob("*.json")})[::every]:
        whole = path.read_bytes()
        path.write_bytes(whole[: min(length, len(whole) - 7)])
        report = check([profile])
        assert report.findings or any(one.unreadable for one in report.files), path.name
        path.write_bytes(whole)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("MapOp,Run,5,12.25,\"{'op_id': '1'}\"", set()),
        ("MapOp,Run,0,12.25,{}", {"CSV024"}),
        ("MapOp,Run,5,soon,{}", {"CSV020"}),
    ],
)
def test_calls_of_the_data_pipeline_are_judged(profile: Path, row: str, found: set[str]) -> None:
    titles = "Operation,Stage,Occurrences,Avg. time (us),Custom Info"
    path = output(profile) / "dataset.csv"
    path.write_bytes(f"{titles}\r\n{row}\r\n".encode())
    assert rules(path) == found


@pytest.mark.exhaustive
@pytest.mark.parametrize(("length", "found"), [("inf", {"TRC002"}), ("1.250", set())])
def test_lengths_are_texts_of_numbers(profile: Path, length: str, found: set[str]) -> None:
    path = output(profile) / "trace_view.json"
    events = json.loads(path.read_text())
    calls = [one for one in events if one.get("name") == "process_name"]
    (host,) = (one["pid"] for one in calls if one["args"]["name"] == "CANN")
    new = {"ph": "X", "name": "x", "pid": host, "tid": 9, "ts": "1.000", "dur": length, "args": {}}
    path.write_text(json.dumps([*events, new]))
    assert ("TRC002" in rules(path)) == bool(found)


@pytest.mark.campaign
def test_a_timeline_in_an_object_is_found(profile: Path) -> None:
    path = output(profile) / "trace_view.json"
    path.write_text(json.dumps({"traceEvents": json.loads(path.read_text())}))
    assert rules(profile) == {"TRC432"}


@pytest.mark.exhaustive
def test_releases_are_those_recorded(profile: Path) -> None:
    path = output(profile) / "operator_memory.csv"
    whole = path.read_bytes()
    with path.open(newline="") as file:
        released = [one["Release Time(us)"] for one in csv.DictReader(file)]
    row = next(at for at, one in enumerate(released, 1) if one != "N/A")
    later = str(float(released[row - 1]) + 2)
    for column, value in (("Release Time(us)", later), ("Release Total Reserved(MB)", "99999.0")):
        in_csv(row, column, value)(path)
        (found,) = check([profile], Options(selection=Selection(select=("XLR452",)))).findings
        assert found.rule == "XLR452"
        path.write_bytes(whole)


@pytest.mark.exhaustive
def test_what_msprof_analyses_for_an_adapter_is_no_document_of_it(tmp_path: Path) -> None:
    """msprof's communication.json has operators and no steps; it stays in PROF_*/analyze."""
    alone = replace(SCENARIO, name="other", parallelism=Parallelism(), schedule=Schedule())
    run = write_run(alone, 0, tmp_path / "run", ("pytorch-text",))
    (prof,) = run.profiles[0].glob("PROF_*")
    (prof / "analyze").mkdir()
    (prof / "analyze" / "communication.json").write_text(json.dumps({"hcom_allReduce__1@1": {}}))
    assert rules(run.profiles[0]) == set()
    (prof.parent / "communication.json").write_text('{"a@1": {}}')
    assert "DOC002" in rules(prof.parent / "communication.json")


def test_a_rule_is_judged_alone(profile: Path) -> None:
    """What queries call is there without the rules that compare files."""
    report = check([profile], Options(selection=Selection(select=("TRC229",))))
    assert not report.findings
    assert any(one.rules_run for one in report.files)
