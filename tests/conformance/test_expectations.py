"""``check --expect``: what must be in a recording, and what is said where it is not."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.expect import presets
from ascend_conformance.expect.model import EXPECTATIONS, read_expectation
from ascend_conformance.finding import Finding
from ascend_conformance.media.bin.selftest import PRESETS, clean_file
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.cli import main
from ascend_simulator.documents import ScenarioError

NOTHING_ELSE = Selection(("LOS401",))
TEXT = "../text/pytorch_level1_rank0"


def unmet(path: Path, document: str) -> list[Finding]:
    expectation = EXPECTATIONS.parse(document)
    options = Options(workers=1, selection=NOTHING_ELSE, expectation=expectation)
    return [one for one in check([path], options).findings if one.rule.startswith("EXP")]


def change(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A copy of a real database of one step."""
    copied = tmp_path / "ascend_pytorch_profiler_0.db"
    shutil.copyfile(real("level1_rank0") / copied.name, copied)
    copied.chmod(0o600)
    return copied


@pytest.mark.parametrize("preset", [*presets()])
def test_a_whole_real_database_meets_every_preset(preset: str):
    options = Options(workers=1, selection=NOTHING_ELSE, expectation=read_expectation(preset))
    assert not check([real("level1_rank0")], options).findings


def test_real_text_deliverables_meet_what_they_show():
    document = (
        "{ranks: '0', steps: 1, contents: [shapes, counters, memory, links],"
        " every_step: [kernels, communication, host calls, framework calls],"
        " files: [kernel_details.csv, trace_view.json]}"
    )
    assert unmet(real(TEXT), document) == []


def test_a_real_timeline_alone_has_no_shapes_and_no_memory():
    timeline = next(real(TEXT).rglob("trace_view.json"))
    found = unmet(timeline, "{contents: [shapes, memory], every_step: [kernels]}")
    assert {one.rule for one in found} == {"EXP116", "EXP118"}


@pytest.mark.parametrize("strange", ["'soon'", "1e300", "x'00ff'", "CAST(x'ff' AS TEXT)"])
def test_what_is_no_time_is_passed_over(strange: str, tmp_path: Path):
    """Other rules find it; what the others of its column show is held."""
    arguments = ["simulate", "single-op", "--as", "pytorch-db", "--output", str(tmp_path / "run")]
    assert main(arguments) == 0
    database = next(tmp_path.rglob("ascend_pytorch_profiler_*.db"))
    for table in ("TASK", "CANN_API", "PYTORCH_API"):
        change(
            database,
            f"UPDATE {table} SET startNs = {strange} "
            f"WHERE rowid = (SELECT max(rowid) FROM {table})",
        )
    expectation = EXPECTATIONS.parse("every_step: [kernels, host calls, framework calls]")
    options = Options(workers=1, selection=Selection(("EXP", "REF")), expectation=expectation)
    (report,) = check([database], options).files
    assert [one.message for one in report.findings] == []
    assert report.unreadable is None


def test_a_step_without_kernels_is_named_with_cause_and_stage(database: Path):
    change(database, "DELETE FROM TASK", "DELETE FROM COMPUTE_TASK_INFO")
    (found,) = unmet(database, "every_step: [kernels]")
    assert (found.rule, found.context["lost"]) == ("EXP111", "kernels")
    assert found.context["stage"] == "device"
    assert "likely cause: the device sent no data" in found.message


def test_other_findings_state_their_cause_once(database: Path):
    change(database, "DROP TABLE TASK")
    options = Options(workers=1, expectation=read_expectation("training"))
    found = [one.message for one in check([database], options).findings]
    assert sum("likely cause" in one for one in found) > 1
    assert all(one.count("likely cause") < 2 for one in found)


def test_a_step_in_which_nothing_begins_is_counted(database: Path):
    change(
        database,
        "INSERT INTO STEP_TIME (id, startNs, endNs) SELECT id + 1, endNs + 9000000000,"
        " endNs + 9000000100 FROM STEP_TIME",
    )
    (found,) = unmet(database, "every_step: [kernels]")
    assert "no kernels in 1 of 2 steps, first in number 2 of them" in found.message


def test_ranks_steps_and_files_that_are_absent(database: Path):
    found = unmet(database, "{ranks: '0-3', steps: 4, files: [analysis.db]}")
    assert [(one.rule, one.count) for one in sorted(found, key=lambda one: one.rule)] == [
        ("EXP101", 3),
        ("EXP102", 1),
        ("EXP103", 3),
    ]


def test_every_profile_is_asked(tmp_path: Path):
    """Of two simulated ranks one has lost its host."""
    run = tmp_path / "run"
    assert main(["simulate", "dense-8", "--ranks", "2", "--as", "msprof-db", "-o", str(run)]) == 0
    first, second = sorted(run.rglob("msprof_*.db"))
    change(second, "DELETE FROM CANN_API")
    found = unmet(run, "contents: [host calls, kernels]")
    assert [(one.rule, Path(one.file).parent) for one in found] == [("EXP113", second.parent)]
    assert first.parent != second.parent


def test_a_file_about_one_operator_is_not_asked_for_steps(database: Path):
    operator = database.parent / "operator" / "visualize_data.bin"
    operator.parent.mkdir()
    operator.write_bytes(clean_file(next(iter(PRESETS))))
    assert unmet(database.parent, "{steps: 1, every_step: [kernels]}") == []
    assert {one.rule for one in unmet(operator, "{steps: 1}")} == {"EXP103"}


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ("ranks: 3-1", "e:1: ranks has 3-1; expected ranks that rise"),
        ("contents: [kernel]", "did you mean kernels?"),
        ("every_step: [shapes]", "expected one of kernels, communication"),
        ("files: [../x]", "expected the name of a file"),
        ("step: 3", "did you mean steps?"),
    ],
)
def test_what_cannot_be_expected_is_one_line(document: str, line: str):
    with pytest.raises(ScenarioError) as refused:
        EXPECTATIONS.parse(document, "e")
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_command_refuses_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(tmp_path), "--expect", "no/such.yaml"]) == 2
    assert "no/such.yaml: No such file or directory; expected a YAML" in capsys.readouterr().err
    assert main(["check", str(tmp_path), "--expect", "trainin"]) == 2
    assert "did you mean training?" in capsys.readouterr().err
