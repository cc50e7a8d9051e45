"""``diff`` of raw files with what exporters made of them, or of other ones."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from ascend_conformance.difference.diff import diff
from ascend_ref.mindspore.convert.convert import convert
from ascend_ref.profile.raw import export_raw
from ascend_simulator.cli.simulate import simulate


def simulated(folder: Path, form: str) -> Path:
    """The profile that ``simulate single-op`` writes in a form."""
    out = folder / form
    done = CliRunner().invoke(simulate, ["single-op", "--as", form, "-o", str(out)])
    assert done.exit_code == 0, done.output
    return next(one for one in out.iterdir() if one.is_dir())


@pytest.fixture(scope="module")
def prof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(tmp_path_factory.mktemp("prof"), "raw")


@pytest.fixture(scope="module")
def framework(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(tmp_path_factory.mktemp("framework"), "pytorch-raw")


def places(left: Path, right: Path) -> list[str]:
    report = diff(left, right)
    assert [one.unreadable for one in report.files] == [None] * len(report.files)
    return [one.place for one in report.findings]


@pytest.mark.parametrize("kinds", [["db"], ["csv"], ["db", "csv", "timeline"]])
def test_what_was_made_of_raw_files_is_equal(
    kinds: Collection[str], prof: Path, tmp_path: Path
) -> None:
    export_raw(prof, tmp_path / prof.name, kinds, "1.2.0-2025-12")
    assert places(prof, tmp_path) == places(tmp_path, prof) == []


def test_what_was_made_of_files_of_the_framework_is_equal(framework: Path, tmp_path: Path) -> None:
    export_raw(framework, tmp_path / framework.name)
    assert places(framework, tmp_path) == places(tmp_path, framework) == []


def test_what_an_exporter_changed_is_found(prof: Path, tmp_path: Path) -> None:
    made = export_raw(prof, tmp_path / prof.name, ["db"])
    with closing(sqlite3.connect(made.files[0])) as connection, connection:
        connection.execute("UPDATE TASK SET streamId = streamId + 1 WHERE rowid = 2")
    report = diff(prof, tmp_path)
    (found,) = report.findings
    assert (found.place, found.count) == ("TASK.streamId", 1)
    # The sides are named as they were given, not as what was made of them for a while.
    assert {one.file for one in report.files} == {str(made.files[0])}
    (found,) = diff(tmp_path, prof).findings
    assert (found.place, found.file) == ("TASK.streamId", str(prof))


def test_what_cannot_be_read_is_stated(prof: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(prof, tmp_path / "cut" / prof.name))
    (slice_,) = cut.glob("host/data/*api_event*slice_0")
    slice_.write_bytes(slice_.read_bytes()[:-7])
    export_raw(prof, tmp_path / "made" / prof.name, ["db"])
    report = diff(cut, tmp_path / "made")
    assert report.findings
    assert [one for one in report.files[0].skipped if slice_.name.split(".slice")[0] in one.reason]


def test_files_that_show_no_time_are_one_line(prof: Path, tmp_path: Path) -> None:
    timeless = Path(shutil.copytree(prof, tmp_path / "raw" / prof.name))
    for path in [*timeless.rglob("*start*"), *timeless.rglob("end_info*")]:
        path.unlink()
    export_raw(prof, tmp_path / "made" / prof.name, ["db"])
    (found,) = diff(timeless, tmp_path / "made").files
    assert found.unreadable is not None
    assert str(timeless) in found.unreadable
    assert "no start_info" in found.unreadable


@pytest.mark.parametrize("forms", [["db"], ["text"]])
def test_a_job_of_mindspore_and_what_it_was_converted_to_are_equal(
    forms: Collection[str], tmp_path: Path
) -> None:
    job = simulated(tmp_path, "mindspore-raw")
    convert(job, tmp_path / "made", forms)
    assert places(job, tmp_path / "made") == []
