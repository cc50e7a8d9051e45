"""``ascend-ref diff A B`` as users call it: exit codes, forms of reports, and ``diff spec``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from recordings import changed, database_of, write_profile

from ascend_conformance.difference.diff import diff
from ascend_ref.cli import main
from ascend_ref.migrate.database import migrate_database
from ascend_spec import catalog


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("command")
    source = database_of(write_profile(base, ["pytorch-db"]))
    return Path(shutil.copy(source, base / source.name))


@pytest.fixture
def copy(profile: Path, tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    return Path(shutil.copy(profile, tmp_path / "b"))


@pytest.mark.exhaustive
def test_the_code_says_whether_they_differ(
    profile: Path, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(profile), str(copy), "-q"]) == 0
    with changed(copy) as connection:
        connection.execute("DELETE FROM NPU_MEM WHERE rowid IN (SELECT rowid FROM NPU_MEM LIMIT 2)")
    assert main(["diff", str(profile), str(copy), "-q"]) == 1
    assert main(["diff", str(profile), str(copy), "-q", "--ignore", "DIF302"]) == 0
    assert main(["diff", str(profile), str(copy), "-q", "--fail-on", "never"]) == 0
    copy.write_bytes(copy.read_bytes()[:30_000])
    capsys.readouterr()
    assert main(["diff", str(profile), str(copy), "-q"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert copy.name in line
    assert len(line) < 600


def test_every_report_names_a_difference(
    profile: Path, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with changed(copy) as connection:
        connection.execute("UPDATE NPU_MEM SET hbm = hbm + 1 WHERE rowid % 3 = 0")
        (count,) = connection.execute("SELECT count(*) FROM NPU_MEM WHERE rowid % 3 = 0").fetchone()
    kinds = ("summary", "text", "json", "jsonl", "junit", "sarif", "github", "markdown", "html")
    reports = [word for one in kinds for word in ("--report", f"{one}={tmp_path / one}")]
    words = ["diff", str(profile), str(copy), "--max-examples", "2", *reports, "--format", "json"]
    assert main(words) == 1
    (finding,) = json.loads(capsys.readouterr().out)["files"][0]["findings"]
    assert (finding["rule"], finding["count"]) == ("DIF301", count)
    assert len(finding["examples"]) == 2
    for kind in kinds:
        written = (tmp_path / kind).read_text(encoding="utf-8")
        assert "DIF301" in written, kind
        assert "NPU_MEM" in written, kind


def test_states_of_the_formats_are_still_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "spec", "1.0.0", "1.0.0", "-q"]) == 0
    assert main(["diff", "spec", "--help"]) == 0
    assert "state A of the formats" in " ".join(capsys.readouterr().out.split())
    assert main(["diff", "--help"]) == 0
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["diff"], ["diff", "."], ["diff", ".", ".", "."]])
def test_two_are_needed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "ascend-ref diff --help" in line


def test_a_database_that_cannot_be_read_is_stated_and_the_other_is_compared(
    profile: Path, tmp_path: Path
) -> None:
    sides = []
    for name in "ab":
        folder = tmp_path / name / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        shutil.copy(profile, folder)
        shutil.copy(profile, folder / "analysis.db")
        sides.append(folder)
    broken = sides[1] / "analysis.db"
    broken.write_bytes(broken.read_bytes()[:30_000])
    with changed(sides[1] / profile.name) as connection:
        connection.execute("DELETE FROM NPU_MEM WHERE rowid = (SELECT max(rowid) FROM NPU_MEM)")
    (file,) = diff(*sides).files
    assert "analysis.db" in str(file.unreadable)
    assert [(one.name, one.place, one.count) for one in file.findings] == [
        ("row-only-in-a", "NPU_MEM", 1)
    ]


# --- revisions ------------------------------------------------------------------------------------


def test_what_another_revision_explains_is_a_note(profile: Path, tmp_path: Path) -> None:
    older = tmp_path / profile.name
    migrate_database(profile, catalog().revision("1.0.0-2025-01"), older)
    for report in (diff(older, profile), diff(profile, older)):
        assert {one.verdict for one in report.findings} == {"note"}
        assert all(one.changes for one in report.findings)
    places = {one.place for one in diff(older, profile).findings}
    assert {"COMPUTE_TASK_INFO.gridDim", "QOS", "META_DATA.value"} <= places
    assert not {"COMPUTE_TASK_INFO.blockNum", "NPU_MODULE_MEM.moduleId"} & places


def test_a_change_of_data_between_revisions_is_a_difference(profile: Path, tmp_path: Path) -> None:
    older = tmp_path / profile.name
    migrate_database(profile, catalog().revision("1.0.0-2025-01"), older)
    with changed(older) as connection:
        connection.execute("UPDATE ENUM_MODULE SET name = 'OTHER' WHERE id = 7")
        connection.execute("UPDATE COMPUTE_TASK_INFO SET blockDim = blockDim + 1 WHERE rowid < 4")
        (count,) = connection.execute(
            "SELECT count(*) FROM COMPUTE_TASK_INFO WHERE rowid < 4"
        ).fetchone()
        connection.execute("ALTER TABLE TASK DROP COLUMN modelId")
    found = {one.place: one.count for one in diff(older, profile).findings if one.verdict != "note"}
    assert found.pop("COMPUTE_TASK_INFO.blockNum") == count > 0
    assert found.pop("TASK.modelId") == 1
    # The name of a member that no revision has: of the enum, and of the rows that refer to it.
    assert found.keys() == {"ENUM_MODULE", "ENUM_MODULE.name", "NPU_MODULE_MEM.moduleId"}
